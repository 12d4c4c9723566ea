// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// ids are client ids of pods, in the order of places.
func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("10.0.0.%d@7#1", i+1)
	}
	allocation.SortClients(out)
	return out
}

func simulate(t *testing.T, s allocation.Strategy, clients []string, texts ...string) allocation.Simulation {
	t.Helper()
	sim, err := allocation.Simulate(s, topicsOf(t, texts...), clients)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// Case A01: four queues in all, so the fifth member and the sixth get nothing.
func TestA01_MembersBeyondTheQueuesGetNothing(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{}} {
		capacity, err := allocation.CapacityOf(s, topicsOf(t, "T broker-a:2 broker-b:2"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(capacity.Certainty).To(Equal(allocation.Exact))
		g.Expect(capacity.Members).To(Equal(int64(4)), "readable queues over all brokers")
		clients := ids(6)
		sim := simulate(t, s, clients, "T broker-a:2 broker-b:2")
		g.Expect(sim.Idle()).To(Equal(clients[4:]))
		g.Expect(simulate(t, s, ids(4), "T broker-a:2 broker-b:2").Idle()).To(BeEmpty())
	}
}

// Case A02: ten members on ten queues; to double them the topic needs twenty.
func TestA02_DoublingNeedsTwiceTheQueues(t *testing.T) {
	g := NewWithT(t)
	idle, err := allocation.IdleAmong(allocation.Averagely{}, topicsOf(t, "T a:10"), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(idle.Everywhere).To(Equal(int64(10)))
	idle, err = allocation.IdleAmong(allocation.Averagely{}, topicsOf(t, "T a:20"), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(idle.Everywhere).To(BeZero())
}

// Case A03: six topics of five queues and two members: 18 queues to 12, because
// the first member takes every remainder. Dealing out in a circle does the same;
// a count that divides the queues does not, nor does a ring.
func TestA03_TheFirstMemberTakesEveryRemainder(t *testing.T) {
	g := NewWithT(t)
	var texts, divisible []string
	for i := range 6 {
		texts = append(texts, fmt.Sprintf("T%d a:5", i))
		divisible = append(divisible, fmt.Sprintf("T%d a:6", i))
	}
	for _, s := range []allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{}} {
		most, least, err := allocation.Balance(s, topicsOf(t, texts...), 2)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect([]int64{most, least}).To(Equal([]int64{18, 12}), s.Name())
		sim := simulate(t, s, ids(2), texts...)
		held := []int{0, 0}
		for _, topic := range sim.Topics {
			for i, share := range topic.Shares {
				held[i] += len(share)
			}
		}
		g.Expect(held).To(Equal([]int{18, 12}), s.Name())
		most, least, err = allocation.Balance(s, topicsOf(t, divisible...), 2)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(most).To(Equal(least))
	}
	even, err := allocation.EvenCounts(allocation.Averagely{}, topicsOf(t, texts...), 100)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(even).To(Equal([]int64{1, 5}))
}

// Cases A05, A06, A07 and A10: connections with one id compute the same share, so
// the share of the second place has no owner, and another pod changes nothing
// about that.
func TestA05_OneIDTwiceLeavesQueuesUnowned(t *testing.T) {
	g := NewWithT(t)
	const bridge = "172.17.0.1@1"
	sim := simulate(t, allocation.Averagely{}, []string{bridge, "10.0.0.1@1", bridge}, "T a:6")
	g.Expect(sim.Clients).To(Equal([]string{"10.0.0.1@1", bridge, bridge}), "one for each connection")
	g.Expect(short(sim.Topics[0].Shares)).To(Equal("[a0 a1] [a2 a3] [a2 a3]"))
	g.Expect(short([][]allocation.Queue{sim.Topics[0].Unowned()})).To(Equal("[a4 a5]"))
	doubled := sim.Topics[0].Doubled()
	g.Expect(doubled).To(HaveLen(2))
	g.Expect(doubled[0].Owners).To(Equal([]int{1, 2}))
	more := simulate(t, allocation.Averagely{}, []string{bridge, "10.0.0.1@1", bridge, bridge}, "T a:6")
	g.Expect(more.Topics[0].Unowned()).NotTo(BeEmpty(), "adding pods does not help")
}

func TestA06_ThreeHostsTwoWithOneID(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{}} {
		sim := simulate(t, s, []string{"h1@DEFAULT", "h2@DEFAULT", "h2@DEFAULT"}, "T a:8")
		g.Expect(sim.Topics[0].Unowned()).To(HaveLen(2), s.Name())
		g.Expect(sim.Idle()).To(BeEmpty(), "everybody looks busy")
	}
	// A ring is spared: the id stands on it more often, and no queue is unowned.
	g.Expect(simulate(t, consistent(), []string{"h1@DEFAULT", "h2@DEFAULT", "h2@DEFAULT"}, "T a:8").Topics[0].Unowned()).To(BeEmpty())
}

func TestA07_BothTakeTheFirstBrokerNobodyTheSecond(t *testing.T) {
	g := NewWithT(t)
	sim := simulate(t, allocation.Averagely{}, []string{"10.1.1.1@1", "10.1.1.1@1"}, "T broker-a:4 broker-b:4")
	g.Expect(short(sim.Topics[0].Shares)).To(Equal("[a0 a1 a2 a3] [a0 a1 a2 a3]"))
	g.Expect(short([][]allocation.Queue{sim.Topics[0].Unowned()})).To(Equal("[b0 b1 b2 b3]"))
	g.Expect(sim.Topics[0].Doubled()).To(HaveLen(4))
}

func TestA10_AnIDWithoutAddressTwice(t *testing.T) {
	g := NewWithT(t)
	sim := simulate(t, allocation.Averagely{}, []string{"@8#DEFAULT", "@8#DEFAULT"}, "T a:2")
	g.Expect(short([][]allocation.Queue{sim.Topics[0].Unowned()})).To(Equal("[a1]"))
}

// Case A11: one id for all, known to the broker once: each member takes all.
func TestA11_OneIDForAllMeansEverythingTwice(t *testing.T) {
	g := NewWithT(t)
	var members []allocation.Member
	for range 3 {
		members = append(members, allocation.Member{ID: "orders8", Strategy: allocation.Averagely{}, Sees: []string{"orders8"}})
	}
	sim, err := allocation.SimulateMixed(topicsOf(t, "T a:4"), members)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sim.Topics[0].Unowned()).To(BeEmpty())
	g.Expect(sim.Topics[0].Doubled()).To(HaveLen(4))
	g.Expect(sim.Topics[0].Doubled()[0].Owners).To(Equal([]int{0, 1, 2}))
}

// Case A14: a member that sees two of three shares the queues by two.
func TestA14_MembersThatSeeOthersShareOtherwise(t *testing.T) {
	g := NewWithT(t)
	all := ids(3)
	avg := allocation.Averagely{}
	sim, err := allocation.SimulateMixed(topicsOf(t, "T a:6"), []allocation.Member{
		{ID: all[2], Strategy: avg}, {ID: all[0], Strategy: avg}, {ID: all[1], Strategy: avg, Sees: []string{all[1], all[0]}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(short(sim.Topics[0].Shares)).To(Equal("[a0 a1] [a3 a4 a5] [a4 a5]"))
	g.Expect(short([][]allocation.Queue{sim.Topics[0].Unowned()})).To(Equal("[a2]"))
	g.Expect(sim.Topics[0].Doubled()).To(HaveLen(2))
}

// Case A17: brokers of another cluster in the route count as well.
func TestA17_AllBrokersOfTheRouteCount(t *testing.T) {
	g := NewWithT(t)
	capacity, err := allocation.CapacityOf(allocation.Averagely{}, topicsOf(t, "T x-broker:4 y-broker:4"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(capacity.Members).To(Equal(int64(8)))
	g.Expect(capacity.Set[0].Brokers).To(HaveLen(2), "the reason names both")
}

// Cases A19 and A22: what a maximum of an autoscaler leaves idle.
func TestA19_AutoscalerAboveTheQueues(t *testing.T) {
	g := NewWithT(t)
	idle, err := allocation.IdleAmong(allocation.Averagely{}, topicsOf(t, "T a:8"), 20)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(idle.Everywhere).To(Equal(int64(12)))
}

func TestA22_ScalerMaximumBeforeAnyScaleEvent(t *testing.T) {
	g := NewWithT(t)
	capacity, err := allocation.CapacityOf(allocation.Averagely{}, topicsOf(t, "T a:8 b:8"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(capacity.Members).To(Equal(int64(16)))
	idle, err := allocation.IdleAmong(allocation.Averagely{}, topicsOf(t, "T a:8 b:8"), 50)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(idle.Everywhere).To(Equal(int64(34)))
}

// Case A20: all backlog in one of eight queues: one member is useful.
func TestA20_BacklogInOneQueue(t *testing.T) {
	g := NewWithT(t)
	spread, err := allocation.SpreadOf([]int64{0, 0, 0, 120_000, 0, 0, 0, 0}, 8)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spread.Loaded).To(Equal(1))
	g.Expect(spread.ByKeys).To(BeTrue())
	g.Expect(spread.ByStrategy || spread.ByQueues).To(BeFalse())
}

// Case S07: two consumers in each pod.
func TestS07_TwoMembersInAPod(t *testing.T) {
	g := NewWithT(t)
	capacity, err := allocation.CapacityOf(allocation.Averagely{}, topicsOf(t, "T a:5"))
	g.Expect(err).NotTo(HaveOccurred())
	pods, err := capacity.Pods(2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pods).To(Equal(allocation.Pods{AllBusy: 2, NoneIdle: 3}))
	busy := func(pods int) int {
		var clients []string
		for i := range pods {
			clients = append(clients, fmt.Sprintf("10.0.0.%d@7#100", i+1), fmt.Sprintf("10.0.0.%d@7#200", i+1))
		}
		sim := simulate(t, allocation.Averagely{}, clients, "T a:5")
		owners := map[string]bool{}
		for i, share := range sim.Topics[0].Shares {
			if len(share) > 0 {
				owners[sim.Clients[i][:len("10.0.0.1@")]] = true
			}
		}
		return len(owners)
	}
	g.Expect([]int{busy(3), busy(4)}).To(Equal([]int{3, 3}), "the fourth pod has no work")
}

// A group of two SDKs: both call it consistent hashing, and it is not the same.
func TestSimulateMixed_JavaAndGo(t *testing.T) {
	g := NewWithT(t)
	clients := ids(6)
	members := func(s ...allocation.Strategy) []allocation.Member {
		var out []allocation.Member
		for i, id := range clients {
			out = append(out, allocation.Member{ID: id, Strategy: s[i%len(s)]})
		}
		slices.Reverse(out)
		return out
	}
	mixed, err := allocation.SimulateMixed(topicsOf(t, "T a:16 b:16"), members(consistent(), allocation.GoConsistentHash{VirtualNodes: 10}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mixed.Topics[0].Unowned()).NotTo(BeEmpty())
	g.Expect(mixed.Topics[0].Doubled()).NotTo(BeEmpty())
	pure, err := allocation.SimulateMixed(topicsOf(t, "T a:16 b:16"), members(consistent()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pure).To(Equal(simulate(t, consistent(), clients, "T a:16 b:16")))
	g.Expect(pure.Topics[0].Unowned()).To(BeEmpty())
	g.Expect(pure.Topics[0].Doubled()).To(BeEmpty())

	_, err = allocation.SimulateMixed(topicsOf(t, "T r@a:16"), members(allocation.Averagely{}, allocation.ByMachineRoom{}))
	g.Expect(err).To(MatchError(ContainSubstring(`by MACHINE_ROOM keeps what it had`)))
	g.Expect(err).To(MatchError(allocation.ErrNoRooms))
}

func TestSimulate(t *testing.T) {
	g := NewWithT(t)
	given := []string{"10.0.0.2@1", "10.0.0.10@1"}
	sim := simulate(t, allocation.Averagely{}, given, "U z:2 b:1 \U0001F600:1 \uFF01:1", "T a:1", "V")
	g.Expect(given[0]).To(Equal("10.0.0.2@1"), "the caller's list stays as it is")
	g.Expect(sim.Clients).To(Equal([]string{"10.0.0.10@1", "10.0.0.2@1"}))
	g.Expect(sim.Topics).To(HaveLen(3))
	g.Expect(sim.Topics[0].Topic).To(Equal("T"))
	g.Expect(sim.Topics[0].Idle(sim.Clients)).To(Equal([]string{"10.0.0.2@1"}))
	g.Expect(sim.Idle()).To(BeEmpty())
	g.Expect(sim.Topics[1].Queues).To(HaveLen(5))
	g.Expect(slices.IsSortedFunc(sim.Topics[1].Queues, allocation.CompareQueues)).To(BeTrue())
	g.Expect(sim.Topics[2].Idle(sim.Clients)).To(Equal(sim.Clients), "a topic without queues")

	nobody := simulate(t, allocation.Averagely{}, nil, "T a:2")
	g.Expect(nobody.Idle()).To(BeEmpty())
	g.Expect(nobody.Topics[0].Unowned()).To(HaveLen(2))

	_, err := allocation.Simulate(allocation.Averagely{}, topicsOf(t, "T a:1048577"), given)
	g.Expect(err).To(MatchError(ContainSubstring("topic T has 1048577 queues, more than 1048576")))
	_, err = allocation.Simulate(allocation.Averagely{}, topicsOf(t, "T a:1"), []string{""})
	g.Expect(err).To(MatchError(allocation.ErrNoClientID))

	configured := simulate(t, allocation.ByConfig{Queues: []allocation.Queue{{Topic: "T", Broker: "a", ID: 1}, {Topic: "T", Broker: "gone", ID: 0}, {Topic: "T", Broker: "a", ID: 1}}}, given, "T a:2")
	g.Expect(configured.Topics[0].Unowned()).To(HaveLen(1))
	g.Expect(configured.Topics[0].Doubled()).To(HaveLen(1))
	g.Expect(configured.Topics[0].Doubled()[0].Owners).To(Equal([]int{0, 1}))
}
