// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR01_ALookIsOrdered(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.CreateTopic("TOPIC_A", 8, 4)
		r.CreateGroup("CG_A")
		r.g.Expect(r.Produce("TOPIC_A", "broker-a", 1, 10)).To(Succeed())
		r.Commit("CG_A", "TOPIC_A", "broker-a", 1, 4)
		before := r.Cluster.Clock().Now()
		r.Recorder().Reset()
		look := r.look("TOPIC_A", LookOptions{Queues: 8})

		r.g.Expect(look.Started).NotTo(BeTemporally("<", before))
		r.g.Expect(look.Finished).NotTo(BeTemporally("<", look.Started))
		a := look.Brokers["broker-a"]
		r.g.Expect(must(a.Queues)).To(HaveLen(8))
		r.g.Expect(must(a.Queues)[1]).To(Equal(snapshot.QueueOffsets{Min: 0, Max: 10}))
		r.g.Expect(must(a.Committed)["CG_A"]).To(Equal(map[int]int64{1: 4}))
		r.g.Expect(must(a.Config).Config.ReadQueues).To(Equal(8))
		r.g.Expect(must(look.Brokers["broker-b"].Committed)).To(BeEmpty())
		for _, server := range r.NameServerAddrs() {
			r.g.Expect(must(look.Routes[server]).Queues["broker-a"]).To(Equal(snapshot.RouteQueues{Read: 8, Write: 4, Perm: 6}))
			r.g.Expect(must(look.OrderConfig[server])).To(BeEmpty())
		}
		r.g.Expect(look.WarmUp).To(BeEmpty())
		r.g.Expect(look.Foreign).To(BeEmpty())

		// On the broker: who, committed, dispatch, ends, config, groups, who.
		config := 351
		if v == brokertest.V497 {
			config = 21
		}
		order := r.Recorder().Calls(brokertest.To("broker-a"))
		first := func(code int) int {
			return slices.IndexFunc(order, func(c brokertest.Call) bool { return c.Code == code })
		}
		last := func(code int) int {
			at := -1
			for i, c := range order {
				if c.Code == code {
					at = i
				}
			}
			return at
		}
		r.g.Expect(first(26)).To(Equal(0))
		r.g.Expect(first(43)).To(Equal(1))
		r.g.Expect(first(28)).To(Equal(2), "dispatch is asked for after the committed offsets and before the ends")
		r.g.Expect(last(28)).To(Equal(2), "and once: a busy broker takes long over it")
		r.g.Expect(last(config)).To(BeNumerically(">", last(31)))
		r.g.Expect(first(203)).To(BeNumerically(">", last(config)))
		r.g.Expect(last(26)).To(BeNumerically(">", last(203)))
		for _, c := range r.Recorder().Calls(brokertest.WithCode(105), brokertest.WithArg("topic", "TOPIC_A")) {
			r.g.Expect(c.Seq).To(BeNumerically(">", order[last(config)].Seq), "routes come after the brokers")
			r.g.Expect(c.Seq).To(BeNumerically("<", order[first(203)].Seq), "groups come after the routes")
		}
		r.Recorder().RequireNoChangingCalls(t)
	})
}

// Between the committed offsets and the ends a message may slip in: the queue
// then looks unread, never drained.
func TestR01_AMessageThatSlipsInLooksUnread(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateGroup("CG_A")
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 5)).To(Succeed())
	r.Commit("CG_A", "TOPIC_A", "broker-a", 0, 5)
	held := r.Inject(brokertest.Fault{Node: "broker-a", Code: 30, Times: 1, Do: brokertest.Delay(),
		Match: func(c brokertest.Call) bool { return c.Args["topic"] == "TOPIC_A" && c.Args["queueId"] == "0" }})
	done := make(chan snapshot.TopicLook, 1)
	go func() {
		look, _ := r.TopicLook(awaited(t), "TOPIC_A", LookOptions{})
		done <- look
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 1)).To(Succeed())
	r.Commit("CG_A", "TOPIC_A", "broker-a", 0, 6)
	held.Release()
	var look snapshot.TopicLook
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&look))
	b := look.Brokers["broker-a"]
	r.g.Expect(must(b.Committed)["CG_A"][0]).To(Equal(int64(5)))
	r.g.Expect(must(b.Queues)[0].Max).To(Equal(int64(6)))
}

func TestR01_FactsCarryWhenAndWho(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	look := r.look("TOPIC_A", LookOptions{})
	for name, b := range look.Brokers {
		process := b.Config.Origin().From
		r.g.Expect(process.Name).To(Equal(name))
		r.g.Expect(process.Cluster).To(Equal(r.Name()))
		r.g.Expect(process.BrokerID).To(BeZero())
		r.g.Expect(process.Address).To(Equal(r.Broker(name).Addr()))
		for _, o := range []snapshot.Origin{b.Queues.Origin(), b.Committed.Origin(), b.Pending.Origin(), b.Runtime.Origin(), b.Settings.Origin()} {
			r.g.Expect(o.From).To(Equal(process))
			r.g.Expect(o.Sent).NotTo(BeTemporally("<", look.Started))
		}
		r.g.Expect(b.Pending.Origin().Sent).NotTo(BeTemporally(">", b.Queues.Origin().Sent))
	}
	groups := look.Groups
	r.g.Expect(groups.IsKnown()).To(BeTrue())
	r.g.Expect(groups.Origin().Sent).NotTo(BeTemporally("<", look.Started))
}

func TestR01_ABrokerThatRestartsDuringALookIsUnknownInIt(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	held := r.Inject(brokertest.Fault{Node: "ns-0", Code: 105, Times: 1, Do: brokertest.Delay()})
	done := make(chan snapshot.TopicLook, 1)
	go func() {
		look, _ := r.TopicLook(awaited(t), "TOPIC_A", LookOptions{})
		done <- look
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.step(time.Second)
	r.Broker("broker-b").Restart()
	held.Release()
	var look snapshot.TopicLook
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&look))

	b := look.Brokers["broker-b"]
	r.g.Expect(b.Queues.IsKnown()).To(BeFalse())
	r.g.Expect(b.Committed.IsKnown()).To(BeFalse())
	r.g.Expect(b.Config.IsKnown()).To(BeFalse())
	r.g.Expect(b.Pending.IsKnown()).To(BeFalse())
	r.g.Expect(look.Groups.IsKnown()).To(BeFalse(), "a group that only that broker knows would be missed")
	r.g.Expect(look.Brokers["broker-a"].Queues.IsKnown()).To(BeTrue())

	again := r.look("TOPIC_A", LookOptions{})
	r.g.Expect(again.Brokers["broker-b"].Queues.IsKnown()).To(BeTrue())
	r.g.Expect(again.Seq).To(Equal(look.Seq + 1))
}

// A master can become a slave without a restart.
func TestR03_ABrokerThatChangesItsRoleDuringALookIsUnknownInIt(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	held := r.Inject(brokertest.Fault{Node: "ns-0", Code: 105, Times: 1, Do: brokertest.Delay()})
	done := make(chan snapshot.TopicLook, 1)
	go func() {
		look, _ := r.TopicLook(awaited(t), "TOPIC_A", LookOptions{})
		done <- look
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.Broker("broker-b").SetSetting("brokerId", "1")
	held.Release()
	var look snapshot.TopicLook
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&look))
	r.g.Expect(look.Brokers["broker-b"].Config.Why()).To(ContainSubstring("became another broker during the look"))
	r.g.Expect(r.look("TOPIC_A", LookOptions{}).Brokers["broker-b"].Config.Why()).To(ContainSubstring("replica 1"))
}

// Nothing is carried over: what could not be asked in this look is unknown in
// it, however often it was known before.
func TestR01_EachFailureIsUnknownByItself(t *testing.T) {
	type onBroker = snapshot.TopicOnBroker
	for name, tc := range map[string]struct {
		code int
		lost func(onBroker) bool
		kept func(onBroker) bool
	}{
		"committed offsets": {43, func(b onBroker) bool { return b.Committed.IsKnown() || b.Pulled.IsKnown() || b.Pending.IsKnown() },
			func(b onBroker) bool { return b.Queues.IsKnown() && b.Config.IsKnown() }},
		"ends": {30, func(b onBroker) bool { return b.Queues.IsKnown() },
			func(b onBroker) bool { return b.Committed.IsKnown() && b.Config.IsKnown() }},
		"lowest offsets": {31, func(b onBroker) bool { return b.Queues.IsKnown() },
			func(b onBroker) bool { return b.Committed.IsKnown() && b.Config.IsKnown() && b.Pending.IsKnown() }},
		"timers": {61, func(b onBroker) bool { return b.Pending.IsKnown() },
			func(b onBroker) bool { return b.Queues.IsKnown() && b.Committed.IsKnown() }},
		"config": {351, func(b onBroker) bool { return b.Config.IsKnown() || b.Queues.IsKnown() },
			func(b onBroker) bool { return b.Committed.IsKnown() && b.Pending.IsKnown() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, brokertest.Options{})
			r.CreateTopic("TOPIC_A", 4, 4)
			r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 5)).To(Succeed())
			r.g.Expect(tc.kept(r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"])).To(BeTrue())
			r.Inject(brokertest.Fault{Node: "broker-a", Code: tc.code, Do: brokertest.Answer(1, "broken")})
			look := r.look("TOPIC_A", LookOptions{})
			r.g.Expect(tc.lost(look.Brokers["broker-a"])).To(BeFalse())
			r.g.Expect(tc.kept(look.Brokers["broker-a"])).To(BeTrue())
			r.g.Expect(look.Brokers["broker-b"].Queues.IsKnown()).To(BeTrue())
		})
	}
}

func TestR04_DispatchIsReadBeforeTheEnds(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.g.Expect(must(r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"].Runtime).DispatchBehind).To(BeZero())
	r.Broker("broker-a").HoldDispatch(true)
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 3)).To(Succeed())
	b := r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"]
	r.g.Expect(must(b.Runtime).DispatchBehind).To(BeNumerically(">", 0))
	r.g.Expect(must(b.Queues)[0].Max).To(BeZero(), "the end does not show what is not dispatched")
	r.g.Expect(b.Runtime.Origin().Sent).NotTo(BeTemporally(">", b.Queues.Origin().Sent))
	r.Broker("broker-a").HoldDispatch(false)
	b = r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"]
	r.g.Expect(must(b.Runtime).DispatchBehind).To(BeZero())
	r.g.Expect(must(b.Queues)[0].Max).To(Equal(int64(3)))
}

// Retired queues are beyond both counts; they are looked at up to the highest
// count the topic ever had, and no queue is brought into being by looking.
func TestLook_RetiredQueuesAreSeen(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v, Brokers: 1})
		r.CreateTopic("TOPIC_A", 8, 8)
		r.g.Expect(r.Produce("TOPIC_A", "broker-a", 7, 3)).To(Succeed())
		config, _ := r.Broker("broker-a").Topic("TOPIC_A")
		config.Read, config.Write = 4, 4
		r.Broker("broker-a").PutTopic(config)
		r.Broker("broker-a").Expire("TOPIC_A", 7, 2)

		queues := must(r.look("TOPIC_A", LookOptions{Queues: 8}).Brokers["broker-a"].Queues)
		r.g.Expect(queues).To(HaveLen(8))
		r.g.Expect(queues[7]).To(Equal(snapshot.QueueOffsets{Min: 2, Max: 3}))
		r.g.Expect(queues[6]).To(BeZero())
		r.g.Expect(r.Recorder().Count(brokertest.WithCode(31), func(c brokertest.Call) bool { return c.Args["queueId"] != "7" })).To(BeZero())
		r.g.Expect(must(r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"].Queues)).To(HaveLen(4))
	})
}

func TestLook_AbsurdQueueCountsAreNotAskedFor(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: "TOPIC_A", Read: 100_000, Write: 100_000, Perm: 6})
	b := r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"]
	r.g.Expect(b.Queues.Why()).To(ContainSubstring("100000 queues"))
	r.g.Expect(r.Recorder().Count(brokertest.WithCode(30), brokertest.WithArg("topic", "TOPIC_A"))).To(BeZero())
}

func TestLook_ATopicThatGrowsMeanwhileIsNotCovered(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	held := r.Inject(brokertest.Fault{Node: "broker-a", Code: 30, Times: 1, Do: brokertest.Delay(),
		Match: func(c brokertest.Call) bool { return c.Args["topic"] == "TOPIC_A" }})
	done := make(chan snapshot.TopicLook, 1)
	go func() {
		look, _ := r.TopicLook(awaited(t), "TOPIC_A", LookOptions{})
		done <- look
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.CreateTopic("TOPIC_A", 8, 8)
	held.Release()
	var look snapshot.TopicLook
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&look))
	r.g.Expect(look.Brokers["broker-a"].Queues.Why()).To(ContainSubstring("grew to 8 queues while 4 were asked for"))
}

func TestP14_ADeletedTopicIsNotAskedForOffsets(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.g.Expect(r.Produce("TOPIC_A", "broker-a", 0, 5)).To(Succeed())
	for _, b := range r.BrokerNames() {
		r.Broker(b).DropTopic("TOPIC_A")
	}
	r.Recorder().Reset()
	look := r.look("TOPIC_A", LookOptions{Queues: 8})
	for _, b := range look.Brokers {
		r.g.Expect(must(b.Config).Present).To(BeFalse())
		r.g.Expect(must(b.Queues)).To(BeEmpty())
	}
	r.g.Expect(r.Recorder().Count(brokertest.WithCode(30, 31, 202), brokertest.WithArg("topic", "TOPIC_A"))).To(BeZero())
}

func TestP08_MixedVersionsOfOneCluster(t *testing.T) {
	r := start(t, brokertest.Options{Version: brokertest.V550, BrokerVersions: map[string]brokertest.Version{"broker-a": brokertest.V497}})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.Recorder().Reset()
	look := r.look("TOPIC_A", LookOptions{})
	for _, b := range look.Brokers {
		r.g.Expect(must(b.Config).Present).To(BeTrue())
		r.g.Expect(must(b.Queues)).To(HaveLen(4))
		r.g.Expect(must(b.Pending).Zero()).To(BeTrue())
	}
	r.g.Expect(r.Recorder().Calls(brokertest.To("broker-a"), brokertest.WithCode(351))).To(BeEmpty())
	r.g.Expect(r.Recorder().Calls(brokertest.To("broker-b"), brokertest.WithCode(21))).To(BeEmpty())
}

func TestA17_ForeignBrokersInTheRouteAreNamed(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	foreign, err := r.AddForeignBroker("broker-x", "other")
	r.g.Expect(err).NotTo(HaveOccurred())
	foreign.PutTopic(brokertest.TopicConfig{Name: "TOPIC_A", Read: 2, Write: 2, Perm: 6})
	c := r.swept()
	r.g.Expect(c.Brokers).NotTo(HaveKey("broker-x"))
	r.Recorder().Reset()
	look := r.look("TOPIC_A", LookOptions{})
	r.g.Expect(look.Foreign).To(Equal([]string{"broker-x"}))
	r.g.Expect(look.Brokers).NotTo(HaveKey("broker-x"))
	r.g.Expect(r.Recorder().Count(brokertest.To("broker-x"))).To(BeZero())
}

func TestO25_ALookSeesANameServerThatStartedSinceTheSweep(t *testing.T) {
	r := start(t, brokertest.Options{Version: brokertest.V497})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	r.swept()
	r.g.Expect(r.look("TOPIC_A", LookOptions{}).WarmUp).To(BeEmpty())
	r.g.Expect(r.NameServer(1).Restart()).To(Succeed())
	config, _ := r.Broker("broker-a").Topic("TOPIC_A")
	r.Broker("broker-a").PutTopic(config)
	look := r.look("TOPIC_A", LookOptions{})
	r.g.Expect(look.WarmUp).To(HaveKeyWithValue(r.NameServerAddrs()[1], ContainSubstring("does not have the topics of broker-a yet")))
	r.g.Expect(look.WarmUp).NotTo(HaveKey(r.NameServerAddrs()[0]))
}
