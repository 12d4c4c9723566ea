// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func forEachVersion(t *testing.T, f func(t *testing.T, v brokertest.Version)) {
	t.Helper()
	for _, v := range brokertest.Versions() {
		t.Run(v.String(), func(t *testing.T) { f(t, v) })
	}
}

func TestSweep_SeesTheWholeCluster(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v, Slaves: 1})
		r.CreateTopic("TOPIC_A", 8, 4)
		c := r.swept()

		r.g.Expect(c.Problems).To(BeEmpty())
		r.g.Expect(c.Seq).To(Equal(uint64(1)))
		r.g.Expect(c.NameServers).To(HaveLen(2))
		for _, ns := range c.NameServers {
			r.g.Expect(must(ns.Masters)).To(HaveLen(2))
			r.g.Expect(must(ns.Topics)).To(HaveKey("TOPIC_A"))
			r.g.Expect(ns.WarmUp).To(BeEmpty())
		}
		r.g.Expect(slices.Sorted(maps.Keys(c.Brokers))).To(Equal([]string{"broker-a", "broker-b"}))
		for name, b := range c.Brokers {
			master := r.Broker(name)
			r.g.Expect(must(b.Master)).To(Equal(master.Addr()))
			r.g.Expect(b.Replicas).To(HaveLen(2))
			r.g.Expect(must(b.Runtime).Version).To(Equal(int(v)))
			r.g.Expect(must(b.Settings).Name).To(Equal(name))
			config := must(b.Topics)["TOPIC_A"]
			r.g.Expect([]int{config.ReadQueues, config.WriteQueues}).To(Equal([]int{8, 4}))
			from := b.Topics.Origin().From
			r.g.Expect(from.Name).To(Equal(name))
			r.g.Expect(from.Booted.UnixMilli()).To(Equal(master.Booted().UnixMilli()))
			r.g.Expect(from.Connection).NotTo(BeZero())
		}
		id, known := r.Identity()
		r.g.Expect(known).To(BeTrue())
		r.g.Expect(id.Masters).To(HaveLen(2))
	})
}

// The cost of a sweep grows with servers, not with topics.
func TestSweep_CallsDoNotGrowWithTopics(t *testing.T) {
	var first map[int]int
	for _, n := range []int{10, 100, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := start(t, brokertest.Options{Proxies: 1})
			s := r.hub.Subscribe(func(Key) {})
			for i := range n {
				topic := fmt.Sprintf("TOPIC_%04d", i)
				r.CreateTopic(topic, 4, 4)
				s.Watch(key(topic), r.id, topic)
			}
			r.swept()
			for range 3 {
				calls := r.calls(func() { r.swept() })
				if first == nil {
					first = calls
				}
				r.g.Expect(calls).To(Equal(first))
			}
			r.g.Expect(first).To(Equal(map[int]int{
				106: 2, 206: 2, 105: 2 * routesPerSweep, // 2 name servers
				26: 2, 28: 2, 21: 2, // 2 brokers
				203: 1, // 1 proxy
			}))
			r.Recorder().RequireNoChangingCalls(t)
		})
	}
}

func TestK40_AQuietSweepWakesNobody(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	in := &inbox{}
	s := r.hub.Subscribe(in.add)
	s.Watch(key("a"), r.id, "TOPIC_A")
	s.Watch(key("b"), r.id, "TOPIC_B")
	r.swept()
	r.g.Expect(in.take()).To(Equal([]string{"a", "b"}), "the first sweep concerns all")
	r.swept() // the first in which routes were checked before
	in.take()
	for range 5 {
		r.Advance(DefaultSweep)
		r.g.Expect(r.Produce("TOPIC_A", "broker-a", 1, 10)).To(Succeed())
		r.swept()
		r.g.Expect(in.take()).To(BeEmpty())
	}

	config, _ := r.Broker("broker-b").Topic("TOPIC_B")
	config.Write = 2
	r.Broker("broker-b").PutTopic(config)
	r.swept()
	r.g.Expect(in.take()).To(Equal([]string{"b"}))

	r.Broker("broker-a").Stop()
	r.swept()
	r.g.Expect(in.take()).To(Equal([]string{"a", "b"}))
}

func TestO33_AnUnreachableBrokerIsNamedByItsAddress(t *testing.T) {
	r := start(t, brokertest.Options{}, patience(quick))
	r.CreateTopic("TOPIC_A", 4, 4)
	r.swept()
	addr := r.Broker("broker-b").Addr()
	r.Broker("broker-b").Hang()
	defer r.Broker("broker-b").Resume()

	c := r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.BrokerUnreachable}))
	r.g.Expect(sentence(c, snapshot.BrokerUnreachable)).To(And(
		ContainSubstring("broker-b advertises "+addr), ContainSubstring("set brokerIP1")))
	b := c.Brokers["broker-b"]
	r.g.Expect(must(b.Master)).To(Equal(addr), "name servers still agree on it")
	r.g.Expect(b.Topics.IsKnown()).To(BeFalse())
	r.g.Expect(b.Topics.Why()).To(ContainSubstring(addr))
	r.g.Expect(b.Settings.IsKnown()).To(BeFalse())
	r.g.Expect(must(c.Brokers["broker-a"].Topics)).To(HaveKey("TOPIC_A"), "one broker takes nothing from the other")
}

// A broker that stopped registering may come back with everything it holds.
func TestSweep_ABrokerThatStoppedRegisteringStaysUnknown(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.swept()
	r.Broker("broker-b").Stop()
	for range 3 {
		r.Advance(DefaultSweep * 5)
		c := r.swept()
		b, there := c.Brokers["broker-b"]
		r.g.Expect(there).To(BeTrue())
		r.g.Expect(b.Master.IsKnown()).To(BeFalse())
		r.g.Expect(b.Topics.Why()).To(ContainSubstring("no name server that answers shows broker-b"))
		r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.BrokerGone}))
	}
	r.ForgetBroker("broker-b")
	r.g.Expect(r.swept().Brokers).NotTo(HaveKey("broker-b"))
	r.Broker("broker-b").Start()
	r.g.Expect(r.swept().Brokers["broker-b"].Topics.IsKnown()).To(BeTrue())
}

// What was known before this process began is not concluded to be gone either.
func TestSweep_KnownBrokersComeFromStatus(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1}, func(c *Config) { c.KnownBrokers = []string{"broker-z"} })
	c := r.swept()
	r.g.Expect(c.Brokers).To(HaveKey("broker-z"))
	r.g.Expect(c.Brokers["broker-z"].Master.IsKnown()).To(BeFalse())
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.BrokerGone}))
}

func TestA15_NameServersThatDisagreeMakeABrokerUnknown(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.swept()
	// ns-1 restarts and hears only broker-a again: it shows another set.
	r.g.Expect(r.NameServer(1).Restart()).To(Succeed())
	r.Broker("broker-b").Stop()
	r.Advance(DefaultSweep)
	r.Broker("broker-b").Start()
	r.NameServer(1).MissRegistrations(true)
	r.g.Expect(r.NameServer(1).Restart()).To(Succeed())

	c := r.swept()
	b := c.Brokers["broker-b"]
	r.g.Expect(b.Master.IsKnown()).To(BeFalse())
	r.g.Expect(b.Master.Why()).To(ContainSubstring("name servers disagree on the master of broker-b"))
	r.g.Expect(b.Master.Why()).To(ContainSubstring("no master (" + r.NameServerAddrs()[1] + ")"))
	r.g.Expect(b.Topics.IsKnown()).To(BeFalse(), "nobody is asked whom name servers disagree on")
	r.g.Expect(troubles(c)).To(ContainElement(snapshot.NameServersDisagree))
}

func TestP02_ABrokerWithoutAMasterIsUnknown(t *testing.T) {
	r := start(t, brokertest.Options{Slaves: 1})
	r.swept()
	r.Broker("broker-b").Stop()
	c := r.swept()
	b := c.Brokers["broker-b"]
	r.g.Expect(b.Replicas).To(HaveKey(int64(1)))
	r.g.Expect(b.Replicas).NotTo(HaveKey(int64(0)))
	r.g.Expect(b.Master.IsKnown()).To(BeFalse())
	r.g.Expect(sentence(c, snapshot.BrokerWithoutMaster)).To(ContainSubstring("broker-b has no master registered"))
}

func TestR03_AnotherBrokerAtTheAddressIsNotBelieved(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 3})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.swept()
	r.Broker("broker-a").Impersonate(r.Broker("broker-c"))
	c := r.swept()
	a := c.Brokers["broker-a"]
	r.g.Expect(a.Settings.IsKnown()).To(BeFalse())
	r.g.Expect(a.Topics.IsKnown()).To(BeFalse())
	r.g.Expect(sentence(c, snapshot.WrongIdentity)).To(ContainSubstring(`"broker-c"`))
}

func TestR03_NameServersThatTheSpecLacksAreNamed(t *testing.T) {
	r := start(t, brokertest.Options{NameServers: 3}, func(c *Config) { c.NameServers = c.NameServers[:2] })
	addrs := r.NameServerAddrs()
	r.dns["mq.example"] = []string{"127.0.0.1"}
	for _, b := range r.BrokerNames() {
		r.Broker(b).SetSetting("namesrvAddr", strings.Join(addrs, ";"))
	}
	c := r.swept()
	r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.NameServerNotDeclared}))
	r.g.Expect(sentence(c, snapshot.NameServerNotDeclared)).To(Equal(
		"broker-a, broker-b registers with name server " + addrs[2] + ", which spec.nameServers lacks: routes there are not seen; add it"))

	// The same two servers by another name are no other servers.
	for _, b := range r.BrokerNames() {
		r.Broker(b).SetSetting("namesrvAddr", strings.Replace(addrs[0], "127.0.0.1", "mq.example", 1)+";"+addrs[1])
	}
	r.g.Expect(r.swept().Problems).To(BeEmpty())
}

func TestO22_AFailedListingIsUnknownAndNotEmpty(t *testing.T) {
	for name, fault := range map[string]brokertest.Effect{
		"half":     brokertest.HalfBody(),
		"empty":    brokertest.NoBody(),
		"refused":  brokertest.Answer(1, "broken"),
		"cut":      brokertest.Cut(),
		"no table": brokertest.Body(func([]byte) []byte { return []byte(`{"dataVersion":{"counter":1,"timestamp":1}}`) }),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, brokertest.Options{})
			r.CreateTopic("TOPIC_A", 4, 4)
			r.Inject(brokertest.Fault{Node: "broker-a", Code: 21, Do: fault})
			r.Inject(brokertest.Fault{Node: "ns-1", Code: 206, Do: fault})
			c := r.swept()
			a := c.Brokers["broker-a"]
			r.g.Expect(a.Topics.IsKnown()).To(BeFalse())
			r.g.Expect(a.Topics.Why()).NotTo(BeEmpty())
			r.g.Expect(a.Settings.IsKnown()).To(BeTrue())
			r.g.Expect(c.NameServers[1].Topics.IsKnown()).To(BeFalse())
			r.g.Expect(c.NameServers[1].WarmUp).To(ContainSubstring("not known which topics it lists"))
			r.g.Expect(c.NameServers[0].WarmUp).To(BeEmpty())
		})
	}
}

func TestO25_WarmUpIsSeenBySweepsAndEndsByItself(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.CreateTopic("TOPIC_B", 4, 4)
		r.g.Expect(r.swept().NameServers[0].WarmUp).To(BeEmpty())

		r.g.Expect(r.NameServer(0).Restart()).To(Succeed())
		c := r.swept()
		r.g.Expect(troubles(c)).To(ContainElement(snapshot.NameServersDisagree), "it knows no broker yet")

		// Somebody writes one topic: a 4.9 name server takes that for all that
		// the broker has.
		config, _ := r.Broker("broker-a").Topic("TOPIC_A")
		config.Write = 2
		r.Broker("broker-a").PutTopic(config)
		c = r.swept()
		if v == brokertest.V497 {
			r.g.Expect(c.NameServers[0].WarmUp).To(ContainSubstring("topics of broker-a, as after a start"))
			r.g.Expect(troubles(c)).To(ContainElement(snapshot.NameServerWarmUp))
			r.g.Expect(r.NameServersComplete(t.Context(), []string{"broker-a"})).To(BeAssignableToTypeOf(&IncompleteError{}))
		}
		r.Advance(DefaultSweep)
		c = r.swept()
		if v == brokertest.V497 {
			// It never heals: nothing changed, so 4.9 takes nothing in. That is
			// said, and must not stop every write for ever.
			r.Advance(warmUpMemory)
			c = r.swept()
			r.g.Expect(troubles(c)).To(Equal([]snapshot.Trouble{snapshot.TopicsUnrouted}))
			r.g.Expect(sentence(c, snapshot.TopicsUnrouted)).To(ContainSubstring("has lacked 1 topics that broker-a holds"))
		} else {
			r.g.Expect(c.Problems).To(BeEmpty())
		}
		r.g.Expect(c.NameServers[0].WarmUp).To(BeEmpty())
		r.g.Expect(r.NameServersComplete(t.Context(), []string{"broker-a", "broker-b"})).To(Succeed())
	})
}

func TestO26_APartialSweepSaysWhatIsMissing(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 3}, patience(quick))
	r.CreateTopic("TOPIC_A", 4, 4)
	r.Broker("broker-b").Hang()
	defer r.Broker("broker-b").Resume()
	c := r.swept()
	known := 0
	for _, b := range c.Brokers {
		if b.Topics.IsKnown() {
			known++
		}
	}
	r.g.Expect(known).To(Equal(2))
	r.g.Expect(c.Problems).To(HaveLen(1))
}
