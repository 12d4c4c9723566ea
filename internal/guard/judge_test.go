// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"math"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// expect is one row of a table: a change and what becomes of it.
type expect struct {
	name           string
	current, asked int64
	outcome        Outcome
	reason         Reason
	passed         int64
}

func (e expect) check(t *testing.T, groups ...Group) {
	t.Helper()
	t.Run(e.name, func(t *testing.T) {
		g := NewWithT(t)
		v := Judge(scale(e.current, e.asked, groups...))
		g.Expect(v.Outcome).To(Equal(e.outcome), v.Sentence)
		g.Expect(v.Reason).To(Equal(e.reason), v.Sentence)
		g.Expect(v.Passed).To(Equal(e.passed))
		g.Expect([]int64{v.Current, v.Asked}).To(Equal([]int64{e.current, e.asked}))
	})
}

// TestA01_PastTheQueues: four queues feed four members, whatever their number.
func TestA01_PastTheQueues(t *testing.T) {
	g := group(classic(4), topic("TOPIC_SHOP_ORDER", 2, 2))
	for _, e := range []expect{
		{"4 to 6 is refused", 4, 6, Refused, PastMaximum, 4},
		{"3 to 6 is lowered to the cap", 3, 6, Refused, PastMaximum, 4},
		{"3 to 4 is the cap itself", 3, 4, Allowed, WithinMaximum, 4},
		{"9 to 6 comes down", 9, 6, Allowed, NoIncrease, 6},
		{"9 to 10 goes further up", 9, 10, Refused, PastMaximum, 9},
		{"4 to 5 is one too many", 4, 5, Refused, PastMaximum, 4},
	} {
		e.check(t, g)
	}
	v := Judge(scale(4, 6, g))
	o := NewWithT(t)
	o.Expect(v.Sentence).To(Equal("6 replicas asked, 4 can work: group CG_SHOP_POINTS reads TOPIC_SHOP_ORDER with 4 queues (broker-a 2, broker-b 2) " +
		"and its members take whole queues (classic remoting clients), so a pod more would get none; " +
		`raise it to 6: kubectl patch topics.rocketmq.lockstep.dev orders -n shop --type=merge -p '{"spec":{"queues":{"perBroker":3}}}'; ` +
		"or use a gRPC client, whose members share single messages; or let the pods there are do more: fewer threads that wait for something downstream; " +
		"or set spec.scaling.idleReplicas of ConsumerGroup points for pods that are idle on purpose; " +
		"another allocation strategy or a higher maximum of an autoscaler does not help: a queue has one owner"))
	o.Expect(v.Short).To(Equal("6 replicas asked, 4 can work: group CG_SHOP_POINTS reads TOPIC_SHOP_ORDER with 4 queues (broker-a 2, broker-b 2); set queues.perBroker of Topic orders to 3"))
	o.Expect(v.Maximum.Topics).To(Equal([]allocation.TopicQueues{{Topic: "TOPIC_SHOP_ORDER", Brokers: []allocation.BrokerQueues{{Broker: "broker-a", Queues: 2}, {Broker: "broker-b", Queues: 2}}}}))
	down := Judge(scale(9, 6, g))
	o.Expect(down.Short).To(BeEmpty())
	o.Expect(down.Warns()).To(BeFalse())
	o.Expect(down.Notes).To(ContainElement("2 of 6 replicas are still above the maximum"))
}

// TestA02_TheExactPatch: what is offered is what lets the asked count work.
func TestA02_TheExactPatch(t *testing.T) {
	patch := func(n string) string {
		return `kubectl patch topics.rocketmq.lockstep.dev orders -n shop --type=merge -p '{"spec":{"queues":{"perBroker":` + n + `}}}'`
	}
	ten := topic("TOPIC_SHOP_ORDER", 10)
	foreign := topic("TOPIC_SHOP_ORDER", 4, 4, 6)
	foreign.Object.Brokers = foreign.Object.Brokers[:2]
	shrinking := topic("TOPIC_SHOP_ORDER", 8, 2)
	unmanaged := topic("TOPIC_SHOP_ORDER", 4)
	unmanaged.Object = nil
	elsewhere := topic("TOPIC_SHOP_ORDER", 4)
	elsewhere.Object.Brokers = []string{"broker-z"}
	twoPerPod := group(classic(4), topic("TOPIC_SHOP_ORDER", 2, 2))
	twoPerPod.MembersPerPod = 2
	shared := group(classic(4), topic("TOPIC_SHOP_ORDER", 4))
	shared.Others = []Other{other("more", 3, 1)}
	ordered := group(classic(4), topic("TOPIC_SHOP_ORDER", 4))
	ordered.Ordered = true
	hash := group(nil, topic("A", 4), topic("B", 4))
	hash.Strategy = allocation.ConsistentHash{VirtualNodes: 10}
	for _, c := range []struct {
		name  string
		asked int64
		group Group
		want  string
	}{
		{"a peak", 20, group(classic(10), ten), "raise it to 20: " + patch("20")},
		{"what the brokers share evenly is reached", 11, group(nil, topic("TOPIC_SHOP_ORDER", 5, 5)), "raise it to 12: " + patch("6")},
		{"queues of foreign brokers count and are not touched", 20, group(nil, foreign), "raise it to 20: " + patch("7")},
		{"queues that retire still count", 11, group(nil, shrinking), "raise it to 11: " + patch("3")},
		{"two members in each pod", 3, twoPerPod, "raise it to 3: " + patch("3")},
		{"what others take is added", 3, shared, "raise it to 3: " + patch("6")},
		{"keys of ordered messages move", 5, ordered, "raise it to 5: " + patch("5") + " (message keys then move between queues: see spec.resize.orderChange)"},
		{"by hash the sum counts", 12, hash, "raise it to 12: " + patch("8")},
		{"the largest that a Topic can set", 1024, group(nil, ten), "raise it to 1,024: " + patch("1024")},
		{"more than a Topic can set", 1025, group(nil, ten), "1,025 work with 1,025 queues, more than Topic shop/orders can set on its brokers"},
		{"the Topic is elsewhere", 9, group(nil, elsewhere), "9 work with 9 queues, and no broker of Topic shop/orders is one that the members read"},
		{"no Topic object", 5, group(nil, unmanaged), "5 work with 5 queues in TOPIC_SHOP_ORDER, which no Topic object declares"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			v := Judge(scale(0, c.asked, c.group))
			g.Expect(v.Outcome).To(Equal(Refused))
			g.Expect(v.Helps[0]).To(Equal(c.want))
		})
	}
}

func TestA03_UnevenSharesAreANote(t *testing.T) {
	g := NewWithT(t)
	var topics []Topic
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		topics = append(topics, topic(name, 5))
	}
	v := Judge(scale(1, 2, group(classic(1), topics...)))
	g.Expect(v.Outcome).To(Equal(Allowed))
	g.Expect(v.Short).To(BeEmpty(), "it is no fault")
	g.Expect(v.Notes).To(ConsistOf("group CG_SHOP_POINTS: with 2 members the busiest gets 18 queues and the least busy 12; these numbers of members share evenly: 1, 5"))
	g.Expect(Judge(scale(1, 5, group(classic(1), topics...))).Notes).To(BeEmpty())
	g.Expect(Judge(scale(1, 6, group(classic(1), topics...))).Notes).To(BeEmpty(), "past the maximum, that is what is said")
}

// TestA05_TwoConnectionsWithOneID: they share as one, which more pods do not mend.
func TestA05_TwoConnectionsWithOneID(t *testing.T) {
	g := NewWithT(t)
	members := classic(2)
	members[0].ClientID, members[1].ClientID = "172.17.0.1@1", "172.17.0.1@1"
	v := Judge(scale(2, 4, group(members, topic("T", 4))))
	g.Expect(v.Outcome).To(Equal(Allowed))
	g.Expect(v.Notes).To(ContainElement("group CG_SHOP_POINTS: client id 172.17.0.1@1 is in use at 2 addresses: these take the same queues, so more pods do not help until each has an id of its own"))
	members[1].Address = members[0].Address
	g.Expect(Judge(scale(2, 4, group(members, topic("T", 4)))).Notes).To(BeEmpty(), "two brokers list one connection")
	var many []Member
	for range 2 {
		many = append(many, classic(20)...)
	}
	for i := range 20 {
		many[i].Address = "other"
	}
	notes := Judge(scale(1, 4, group(many, topic("T", 4)))).Notes
	g.Expect(notes).To(HaveLen(MaxOdd + 1))
	g.Expect(notes[MaxOdd]).To(Equal("group CG_SHOP_POINTS: 12 more client ids are in use twice"))
}

// TestA14_SplitMembershipIsUnknown and TestA15: verdicts that need the whole are
// Unknown, and refuse nothing.
func TestA14_SplitMembershipIsUnknown(t *testing.T) {
	g := group(nil, topic("T", 4))
	g.Members = unknown[[]Member]("broker-a lists 3 members, broker-b 2")
	expect{"split", 4, 40, AllowedUnknown, MaximumUnknown, 40}.check(t, g)
	NewWithT(t).Expect(Judge(scale(4, 40, g)).Short).To(Equal("Lockstep cannot tell how many replicas of Deployment.apps points can work (group CG_SHOP_POINTS: its members are not known: broker-a lists 3 members, broker-b 2); not judged"))
}

func TestA15_NameServersDiffer(t *testing.T) {
	x := topic("T", 4)
	x.Brokers = unknown[[]Broker]("ns-1 shows broker-b, ns-2 shows broker-c")
	g := group(classic(4), topic("S", 2), x)
	expect{"split", 4, 40, AllowedUnknown, MaximumUnknown, 40}.check(t, g)
	NewWithT(t).Expect(MaximumOf(scale(4, 40, g)).Sentence).To(Equal("how many can work is not known (group CG_SHOP_POINTS: the route of T is not known: ns-1 shows broker-b, ns-2 shows broker-c); not judged"))
}

func TestA17_ForeignBrokersOfTheRouteCount(t *testing.T) {
	x := topic("T", 4, 4)
	x.Object.Brokers = []string{"broker-a"}
	for _, e := range []expect{
		{"both", 4, 8, Allowed, WithinMaximum, 8},
		{"more", 4, 9, Refused, PastMaximum, 8},
	} {
		e.check(t, group(classic(4), x))
	}
}

func TestA20_BacklogInOneQueue(t *testing.T) {
	g := NewWithT(t)
	x := topic("T", 8)
	x.Backlog = known([]int64{0, 0, 0, 47_900, 0, 0, 0, 0})
	v := Judge(scale(4, 8, group(classic(4), x)))
	g.Expect(v.Outcome).To(Equal(Allowed), "it is not wrong, it does not help")
	g.Expect(v.Notes).To(ContainElement("group CG_SHOP_POINTS: the whole backlog of T lies in 1 of its 8 queues, so not more than 1 member can work on it: more pods do not help; other message keys, or a client that shares single messages, do"))
	g.Expect(Judge(scale(8, 4, group(classic(4), x))).Notes).To(BeEmpty(), "coming down is nothing to comment on")
	for _, even := range [][]int64{{1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}} {
		x.Backlog = known(even)
		g.Expect(Judge(scale(4, 8, group(classic(4), x))).Notes).To(BeEmpty())
	}
}

// TestA28_RequestModeAloneProvesNothing: only members that pop, on brokers that all
// let them, lift the cap.
func TestA28_RequestModeAloneProvesNothing(t *testing.T) {
	silent := popping(3)
	silent[1].Pops = unknown[bool]("did not answer call 307 within 10s")
	oneClassic := append(popping(2), classic(1)...)
	modeUnknown := topic("T", 2, 2)
	brokers, _ := modeUnknown.Brokers.Get()
	brokers[0].Pop, brokers[1].Pop = known(true), unknown[bool]("broker-b did not answer call 402")
	for _, c := range []struct {
		expect
		group Group
	}{
		{expect{"mode POP and members that pop", 4, 400, Allowed, NoMaximum, 400}, group(popping(3), inMode(topic("T", 2, 2), true, true))},
		{expect{"mode POP and members that pull", 4, 6, Refused, PastMaximum, 4}, group(classic(3), inMode(topic("T", 2, 2), true, true))},
		{expect{"mode PULL on one broker", 4, 6, Refused, PastMaximum, 4}, group(popping(3), inMode(topic("T", 2, 2), true, false))},
		{expect{"mode PULL on one topic", 4, 6, Refused, PastMaximum, 4}, group(popping(3), inMode(topic("T", 2, 2), true, true), topic("S", 1))},
		{expect{"one member pulls", 4, 6, Refused, PastMaximum, 4}, group(oneClassic, inMode(topic("T", 2, 2), true, true))},
		{expect{"mode POP and nobody there", 4, 6, Refused, PastMaximum, 4}, group(nil, inMode(topic("T", 2, 2), true, true))},
		{expect{"one member is silent", 4, 6, AllowedUnknown, MaximumUnknown, 6}, group(silent, inMode(topic("T", 2, 2), true, true))},
		{expect{"a silent member cannot pop by mode PULL", 4, 6, Refused, PastMaximum, 4}, group(silent, topic("T", 2, 2))},
		{expect{"one mode is not known", 4, 6, AllowedUnknown, MaximumUnknown, 6}, group(popping(3), modeUnknown)},
		{expect{"members that pull need no mode", 4, 6, Refused, PastMaximum, 4}, group(classic(3), modeUnknown)},
	} {
		c.check(t, c.group)
	}
}

// TestA29_ObservationOverrulesDownward: what members speak beats what is declared,
// and the lower of both holds.
func TestA29_ObservationOverrulesDownward(t *testing.T) {
	mixed := append(grpc(3), classic(2)...)
	for _, c := range []struct {
		expect
		declared ClientProtocol
		members  []Member
		who      string
	}{
		{expect{"declared GRPC, all speak it", 4, 60, Allowed, NoMaximum, 60}, GRPC, grpc(3), ""},
		{expect{"declared GRPC, all are classic", 4, 6, Refused, PastMaximum, 4}, GRPC, classic(4), "it is declared GRPC, but all 4 members take whole queues by remoting, such as 10.0.0.1@1#0"},
		{expect{"declared GRPC, one is classic", 4, 6, Refused, PastMaximum, 4}, GRPC, append(grpc(3), classic(1)...), "it is declared GRPC, but 1 of 4 members takes whole queues by remoting, such as 10.0.0.1@1#0"},
		{expect{"declared GRPC, the only one is classic", 4, 6, Refused, PastMaximum, 4}, GRPC, classic(1), "it is declared GRPC, but its only member takes whole queues by remoting"},
		{expect{"declared Remoting, some speak gRPC", 4, 6, Refused, PastMaximum, 4}, Remoting, mixed, "2 of 5 members take whole queues (classic remoting clients), such as 10.0.0.1@1#0"},
		{expect{"declared Remoting, all speak gRPC", 4, 6, Refused, PastMaximum, 4}, Remoting, grpc(3), "declare clientProtocol GRPC, if that is meant: all 3 members speak gRPC"},
		{expect{"not declared, all speak gRPC", 4, 6, Allowed, NoMaximum, 6}, "", grpc(3), ""},
		{expect{"not declared, all are classic", 4, 6, Refused, PastMaximum, 4}, "", classic(3), "its members take whole queues"},
		{expect{"declared GRPC, nobody there", 0, 6, Allowed, NoMaximum, 6}, GRPC, nil, ""},
		{expect{"declared Remoting, nobody there", 0, 6, Refused, PastMaximum, 4}, Remoting, nil, "the remoting clients that it declares take whole queues"},
		{expect{"nothing declared, nobody there", 0, 6, AllowedUnknown, MaximumUnknown, 6}, "", nil, "no member is connected and the manifest does not declare clientProtocol"},
	} {
		g := group(c.members, topic("T", 2, 2))
		g.Protocol = c.declared
		c.check(t, g)
		NewWithT(t).Expect(Judge(scale(c.current, c.asked, g)).Sentence).To(ContainSubstring(c.who))
	}
	g := group(grpc(3), topic("T", 2, 2))
	v := Judge(scale(4, 6, g))
	NewWithT(t).Expect(v.Helps[0]).To(HavePrefix("declare clientProtocol GRPC"))
	NewWithT(t).Expect(v.Short).To(HaveSuffix("; declare clientProtocol GRPC, if that is what members speak"))
}

// TestO13_OnlyIncreasesAreJudged: a self-heal that sets the count back passes, from
// whatever number and whatever is known.
func TestO13_OnlyIncreasesAreJudged(t *testing.T) {
	lost := group(nil, topic("T", 4))
	lost.Members = unknown[[]Member]("broker-b unreachable since 14:01")
	for _, g := range []Group{group(classic(4), topic("T", 4)), lost} {
		for _, e := range []expect{
			{"6 to 2", 6, 2, Allowed, NoIncrease, 2},
			{"12 to 6", 12, 6, Allowed, NoIncrease, 6},
			{"6 to 6", 6, 6, Allowed, NoIncrease, 6},
		} {
			e.check(t, g)
		}
	}
}

// TestO17_UnknownIsAllowedWithAWarning: only positive knowledge refuses.
func TestO17_UnknownIsAllowedWithAWarning(t *testing.T) {
	brokerLost := topic("T", 4, 4)
	brokers, _ := brokerLost.Brokers.Get()
	brokers[1].Queues = unknown[int64]("broker-b unreachable since 14:01")
	noModel := classic(2)
	noModel[1].Broadcast = unknown[bool]("did not answer")
	noOrder := grpc(2)
	noOrder[0].FIFO = unknown[bool]("no heartbeat was read")
	unordered := group(noOrder, topic("T", 4))
	unordered.Protocol, unordered.Orderly = GRPC, unknown[bool]("call 201 failed")
	absent := group(nil, topic("T", 4))
	absent.Protocol, absent.Orderly = GRPC, unknown[bool]("call 201 failed")
	sharer := group(classic(4), topic("T", 4))
	sharer.Others = []Other{{Ref: Ref{"", "Pod", "x"}, Replicas: unknown[int64]("forbidden")}}
	config := group(nil, topic("T", 4))
	config.Strategy = allocation.ByConfig{}
	room := classic(2)
	room[0].Strategy = allocation.NameMachineRoom
	own := classic(1)
	own[0].Strategy = "com.example.Mine"
	rooms := classic(1)
	rooms[0].Strategy = allocation.NameMachineRoom
	badRoom := group(nil, topic("T", 4), topic("T", 4))
	for _, c := range []struct {
		why   string
		group Group
	}{
		{"the queues of T on broker-b are not known: broker-b unreachable since 14:01", group(classic(4), brokerLost)},
		{"the message model of member 10.0.0.2@1#1 is not known: did not answer", group(append(grpc(1), noModel[1]), topic("T", 4))},
		{"whether member points-0@1@0@x0 takes messages in order is not known: no heartbeat was read", unordered},
		{"whether its brokers hand out messages in order is not known: call 201 failed", absent},
		{"the replicas of Pod x, which shares it, are not known: forbidden", sharer},
		{"each member consumes the queues that its own application configured", config},
		{"its members share queues by different strategies (AVG, MACHINE_ROOM), so some queues have two owners and some none", group(room, topic("T", 4))},
		{`"com.example.Mine" is no strategy of the released clients`, group(own, topic("T", 4))},
		{"the strategy MACHINE_ROOM needs the rooms", group(rooms, topic("T", 4))},
		{"topic T is given twice", badRoom},
		{"there is no topic to share", group(classic(1))},
	} {
		t.Run(c.why, func(t *testing.T) {
			g := NewWithT(t)
			v := Judge(scale(1, 1000, c.group))
			g.Expect(v.Outcome).To(Equal(AllowedUnknown))
			g.Expect(v.Maximum.Why).To(ContainSubstring(c.why))
			g.Expect(v.Maximum.Excess(1000)).To(BeZero())
			g.Expect(v.Passed).To(BeEquivalentTo(1000))
			g.Expect(v.Warns()).To(BeTrue())
			g.Expect(v.Short).To(HavePrefix("Lockstep cannot tell how many replicas of "))
			g.Expect(v.Sentence).To(HavePrefix("1,000 replicas asked, how many can work is not known (group CG_SHOP_POINTS: "))
			g.Expect(v.Sentence).To(HaveSuffix("; not judged"))
		})
	}
}

// TestK20_AbsentIsZero: a Scale without replicas is one of 0; 0 to 12 is judged and
// 12 to 0 passes.
func TestK20_AbsentIsZero(t *testing.T) {
	twelve := int32(12)
	g := group(nil, topic("T", 4))
	for _, e := range []expect{
		{"absent to 12", Replicas(nil), Replicas(&twelve), Refused, PastMaximum, 4},
		{"12 to absent", Replicas(&twelve), Replicas(nil), Allowed, NoIncrease, 0},
		{"absent to absent", Replicas(nil), Replicas(nil), Allowed, NoIncrease, 0},
		{"0 to 4", 0, 4, Allowed, WithinMaximum, 4},
		{"0 to 5", 0, 5, Refused, PastMaximum, 4},
		{"1 to 0", 1, 0, Allowed, NoIncrease, 0},
	} {
		e.check(t, g)
	}
}

// TestK29_SurgeIsNoScaleUp: pods above the count during a rollout are members that
// are seen, not replicas that are asked for.
func TestK29_SurgeIsNoScaleUp(t *testing.T) {
	g := group(classic(10), topic("T", 4, 4))
	expect{"a rollout at the cap", 8, 8, Allowed, NoIncrease, 8}.check(t, g)
	expect{"a scale-up to the cap while pods surge", 7, 8, Allowed, WithinMaximum, 8}.check(t, g)
}

// TestFIFOAndBroadcast: order bounds members that take messages, too; who
// broadcasts is not bounded.
func TestFIFOAndBroadcast(t *testing.T) {
	fifo := grpc(3)
	fifo[2].FIFO = known(true)
	two := []Topic{topic("A", 2, 2), topic("B", 1, 1)}
	declared := func(g Group, ordered bool) Group {
		g.Protocol, g.Ordered = GRPC, ordered
		return g
	}
	orderly := func(g Group) Group {
		g.Orderly = known(true)
		return g
	}
	told := grpc(2)
	told[0].FIFO = unknown[bool]("LOCAL mode")
	popFIFO := popping(2)
	popFIFO[0].FIFO = known(true)
	popUnsure := popping(2)
	popUnsure[0].FIFO = unknown[bool]("no property")
	casting := func(g Group) Group {
		g.Broadcast = true
		return g
	}
	inPop := inMode(topic("A", 2, 2), true, true)
	for _, c := range []struct {
		expect
		group Group
	}{
		{expect{"unordered gRPC", 6, 600, Allowed, NoMaximum, 600}, declared(group(grpc(3), two...), false)},
		{expect{"ordered as declared", 6, 7, Refused, PastMaximum, 6}, declared(group(grpc(3), two...), true)},
		{expect{"up to the queues of all topics", 5, 6, Allowed, WithinMaximum, 6}, declared(group(grpc(3), two...), true)},
		{expect{"a member says FIFO", 6, 7, Refused, PastMaximum, 6}, declared(group(fifo, two...), false)},
		{expect{"the brokers say orderly", 6, 7, Refused, PastMaximum, 6}, orderly(declared(group(grpc(2), two...), false))},
		{expect{"the brokers say orderly, nobody there", 6, 7, Refused, PastMaximum, 6}, orderly(declared(group(nil, two...), false))},
		{expect{"brokers tell for silent members", 6, 7, Allowed, NoMaximum, 7}, declared(group(told, two...), false)},
		{expect{"POP in order", 4, 5, Refused, PastMaximum, 4}, group(popFIFO, inPop)},
		{expect{"POP, perhaps in order", 4, 5, AllowedUnknown, MaximumUnknown, 5}, group(popUnsure, inPop)},
		{expect{"consumeMessageOrderly says nothing of POP", 4, 5, Allowed, NoMaximum, 5}, orderly(group(popping(2), inPop))},
		{expect{"broadcast as declared", 4, 500, Allowed, NoMaximum, 500}, casting(group(nil, two...))},
		{expect{"broadcast as seen", 4, 500, Allowed, NoMaximum, 500}, casting(group(broadcasting(classic(3)), two...))},
		{expect{"broadcast declared, one shares queues", 4, 5, Refused, PastMaximum, 4}, casting(group(append(classic(1), broadcasting(classic(3))...), two...))},
		{expect{"broadcast and gRPC", 4, 5, Allowed, NoMaximum, 5}, declared(group(append(grpc(1), broadcasting(classic(3))...), two...), false)},
	} {
		c.check(t, c.group)
	}
	g := NewWithT(t)
	v := Judge(scale(6, 7, declared(group(grpc(3), two...), true)))
	g.Expect(v.Sentence).To(HavePrefix("7 replicas asked, at most 6 can work: group CG_SHOP_POINTS reads A with 4 queues (broker-a 2, broker-b 2) and B with 2 queues (broker-a 1, broker-b 1) and its members consume in order (FIFO), so a queue feeds one member at a time"))
	g.Expect(v.NoHelp).To(ConsistOf("another SDK or more threads do not help: order allows one member for each queue"))
	g.Expect(strings.Join(v.Helps, "\n")).NotTo(ContainSubstring("gRPC"), "they speak it")
	v = Judge(scale(4, 5, casting(group(append(classic(1), broadcasting(classic(3))...), two...))))
	g.Expect(v.Sentence).To(ContainSubstring("it is declared to broadcast, but 1 of 4 members takes whole queues"))
}

// TestStrategies: the strategy that members show beats the declared one, whose
// parameters are used when it is the same.
func TestStrategies(t *testing.T) {
	as := func(name string, s allocation.Strategy, topics ...Topic) Group {
		members := classic(2)
		for i := range members {
			members[i].Strategy = name
		}
		g := group(members, topics...)
		g.Strategy = s
		return g
	}
	rooms := topic("T", 4, 4)
	brokers, _ := rooms.Brokers.Get()
	brokers[0].Name, brokers[1].Name = "idcA@b1", "idcB@b1"
	for _, c := range []struct {
		name  string
		group Group
		max   int64
		words string
	}{
		{"AVG takes the largest topic", as("AVG", nil, topic("A", 4), topic("B", 6)), 6, "6 can work"},
		{"seen AVG, declared hash", as("AVG", allocation.ConsistentHash{VirtualNodes: 10}, topic("A", 4), topic("B", 6)), 6, "6 can work"},
		{"none seen, declared circle", as("", allocation.AveragelyByCircle{}, topic("A", 4), topic("B", 6)), 6, "6 can work"},
		{"none seen, none declared", as("", nil, topic("A", 4), topic("B", 6)), 6, "6 can work"},
		{"hash may use all topics", as("CONSISTENT_HASH", nil, topic("A", 4), topic("B", 6)), 10, "at most 10 can work"},
		{"rooms as declared", as("MACHINE_ROOM", allocation.ByMachineRoom{Rooms: []string{"idcA"}}, rooms), 4, "4 can work"},
		{"nearby as declared", as("MACHINE_ROOM_NEARBY", allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: allocation.RoomsByPrefix("@")}, rooms), 8, "at most 8 can work"},
		{"no queue at all", as("AVG", nil, topic("A", 0)), 1, "1 may wait for work: group CG_SHOP_POINTS reads A, which has no queue that its members could read, and"},
		{"no broker at all", as("AVG", nil, topic("A")), 1, "1 may wait for work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			m := MaximumOf(scale(0, 0, c.group))
			g.Expect(m.Kind).To(Equal(Bounded), m.Sentence)
			g.Expect(m.Useful).To(Equal(c.max))
			g.Expect(m.Replicas).To(Equal(c.max))
			g.Expect(m.Sentence).To(HavePrefix(c.words))
		})
	}
}

func TestNumbersSaturate(t *testing.T) {
	g := NewWithT(t)
	big := group(nil, topic("A", math.MaxInt64))
	big.Others = []Other{other("x", math.MaxInt64, 5), other("y", math.MaxInt64, 5)}
	m := MaximumOf(scale(3, 0, big))
	g.Expect(m.Useful).To(BeEquivalentTo(1))
	g.Expect(m.Replicas).To(BeEquivalentTo(3))
	big.Others, big.Idle = nil, IdleReplicas{math.MaxInt64, "why"}
	g.Expect(Judge(scale(1, math.MaxInt64, big)).Outcome).To(Equal(Allowed))
	big.Topics = []Topic{topic("A", math.MaxInt64, 1)}
	g.Expect(MaximumOf(scale(3, 0, big)).Why).To(ContainSubstring("more than 2^63-1 queues"))
}
