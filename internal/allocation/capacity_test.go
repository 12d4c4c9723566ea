// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

func topicsOf(t *testing.T, texts ...string) []allocation.TopicQueues {
	t.Helper()
	var out []allocation.TopicQueues
	for _, text := range texts {
		out = append(out, topic(t, text))
	}
	return out
}

func TestCapacityOf(t *testing.T) {
	room := allocation.ByMachineRoom{Rooms: []string{"x"}}
	for _, tc := range []struct {
		name      string
		strategy  allocation.Strategy
		topics    []string
		certainty allocation.Certainty
		members   int64
		set       []string
		why       string
	}{
		{"queues over all brokers", allocation.Averagely{}, []string{"T a:4 b:4"}, allocation.Exact, 8, []string{"T a:4 b:4"}, ""},
		{"the topic with the most", allocation.AveragelyByCircle{}, []string{"T a:4", "U a:6 b:6", "V a:9"}, allocation.Exact, 12, []string{"U a:6 b:6"}, ""},
		{"two topics with the most", allocation.Averagely{}, []string{"U b:4", "T a:4", "A a:1"}, allocation.Exact, 4, []string{"T a:4", "U b:4"}, ""},
		{"no queues", allocation.Averagely{}, []string{"T a:0", "U"}, allocation.Exact, 0, []string{"T a:0", "U"}, ""},
		{"more than a Java list holds", allocation.Averagely{}, []string{"T a:2147483647 b:2147483647"}, allocation.Exact, 2 * math.MaxInt32, []string{"T a:2147483647 b:2147483647"}, ""},
		{"only the rooms that are set", room, []string{"T x@a:4 y@b:8", "U y@b:9"}, allocation.Exact, 4, []string{"T x@a:4"}, ""},
		{"no broker of a room", room, []string{"T a:4"}, allocation.Exact, 0, []string{"T"}, ""},
		{"hashing: the sum is a bound", consistent(), []string{"T a:4", "U a:3"}, allocation.AtMost, 7, []string{"T a:4", "U a:3"}, "depends on the hash of its client id"},
		{"hashing nothing", consistent(), []string{"T a:0"}, allocation.Exact, 0, []string{"T a:0"}, ""},
		{"hashing in Go", allocation.GoConsistentHash{VirtualNodes: 5}, []string{"T a:4"}, allocation.AtMost, 4, []string{"T a:4"}, "depends on the hash of its client id"},
		{"nobody on the ring", allocation.ConsistentHash{}, []string{"T a:4"}, allocation.Exact, 0, []string{"T"}, ""},
		{"nobody on the ring in Go", allocation.GoConsistentHash{VirtualNodes: -1}, []string{"T a:4"}, allocation.Exact, 0, []string{"T"}, ""},
		{"a panic in Go", allocation.GoConsistentHash{}, []string{"T a:4"}, allocation.Unknown, 0, nil, "panics"},
		{"rooms of pods", allocation.MachineRoomNearby{Inner: allocation.Averagely{}}, []string{"T a:4"}, allocation.AtMost, 4, []string{"T a:4"}, "the room its pod will run in"},
		{"rooms within rooms", allocation.MachineRoomNearby{Inner: room}, []string{"T x@a:4 b:2"}, allocation.AtMost, 4, []string{"T x@a:4"}, "the room its pod will run in"},
		{"rooms by configuration", allocation.MachineRoomNearby{Inner: allocation.ByConfig{}}, []string{"T a:4"}, allocation.Unknown, 0, nil, "its own application configured"},
		{"configuration", allocation.ByConfig{}, []string{"T a:4"}, allocation.Unknown, 0, nil, "its own application configured"},
		{"rooms in Go", allocation.GoMachineRoom{}, []string{"T a:4"}, allocation.Unknown, 0, nil, "some queues are consumed twice and some never"},
		{"nearby in Go", allocation.GoMachineNearby{}, []string{"T a:4"}, allocation.Exact, 4, []string{"T a:4"}, ""},
		{"an application's own", own{}, []string{"T a:4"}, allocation.Unknown, 0, nil, "OWN is not one of the released clients"},
		{"a sum beyond 2^63", consistent(), []string{"T a:9223372036854775807", "U a:5"}, allocation.AtMost, math.MaxInt64, []string{"T a:9223372036854775807", "U a:5"}, "hash"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := allocation.CapacityOf(tc.strategy, topicsOf(t, tc.topics...))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Certainty).To(Equal(tc.certainty))
			g.Expect(got.Members).To(Equal(tc.members))
			g.Expect(got.Set).To(Equal(topicsOf(t, tc.set...)))
			if tc.why == "" {
				g.Expect(got.Why).To(BeEmpty())
			} else {
				g.Expect(got.Why).To(ContainSubstring(tc.why))
			}
		})
	}
}

// own is a strategy that an application wrote.
type own struct{ allocation.Strategy }

func (own) Name() string { return "OWN" }

func TestCapacityOf_Refuses(t *testing.T) {
	g := NewWithT(t)
	for _, tc := range []struct {
		topics []string
		want   string
	}{
		{nil, "there is no topic"},
		{[]string{"T a:1", "T b:1"}, "topic T is given twice"},
		{[]string{"T a:1 a:2"}, "broker a is given twice"},
		{[]string{"T a:-1"}, "broker a has -1 queues"},
		{[]string{"T a:9223372036854775807 b:1"}, "more than 2^63-1"},
	} {
		topics := topicsOf(t, tc.topics...)
		_, err := allocation.CapacityOf(allocation.Averagely{}, topics)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		_, err = allocation.IdleAmong(allocation.Averagely{}, topics, 1)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		_, err = allocation.EvenCounts(allocation.Averagely{}, topics, 9)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		_, _, err = allocation.Balance(allocation.Averagely{}, topics, 9)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		_, err = allocation.Simulate(allocation.Averagely{}, topics, []string{"c"})
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
	}
	_, err := allocation.CapacityOf(allocation.ByMachineRoom{}, topicsOf(t, "T r@a:1"))
	g.Expect(err).To(MatchError(allocation.ErrNoRooms))
	_, err = allocation.CapacityOf(allocation.ConsistentHash{VirtualNodes: -1}, topicsOf(t, "T r@a:1"))
	g.Expect(err).To(MatchError(ContainSubstring("-1 is no number of virtual nodes")))
	_, err = allocation.IdleAmong(allocation.Averagely{}, topicsOf(t, "T a:1"), -1)
	g.Expect(err).To(MatchError("-1 is no number of members"))
}

func TestCapacity_Pods(t *testing.T) {
	for _, tc := range []struct {
		certainty              allocation.Certainty
		members, each          int64
		wantAllBusy, wantNoIdl int64
	}{
		{allocation.Exact, 8, 1, 8, 8},
		{allocation.Exact, 8, 2, 4, 4},
		{allocation.Exact, 5, 2, 2, 3},
		{allocation.Exact, 1, 3, 0, 1},
		{allocation.Exact, 0, 3, 0, 0},
		{allocation.Exact, math.MaxInt64, 2, math.MaxInt64 / 2, math.MaxInt64/2 + 1},
		{allocation.AtMost, 8, 2, 4, 8},
	} {
		t.Run(fmt.Sprintf("%s %d by %d", tc.certainty, tc.members, tc.each), func(t *testing.T) {
			g := NewWithT(t)
			got, err := allocation.Capacity{Certainty: tc.certainty, Members: tc.members}.Pods(tc.each)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(allocation.Pods{AllBusy: tc.wantAllBusy, NoneIdle: tc.wantNoIdl}))
		})
	}
	g := NewWithT(t)
	_, err := allocation.Capacity{}.Pods(0)
	g.Expect(err).To(MatchError("0 is no number of members in a pod: want 1 or more"))
	g.Expect(allocation.Unknown.String()).To(Equal("unknown"))
}

func TestIdleAmong(t *testing.T) {
	g := NewWithT(t)
	topics := topicsOf(t, "U a:4 b:2", "T a:3")
	got, err := allocation.IdleAmong(allocation.Averagely{}, topics, 8)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(allocation.Idle{
		Certainty: allocation.Exact, Everywhere: 2,
		Topics: []allocation.TopicIdle{{Topic: "T", Queues: 3, Idle: 5}, {Topic: "U", Queues: 6, Idle: 2}},
	}))
	got, err = allocation.IdleAmong(consistent(), topics, 10)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Certainty).To(Equal(allocation.AtMost))
	g.Expect(got.Everywhere).To(Equal(int64(1)), "of 10 members 9 have work at most")
	g.Expect(got.Why).NotTo(BeEmpty())
	got, err = allocation.IdleAmong(allocation.ByConfig{}, topics, 10)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Certainty).To(Equal(allocation.Unknown))
	g.Expect(got.Topics).To(BeEmpty())
	g.Expect(got.Why).NotTo(BeEmpty())
}

// What is counted is what a simulation with lists of queues and ids shows.
func TestCapacity_AgreesWithSimulation(t *testing.T) {
	for _, s := range strategies() {
		t.Run(s.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var topics []allocation.TopicQueues
				for i := range rapid.IntRange(1, 3).Draw(t, "topics") {
					topic := allocation.TopicQueues{Topic: fmt.Sprint("T", i)}
					for _, b := range []string{"r1@a", "r2@b", "r3-c"} {
						if n := rapid.Int64Range(0, 5).Draw(t, b); n > 0 {
							topic.Brokers = append(topic.Brokers, allocation.BrokerQueues{Broker: b, Queues: n})
						}
					}
					topics = append(topics, topic)
				}
				clients := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
					return fmt.Sprintf("r%d-10.0.0.%d@1", rapid.IntRange(1, 4).Draw(t, "room"), rapid.IntRange(1, 99).Draw(t, "host"))
				}), 0, 20, rapid.ID).Draw(t, "clients")
				idle, err := allocation.IdleAmong(s, topics, int64(len(clients)))
				if err != nil {
					t.Fatal(err)
				}
				sim, err := allocation.Simulate(s, topics, clients)
				if err != nil {
					t.Fatal(err)
				}
				same := func(what string, counted int64, simulated []string) {
					if got := int64(len(simulated)); got < counted || idle.Certainty == allocation.Exact && got != counted {
						t.Fatalf("%s: %s %d counted, %d simulated of %v", what, idle.Certainty, counted, got, clients)
					}
				}
				same("idle everywhere", idle.Everywhere, sim.Idle())
				for i, topic := range idle.Topics {
					same(topic.Topic, topic.Idle, sim.Topics[i].Idle(sim.Clients))
				}
				if idle.Certainty == allocation.Exact && idle.Everywhere > 0 &&
					!slices.Equal(sim.Idle(), sim.Clients[len(clients)-int(idle.Everywhere):]) {
					t.Fatalf("%v are idle, not the last of %v", sim.Idle(), sim.Clients)
				}
			})
		})
	}
}

// At the capacity nobody is idle, and one more member is.
func TestCapacity_IsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topics := []allocation.TopicQueues{
			{Topic: "T", Brokers: []allocation.BrokerQueues{{Broker: "a", Queues: rapid.Int64Range(1, math.MaxInt32).Draw(t, "T")}}},
			{Topic: "U", Brokers: []allocation.BrokerQueues{{Broker: "a", Queues: rapid.Int64Range(0, math.MaxInt32).Draw(t, "U")}}},
		}
		c, err := allocation.CapacityOf(allocation.Averagely{}, topics)
		if err != nil {
			t.Fatal(err)
		}
		for add, want := range []int64{0, 1, 2} {
			if got, _ := allocation.IdleAmong(allocation.Averagely{}, topics, c.Members+int64(add)); got.Everywhere != want {
				t.Fatalf("%d idle among %d+%d", got.Everywhere, c.Members, add)
			}
		}
	})
}

func TestEvenCounts(t *testing.T) {
	for _, tc := range []struct {
		topics []string
		most   int64
		want   []int64
	}{
		{[]string{"T a:6 b:6"}, 100, []int64{1, 2, 3, 4, 6, 12}},
		{[]string{"T a:6 b:6"}, 5, []int64{1, 2, 3, 4}},
		{[]string{"T a:12", "U a:8"}, 100, []int64{1, 2, 4}},
		{[]string{"T a:12", "U a:0"}, 100, []int64{1, 2, 3, 4, 6, 12}},
		{[]string{"T a:9"}, 100, []int64{1, 3, 9}},
		{[]string{"T a:0"}, 100, nil},
		{[]string{"T a:7"}, 0, nil},
		{[]string{"T a:2147483647"}, math.MaxInt64, []int64{1, math.MaxInt32}},
		{[]string{"T a:4611686018427387904"}, 9, []int64{1, 2, 4, 8}},
	} {
		t.Run(fmt.Sprint(tc.topics, tc.most), func(t *testing.T) {
			g := NewWithT(t)
			got, err := allocation.EvenCounts(allocation.Averagely{}, topicsOf(t, tc.topics...), tc.most)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
	g := NewWithT(t)
	for s, why := range map[string]allocation.Strategy{"does not share evenly": consistent(), "is unknown": allocation.ByConfig{}} {
		_, err := allocation.EvenCounts(why, topicsOf(t, "T a:4"), 9)
		g.Expect(err).To(MatchError(ContainSubstring(s)))
		_, _, err = allocation.Balance(why, topicsOf(t, "T a:4"), 9)
		g.Expect(err).To(MatchError(ContainSubstring(s)))
	}
}

// Even counts are those at which the most and the least loaded have the same.
func TestEvenCounts_AreThoseInBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var topics []allocation.TopicQueues
		for i := range rapid.IntRange(1, 3).Draw(t, "topics") {
			n := rapid.Int64Range(1, 200).Draw(t, "queues")
			topics = append(topics, allocation.TopicQueues{Topic: fmt.Sprint(i), Brokers: []allocation.BrokerQueues{{Broker: "a", Queues: n}}})
		}
		even, err := allocation.EvenCounts(allocation.AveragelyByCircle{}, topics, 200)
		if err != nil {
			t.Fatal(err)
		}
		for m := int64(1); m <= 200; m++ {
			most, least, err := allocation.Balance(allocation.AveragelyByCircle{}, topics, m)
			if err != nil {
				t.Fatal(err)
			}
			if (most == least) != slices.Contains(even, m) {
				t.Fatalf("%d members hold %d to %d queues; even are %v", m, least, most, even)
			}
		}
	})
}

func TestBalance_Refuses(t *testing.T) {
	_, _, err := allocation.Balance(allocation.Averagely{}, topicsOf(t, "T a:4"), 0)
	NewWithT(t).Expect(err).To(MatchError("0 is no number of members: want 1 or more"))
}
