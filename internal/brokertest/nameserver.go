// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// brokerExpiry is how long a name server keeps a broker that it hears nothing
// of (rocketmq.md 5.6).
const brokerExpiry = 120 * time.Second

// NameServer is one name server. It knows only what brokers registered with it
// since it started.
type NameServer struct {
	*node
	index   int
	up      bool
	deaf    bool
	booted  time.Time
	brokers map[string]*nsBroker
	topics  map[string]map[string]RouteQueues
	live    map[string]*nsLive
	kv      map[string]map[string]string
}

// nsBroker is a broker name as a name server has it.
type nsBroker struct {
	cluster string
	addrs   map[int64]string
}

// nsLive is the last registration that came from an address.
type nsLive struct {
	at      time.Time
	version dataVersion
	broker  string
	id      int64
}

// RouteQueues is one broker's part of a topic's route.
type RouteQueues struct{ Read, Write, Perm, SysFlag int }

func (c *Cluster) addNameServer(i int) error {
	n, err := newNode(c, fmt.Sprintf("ns-%d", i))
	if err != nil {
		return err
	}
	s := &NameServer{node: n, index: i, kv: map[string]map[string]string{}}
	n.self, n.actor = s, s
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ns = append(c.ns, s)
	return s.boot()
}

// boot starts the name server with nothing but its stored key-value table.
func (s *NameServer) boot() error {
	s.brokers = map[string]*nsBroker{}
	s.topics = map[string]map[string]RouteQueues{}
	s.live = map[string]*nsLive{}
	s.booted = s.c.now()
	s.up = true
	return s.listen()
}

// Stop ends the name server's process: connections to it are refused, brokers
// cannot register.
func (s *NameServer) Stop() {
	s.c.enter()
	defer s.c.mu.Unlock()
	s.up = false
	s.shut()
}

// Start starts a stopped name server. It knows no topic and no broker until
// each broker registers again, at most 30 seconds later on the clock (case
// O25).
func (s *NameServer) Start() error {
	s.c.enter()
	defer s.c.mu.Unlock()
	if s.up {
		return fmt.Errorf("%s runs already", s.name)
	}
	return s.boot()
}

// Restart stops and starts the name server.
func (s *NameServer) Restart() error {
	s.Stop()
	return s.Start()
}

// MissRegistrations makes registrations fail to reach this name server, which
// then serves what it had: stale routes. Set it off again and the next periodic
// registration mends them.
func (s *NameServer) MissRegistrations(on bool) {
	s.c.enter()
	defer s.c.mu.Unlock()
	s.deaf = on
}

// SetRoute puts a route entry into this name server only, as a fault; nil
// removes it. It lasts until the broker's configs change.
func (s *NameServer) SetRoute(topic, broker string, q *RouteQueues) {
	s.c.enter()
	defer s.c.mu.Unlock()
	if q == nil {
		s.removeQueues(topic, broker)
		return
	}
	s.putQueues(topic, broker, *q)
}

// Route is the topic's route by broker name as this name server has it.
func (s *NameServer) Route(topic string) map[string]RouteQueues {
	s.c.enter()
	defer s.c.mu.Unlock()
	return maps.Clone(s.topics[topic])
}

// Topics are the topics this name server knows, in alphabetical order.
func (s *NameServer) Topics() []string {
	s.c.enter()
	defer s.c.mu.Unlock()
	return slices.Sorted(maps.Keys(s.topics))
}

// SetKV stores a key-value entry, such as an order configuration in the
// namespace ORDER_TOPIC_CONFIG.
func (s *NameServer) SetKV(namespace, key, value string) {
	s.c.enter()
	defer s.c.mu.Unlock()
	s.putKV(namespace, key, value)
}

func (s *NameServer) putKV(namespace, key, value string) {
	if s.kv[namespace] == nil {
		s.kv[namespace] = map[string]string{}
	}
	s.kv[namespace][key] = value
}

// hears reports whether a registration can reach the name server now.
func (s *NameServer) hears() bool { return s.up && !s.deaf && !s.hung }

// register takes a registration of some or all topics of a broker and returns
// the order configuration that goes back with the answer.
func (s *NameServer) register(b *Broker, table []*TopicConfig) map[string]string {
	v, now := s.c.opts.Version, s.c.now()
	d := s.brokers[b.name]
	if d == nil {
		d = &nsBroker{cluster: b.cluster, addrs: map[int64]string{}}
		s.brokers[b.name] = d
	}
	for id, addr := range d.addrs {
		if addr == b.addr && id != b.id {
			delete(d.addrs, id)
		}
	}
	// 5.x takes no single topic from a replica it does not know; 4.9 takes it
	// for the whole table (case O25).
	if v.five() && d.addrs[b.id] == "" && len(table) == 1 {
		return nil
	}
	first := d.addrs[b.id] == ""
	d.addrs[b.id] = b.addr
	prev := s.live[b.addr]
	changed := first || prev == nil || prev.version != b.topicVersion
	for _, t := range table {
		if b.id != 0 && (!v.five() || b.id != slices.Min(slices.Collect(maps.Keys(d.addrs)))) {
			break // only a master, or on 5.x the first replica left, brings topics
		}
		_, has := s.topics[t.Name][b.name]
		if changed || v.five() && !has {
			s.putQueues(t.Name, b.name, RouteQueues{
				Read: t.Read, Write: t.Write, Perm: t.Perm & b.permission(), SysFlag: t.SysFlag,
			})
		}
	}
	s.live[b.addr] = &nsLive{at: now, version: b.topicVersion, broker: b.name, id: b.id}
	return s.kv[orderNamespace]
}

// orderNamespace holds order configurations by topic (rocketmq.md 3.23).
const orderNamespace = "ORDER_TOPIC_CONFIG"

func (s *NameServer) putQueues(topic, broker string, q RouteQueues) {
	if s.topics[topic] == nil {
		s.topics[topic] = map[string]RouteQueues{}
	}
	s.topics[topic][broker] = q
}

func (s *NameServer) removeQueues(topic, broker string) {
	delete(s.topics[topic], broker)
	if len(s.topics[topic]) == 0 {
		delete(s.topics, topic)
	}
}

// forget drops an address whose connection closed or that was silent too long.
func (s *NameServer) forget(addr string) {
	live := s.live[addr]
	if live == nil {
		return
	}
	delete(s.live, addr)
	d := s.brokers[live.broker]
	if d == nil || d.addrs[live.id] != addr {
		return
	}
	delete(d.addrs, live.id)
	if len(d.addrs) > 0 {
		return
	}
	delete(s.brokers, live.broker)
	for topic := range s.topics {
		s.removeQueues(topic, live.broker)
	}
}

// expire drops brokers that were silent too long.
func (s *NameServer) expire(now time.Time) {
	if !s.up || s.hung {
		return
	}
	for addr, l := range s.live {
		if now.Sub(l.at) > brokerExpiry {
			s.forget(addr)
		}
	}
}
