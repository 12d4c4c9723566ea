// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func configOf(c *brokertest.Cluster) Config {
	return Config{
		ClusterName: c.Name(), NameServers: c.NameServerAddrs(), Proxies: c.ProxyAddrs(),
		Timings: Timings{CallTimeout: 5 * time.Second},
		Connect: func() (Wire, error) { return remoting.NewClient(remoting.Options{}), nil },
	}
}

// leading runs a manager until the test ends, or stop is called.
func leading(t *testing.T, m *Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			NewWithT(t).Eventually(done).WithTimeout(within).Should(Receive(BeNil()))
		})
	}
	t.Cleanup(stop)
	return stop
}

// ours are the goroutines that run code of this package or of the wire's client.
func ours() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var out []string
	for _, g := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(g, "observe.(*Observer)") || strings.Contains(g, "observe.(*lookQueue)") || strings.Contains(g, "lockstep/internal/remoting.(*") {
			out = append(out, g)
		}
	}
	return out
}

func TestK40_ObserversRunOnTheLeaderAndStopWithIt(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	m := NewManager(Options{Clock: c.Clock()})
	g.Expect(m.NeedLeaderElection()).To(BeTrue())
	o, err := m.Ensure(key("shop"), configOf(c))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Cluster(key("shop")).Seq).To(BeZero())
	c.Recorder().RequireNoCalls(t)

	stop := leading(t, m)
	g.Eventually(func() uint64 { return o.Cluster().Seq }).WithTimeout(within).Should(Equal(uint64(1)))
	g.Expect(must(o.Cluster().Brokers["broker-a"].Topics)).NotTo(BeEmpty())
	stop()
	g.Expect(ours()).To(BeEmpty())
	_, err = o.TopicLook(t.Context(), "TOPIC_A", LookOptions{})
	g.Expect(err).To(MatchError(ErrStopped))
}

func TestManager_SweepsOnTimeAndWhenPoked(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	clock := c.Clock().(*clocktesting.FakeClock)
	m := NewManager(Options{Clock: clock})
	o, err := m.Ensure(key("shop"), configOf(c))
	g.Expect(err).NotTo(HaveOccurred())
	leading(t, m)
	seq := func() uint64 { return o.Cluster().Seq }
	sweeps := func(n uint64) {
		t.Helper()
		g.Eventually(seq).WithTimeout(within).Should(Equal(n))
	}
	settled := func() { t.Helper(); g.Eventually(clock.HasWaiters).WithTimeout(within).Should(BeTrue()) }
	sweeps(1)
	for range 5 {
		o.Poke()
	}
	settled()
	g.Consistently(seq, "50ms").Should(Equal(uint64(1)), "pokes wait for the gap")
	clock.Step(pokeGap)
	sweeps(2) // and make one sweep
	settled()
	clock.Step(pokeGap)
	settled()
	clock.Step(DefaultSweep - 2*pokeGap)
	g.Consistently(seq, "50ms").Should(Equal(uint64(2)))
	clock.Step(pokeGap)
	sweeps(3)
}

func TestManager_LongSweepsAreFollowedByRest(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	cfg := configOf(c)
	m := NewManager(Options{Clock: c.Clock()})
	o, err := m.Ensure(key("shop"), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	defer m.Remove(key("shop"))
	for took, rest := range map[time.Duration]time.Duration{
		0: pokeGap, pokeGap / 4: pokeGap, 3 * time.Second: 6 * time.Second, time.Minute: DefaultSweep,
	} {
		g.Expect(o.rest(took)).To(Equal(rest))
	}
}

func TestManager_EnsureReplacesWhatChangedAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	m := NewManager(Options{Clock: c.Clock()})
	in := &inbox{}
	m.Hub().Subscribe(in.add).Watch(key("x"), key("shop"), "TOPIC_A")
	leading(t, m)
	cfg := configOf(c)
	first, err := m.Ensure(key("shop"), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := m.Ensure(key("shop"), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(BeIdenticalTo(first))
	g.Eventually(in.take).WithTimeout(within).Should(Equal([]string{"x"}))

	for _, edit := range []func(*Config){
		func(c *Config) { c.Revision = "2" },
		func(c *Config) { c.NameServers = c.NameServers[:1] },
		func(c *Config) { c.Timings.Sweep = time.Minute },
		func(c *Config) { c.Proxies = []string{"127.0.0.1:1"} },
		func(c *Config) { c.HeartbeatTopic = "OTHER" },
	} {
		before, _ := m.Get(key("shop"))
		edit(&cfg)
		o, err := m.Ensure(key("shop"), cfg)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(o).NotTo(BeIdenticalTo(before))
		_, err = before.TopicLook(t.Context(), "TOPIC_A", LookOptions{})
		g.Expect(err).To(MatchError(ErrStopped))
		g.Eventually(in.take).WithTimeout(within).Should(Equal([]string{"x"}), "subscribers stay")
	}

	broken := cfg
	broken.Revision, broken.Connect = "3", func() (Wire, error) { return nil, errors.New("no such certificate") }
	_, err = m.Ensure(key("shop"), broken)
	g.Expect(err).To(MatchError("no such certificate"))
	o, _ := m.Get(key("shop"))
	g.Expect(o.cfg.Revision).To(Equal("2"), "the one that works stays")

	m.Remove(key("shop"))
	m.Remove(key("shop"))
	_, there := m.Get(key("shop"))
	g.Expect(there).To(BeFalse())
	g.Expect(m.Cluster(key("shop"))).To(BeNil())
	g.Expect(ours()).To(BeEmpty())
}

func TestManager_WhatNeverRanIsClosedToo(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	m := NewManager(Options{Clock: c.Clock()})
	o, err := m.Ensure(key("shop"), configOf(c))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = o.TopicLook(t.Context(), "TOPIC_A", LookOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	m.Remove(key("shop"))
	g.Expect(ours()).To(BeEmpty())
}

// Two clusters with the same topics, brokers and even name never mix.
func TestO21_TwoClustersNeverMix(t *testing.T) {
	g := NewWithT(t)
	one := brokertest.Start(t, brokertest.Options{})
	two := brokertest.Start(t, brokertest.Options{})
	one.CreateTopic("TOPIC_A", 8, 8)
	two.CreateTopic("TOPIC_A", 2, 2)
	m := NewManager(Options{Clock: one.Clock()})
	in := &inbox{}
	s := m.Hub().Subscribe(in.add)
	s.Watch(key("in-one"), key("one"), "TOPIC_A")
	s.Watch(key("in-two"), key("two"), "TOPIC_A")
	a, err := m.Ensure(key("one"), configOf(one))
	g.Expect(err).NotTo(HaveOccurred())
	b, err := m.Ensure(key("two"), configOf(two))
	g.Expect(err).NotTo(HaveOccurred())
	a.sweep(t.Context())
	b.sweep(t.Context())
	in.take()

	g.Expect(must(a.Cluster().Brokers["broker-a"].Topics)["TOPIC_A"].ReadQueues).To(Equal(8))
	g.Expect(must(b.Cluster().Brokers["broker-a"].Topics)["TOPIC_A"].ReadQueues).To(Equal(2))
	g.Expect(m.SamePhysical(key("one"))).To(BeEmpty())
	two.CreateTopic("TOPIC_A", 4, 4)
	a.sweep(t.Context())
	b.sweep(t.Context())
	g.Expect(in.take()).To(Equal([]string{"in-two"}))
}

func TestR19_TwoObjectsForOneRocketMQAreFound(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	m := NewManager(Options{Clock: c.Clock()})
	for _, name := range []string{"b", "a", "c"} {
		_, err := m.Ensure(key(name), configOf(c))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(m.SamePhysical(key("a"))).To(BeEmpty(), "nothing is known yet")
	for _, name := range []string{"a", "b"} {
		o, _ := m.Get(key(name))
		o.sweep(t.Context())
	}
	g.Expect(m.SamePhysical(key("a"))).To(Equal([]ID{key("b")}))
	o, _ := m.Get(key("c"))
	o.sweep(t.Context())
	g.Expect(m.SamePhysical(key("a"))).To(Equal([]ID{key("b"), key("c")}))
	g.Expect(m.SamePhysical(key("nobody"))).To(BeEmpty())
}

// A rotated Secret is used at the next call: nothing is restarted, and what was
// seen before the failure is said to be unknown, not gone.
func TestO30_WrongCredentialsAreNamedAndRecover(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.swept()
	denied := r.Inject(brokertest.Fault{Match: func(c brokertest.Call) bool { return strings.HasPrefix(c.Node, "broker") },
		Do: brokertest.Answer(16, "check signature failed.")})
	r.Recorder().Reset()
	c := r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.AuthFailed}))
	r.g.Expect(sentence(c, snapshot.AuthFailed)).To(And(ContainSubstring("check signature failed"), ContainSubstring("spec.credentials")))
	r.g.Expect(c.Brokers["broker-a"].Topics.IsKnown()).To(BeFalse())
	r.g.Expect(r.Recorder().Count(brokertest.To("broker-a"))).To(Equal(1), "no storm of retries")
	denied.Remove()
	r.g.Expect(r.swept().Problems).To(BeEmpty())
}

func TestO20_AReplacedNameServerIsFoundWithoutARestart(t *testing.T) {
	r := start(t, brokertest.Options{NameServers: 2})
	host := func(addr string) (string, string) {
		h, p, _ := strings.Cut(addr, ":")
		return h, p
	}
	_, port0 := host(r.NameServerAddrs()[0])
	_, port1 := host(r.NameServerAddrs()[1])
	// The name leads to another address each time; 127.0.0.2 is where nobody
	// listens.
	cfg := r.config()
	cfg.NameServers = []string{"mq.example:" + port0, "127.0.0.1:" + port1}
	r.dns["mq.example"] = []string{"127.0.0.2"}
	r.Observer = r.observe(cfg)
	c := r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.NameServerUnreachable}))
	r.g.Expect(sentence(c, snapshot.NameServerUnreachable)).To(ContainSubstring("name server (from mq.example:" + port0 + ") 127.0.0.2:" + port0))

	r.dns["mq.example"] = []string{"127.0.0.1"}
	c = r.swept()
	r.g.Expect(c.Problems).To(BeEmpty())
	r.g.Expect(c.NameServers[0].Address).To(Equal("127.0.0.1:" + port0))
	r.g.Expect(c.NameServers[0].Entry).To(Equal("mq.example:" + port0))

	delete(r.dns, "mq.example")
	c = r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.Unresolvable}))
	r.g.Expect(sentence(c, snapshot.Unresolvable)).To(ContainSubstring("the host name mq.example leads to no address"))
	_, err := r.NameServers(t.Context())
	r.g.Expect(err).To(MatchError(ContainSubstring("mq.example")))
}

func TestO19_APartialAddressListStopsWhoeverWouldWrite(t *testing.T) {
	r := start(t, brokertest.Options{NameServers: 1})
	_, port, _ := strings.Cut(r.NameServerAddrs()[0], ":")
	cfg := r.config()
	cfg.NameServers = []string{"mq.example:" + port}
	r.dns["mq.example"] = []string{"127.0.0.1", "127.0.0.2"}
	r.Observer = r.observe(cfg)
	r.swept()
	r.dns["mq.example"] = []string{"127.0.0.1"}
	c := r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.AddressesMissing}))
	r.g.Expect(c.NameServers).To(HaveLen(2))
	r.g.Expect(c.NameServers[1].Masters.IsKnown()).To(BeFalse())
	r.g.Expect(r.NameServersComplete(t.Context(), []string{"broker-a"})).To(MatchError(ContainSubstring("a moment ago to 2")))
	r.g.Expect(r.look("TOPIC_A", LookOptions{}).Routes["127.0.0.2:"+port].IsKnown()).To(BeFalse())
}
