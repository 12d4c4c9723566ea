// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// Two ways to the same shares: all at once, and one client after the other.
func TestShare_IsAllocateForEachClient(t *testing.T) {
	for _, s := range append(strategies(), allocation.ByConfig{Queues: []allocation.Queue{{Topic: "T", Broker: "x", ID: 1}}},
		allocation.GoMachineRoom{Rooms: []string{"r1"}}, allocation.GoConsistentHash{VirtualNodes: -1}, allocation.ConsistentHash{},
		allocation.MachineRoomNearby{Inner: allocation.ByConfig{Queues: []allocation.Queue{{Topic: "T"}}}, Rooms: rooms()}) {
		t.Run(s.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				queues, clients := group(t)
				all, err := allocation.Share(s, queues, clients)
				if err != nil {
					t.Fatal(err)
				}
				one, err := each(s, queues, clients)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(all) != fmt.Sprint(one) {
					t.Fatalf("%v\nof %v to %v:\nall at once  %v\none by one   %v", s, queues, clients, all, one)
				}
			})
		})
	}
}

// No queue goes to two ids; all go to someone unless the strategy leaves some
// out; and nobody gets what is not there. Shares do not touch their input.
func TestStrategies_Disjoint(t *testing.T) {
	for _, s := range strategies() {
		t.Run(s.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { disjoint(t, s) })
		})
	}
}

func FuzzStrategies(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { disjoint(t, rapid.SampledFrom(strategies()).Draw(t, "strategy")) }))
}

func disjoint(t *rapid.T, s allocation.Strategy) {
	queues, clients := group(t)
	clients = slices.Compact(clients)
	before := slices.Clone(queues)
	shares, err := allocation.Share(s, queues, clients)
	if err != nil {
		t.Fatal(err)
	}
	owner := map[allocation.Queue]string{}
	for i, share := range shares {
		for _, q := range share {
			if other, taken := owner[q]; taken {
				t.Fatalf("%v belongs to %s and %s", q, other, clients[i])
			}
			if !slices.Contains(queues, q) {
				t.Fatalf("%v does not exist", q)
			}
			owner[q] = clients[i]
		}
	}
	if covers(s) && len(owner) != len(queues) {
		t.Fatalf("%d of %d queues have an owner: %v", len(owner), len(queues), slices.Collect(maps.Keys(owner)))
	}
	if !slices.Equal(queues, before) {
		t.Fatal("the list of queues was changed")
	}
}

// covers reports whether every queue has an owner when ids differ.
func covers(s allocation.Strategy) bool {
	switch s := s.(type) {
	case allocation.ByMachineRoom:
		return false
	case allocation.MachineRoomNearby:
		return covers(s.Inner)
	}
	return true
}

// The strategies by place: nobody has two queues more than another, the first
// have the most, and AVG is its range form.
func TestStrategies_BalancedByPlace(t *testing.T) {
	for _, s := range []allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{}, allocation.ByMachineRoom{Rooms: []string{"r1", "r2"}}} {
		t.Run(s.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				queues, clients := group(t)
				clients = slices.Compact(clients)
				shares, err := allocation.Share(s, queues, clients)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, share := range shares {
					n += len(share)
				}
				for i, share := range shares {
					r, _ := allocation.RangeAt(int64(n), int64(len(clients)), int64(i))
					if int64(len(share)) != r.Len() {
						t.Fatalf("member %d of %d has %d of %d queues, want %d", i, len(clients), len(share), n, r.Len())
					}
					if s.Name() == allocation.NameAveragely && !slices.Equal(share, queues[r.Start:r.End]) {
						t.Fatalf("member %d has %v, its range is %s", i, share, r)
					}
				}
			})
		})
	}
}

// A member that leaves a ring leaves the others their queues.
func TestConsistentHash_OthersKeepTheirs(t *testing.T) {
	for _, s := range []allocation.Strategy{consistent(), allocation.GoConsistentHash{VirtualNodes: 7}} {
		t.Run(s.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				queues, clients := group(t)
				clients = slices.Compact(clients)
				if len(clients) < 2 {
					t.Skip("nobody is left")
				}
				gone := rapid.IntRange(0, len(clients)-1).Draw(t, "gone")
				before, err := allocation.Share(s, queues, clients)
				if err != nil {
					t.Fatal(err)
				}
				after, err := allocation.Share(s, queues, slices.Delete(slices.Clone(clients), gone, gone+1))
				if err != nil {
					t.Fatal(err)
				}
				for i, share := range slices.Delete(before, gone, gone+1) {
					for _, q := range share {
						if !slices.Contains(after[i], q) {
							t.Fatalf("%v left a client that stayed", q)
						}
					}
				}
			})
		})
	}
}

func TestAveragely_AllocatesNothingForAQueue(t *testing.T) {
	g := NewWithT(t)
	few, many := queuesOf(t, "a:10"), queuesOf(t, "a:10000")
	clients := []string{"a", "b", "c"}
	measure := func(queues []allocation.Queue) float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := allocation.Share(allocation.Averagely{}, queues, clients); err != nil {
				t.Fatal(err)
			}
		})
	}
	g.Expect(measure(many)).To(Equal(measure(few)))
	circle := func(queues []allocation.Queue) float64 {
		return testing.AllocsPerRun(10, func() {
			if _, err := allocation.Share(allocation.AveragelyByCircle{}, queues, clients); err != nil {
				t.Fatal(err)
			}
		})
	}
	g.Expect(circle(many)).To(Equal(circle(few)))
}

// A caller that appends to a share does not write into its neighbour's.
func TestShares_AreClipped(t *testing.T) {
	for _, s := range strategies() {
		t.Run(s.Name(), func(t *testing.T) {
			g := NewWithT(t)
			queues := queuesOf(t, "r1-a:6 r1@b:4 r2@c:3")
			clients := []string{"r1-a", "r1-b", "r2-c"}
			want, err := each(s, slices.Clone(queues), clients)
			g.Expect(err).NotTo(HaveOccurred())
			shares, err := allocation.Share(s, queues, clients)
			g.Expect(err).NotTo(HaveOccurred())
			for _, share := range shares {
				_ = append(share, allocation.Queue{Topic: "written"})
			}
			g.Expect(fmt.Sprint(shares)).To(Equal(fmt.Sprint(want)))
		})
	}
}

func TestByName(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]allocation.Strategy{
		"AVG": allocation.Averagely{}, "AVG_BY_CIRCLE": allocation.AveragelyByCircle{},
	} {
		g.Expect(allocation.ByName(name)).To(Equal(want))
	}
	hash, err := allocation.ByName("CONSISTENT_HASH")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(hash.(allocation.ConsistentHash).VirtualNodes).To(Equal(10))
	for name, why := range map[string]string{
		"CONFIG": "list of queues", "MACHINE_ROOM": "consumeridcs", "MACHINE_ROOM_NEARBY": "resolver",
		"MACHINE_ROOM_NEARBY-AVG": "resolver", "avg": "no strategy of the released clients", "": "no strategy",
	} {
		_, err := allocation.ByName(name)
		g.Expect(err).To(MatchError(ContainSubstring(why)), name)
	}
}

func TestNameOfClass(t *testing.T) {
	g := NewWithT(t)
	const in = "org.apache.rocketmq.client.consumer.rebalance."
	for property, want := range map[string]string{
		in + "AllocateMessageQueueAveragely@4f8d86e4":  "AVG",
		in + "AllocateMessageQueueAveragely":           "AVG",
		in + "AllocateMessageQueueAveragelyByCircle@1": "AVG_BY_CIRCLE",
		in + "AllocateMessageQueueByConfig@1":          "CONFIG",
		in + "AllocateMessageQueueByMachineRoom@1":     "MACHINE_ROOM",
		in + "AllocateMachineRoomNearby@1":             "MACHINE_ROOM_NEARBY",
		in + "AllocateMessageQueueConsistentHash@1":    "CONSISTENT_HASH",
		in + "Other@1": "",
		"com.example.AllocateMessageQueueAveragely@1": "",
		"": "",
	} {
		name, ok := allocation.NameOfClass(property)
		g.Expect(name).To(Equal(want), property)
		g.Expect(ok).To(Equal(want != ""), property)
	}
	g.Expect(allocation.MachineRoomNearby{Inner: allocation.AveragelyByCircle{}}.Name()).To(Equal("MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE"))
}
