// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// TB is the part of testing.TB that this package needs; *rapid.T has it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Cluster is a running RocketMQ. Its methods may be called from any goroutine.
type Cluster struct {
	opts  Options
	clock clock.Clock
	done  chan struct{} // closed by Stop

	mu       sync.Mutex
	stopped  bool
	ns       []*NameServer
	brokers  []*Broker // masters and slaves
	proxies  []*Proxy
	rec      Recorder
	faults   []*Injected
	watched  map[string]bool
	history  []Change
	violated []string
	ledger   []*Message
	members  []*Member
	grpc     []*GRPCMember
	inflight []*Popped
	virtual  time.Time // the moment being settled, if any
	nextID   int64     // of messages
	nextPort int       // of members' made-up addresses
}

// Start builds a cluster and stops it when the test ends.
func Start(t TB, o Options) *Cluster {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatalf("brokertest: %v", err)
		return nil
	}
	t.Cleanup(c.Stop)
	return c
}

// New builds a cluster that the caller must Stop.
func New(o Options) (*Cluster, error) {
	o.complete()
	if o.Proxies > 0 && !o.Version.five() {
		return nil, errors.New("proxies exist from 5.0 on")
	}
	c := &Cluster{
		opts: o, clock: o.Clock, done: make(chan struct{}),
		watched: map[string]bool{}, nextPort: 40000,
	}
	c.rec.c = c
	if err := c.build(); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) build() error {
	for i := range c.opts.NameServers {
		if err := c.addNameServer(i); err != nil {
			return err
		}
	}
	for i := range c.opts.Brokers {
		if _, err := c.addBroker("broker-"+string(rune('a'+i)), c.opts.ClusterName); err != nil {
			return err
		}
	}
	for i := range c.opts.Proxies {
		if err := c.addProxy(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) addBroker(name, cluster string) (*Broker, error) {
	var master *Broker
	for id := range int64(c.opts.Slaves) + 1 {
		b, err := newBroker(c, name, cluster, id)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.brokers = append(c.brokers, b)
		b.boot()
		c.mu.Unlock()
		if id == 0 {
			master = b
		}
	}
	return master, nil
}

// AddBroker adds a broker name to the running cluster, with slaves as the
// others have.
func (c *Cluster) AddBroker(name string) (*Broker, error) {
	return c.addBroker(name, c.opts.ClusterName)
}

// AddForeignBroker adds a broker of another RocketMQ cluster that registers
// with the same name servers (case A17).
func (c *Cluster) AddForeignBroker(name, cluster string) (*Broker, error) {
	return c.addBroker(name, cluster)
}

// Stop closes every port and connection and waits until nothing of the cluster
// runs. It may be called more than once.
func (c *Cluster) Stop() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	c.stopped = true
	close(c.done)
	nodes, proxies := c.nodes(), c.proxies
	c.mu.Unlock()
	for _, n := range nodes {
		n.close()
	}
	for _, p := range proxies {
		p.grpc.close()
	}
}

// nodes lists every node. The caller holds mu.
func (c *Cluster) nodes() []*node {
	var all []*node
	for _, s := range c.ns {
		all = append(all, s.node)
	}
	for _, b := range c.brokers {
		all = append(all, b.node)
	}
	for _, p := range c.proxies {
		all = append(all, p.node)
	}
	return all
}

// enter locks the cluster and lets everything happen that is due by now.
func (c *Cluster) enter() {
	c.mu.Lock()
	c.settle()
}

// now is the moment of what is happening: while things that were due are made
// up for, the moment at which each was due.
func (c *Cluster) now() time.Time {
	if !c.virtual.IsZero() {
		return c.virtual
	}
	return c.clock.Now()
}

// Name is the RocketMQ cluster name.
func (c *Cluster) Name() string { return c.opts.ClusterName }

// Clock is the clock the cluster runs on.
func (c *Cluster) Clock() clock.Clock { return c.clock }

// stepper is a clock that can be moved, such as clock/testing.FakeClock.
type stepper interface{ Step(time.Duration) }

// Advance moves a fake clock and lets everything happen that became due:
// registrations, late deliveries, expiry of members.
func (c *Cluster) Advance(d time.Duration) {
	s, ok := c.clock.(stepper)
	if !ok {
		panic("brokertest: Advance needs a clock that can be moved")
	}
	s.Step(d)
	c.enter()
	c.mu.Unlock()
}

// NameServer is the i-th name server, counted from 0.
func (c *Cluster) NameServer(i int) *NameServer { return c.ns[i] }

// Proxy is the i-th proxy, counted from 0.
func (c *Cluster) Proxy(i int) *Proxy { return c.proxies[i] }

// NameServerAddrs are the addresses of all name servers.
func (c *Cluster) NameServerAddrs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	addrs := make([]string, 0, len(c.ns))
	for _, s := range c.ns {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// ProxyAddrs are the remoting addresses of all proxies.
func (c *Cluster) ProxyAddrs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	addrs := make([]string, 0, len(c.proxies))
	for _, p := range c.proxies {
		addrs = append(addrs, p.Addr())
	}
	return addrs
}

// Broker is the master of a broker name. It panics on a name that does not
// exist, for that is a mistake in the test.
func (c *Cluster) Broker(name string) *Broker { return c.Replica(name, 0) }

// Replica is one replica of a broker name; id 0 is the master.
func (c *Cluster) Replica(name string, id int64) *Broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.replica(name, id)
	if b == nil {
		panic(fmt.Sprintf("brokertest: no broker %s with id %d", name, id))
	}
	return b
}

func (c *Cluster) replica(name string, id int64) *Broker {
	for _, b := range c.brokers {
		if b.name == name && b.id == id {
			return b
		}
	}
	return nil
}

// BrokerNames are the broker names in alphabetical order.
func (c *Cluster) BrokerNames() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]bool{}
	for _, b := range c.brokers {
		names[b.name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// masters lists the masters of the cluster itself, in the order in which they
// were added. The caller holds mu.
func (c *Cluster) masters() []*Broker {
	var m []*Broker
	for _, b := range c.brokers {
		if b.id == 0 && b.cluster == c.opts.ClusterName {
			m = append(m, b)
		}
	}
	return m
}
