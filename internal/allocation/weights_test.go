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

func TestPartition_Vectors(t *testing.T) {
	for _, tc := range []struct {
		weights []int64
		c       int
		limit   int64
		parts   string
	}{
		{[]int64{7, 2, 5, 10, 8}, 2, 18, "[[0,3) [3,5)]"},
		{[]int64{7, 2, 5, 10, 8}, 1, 32, "[[0,5)]"},
		{[]int64{7, 2, 5, 10, 8}, 5, 10, "[[0,2) [2,3) [3,4) [4,5) [5,5)]"},
		{[]int64{1, 2, 3, 4, 5}, 2, 9, "[[0,3) [3,5)]"},
		{[]int64{5}, 3, 5, "[[0,1) [1,1) [1,1)]"},
		{[]int64{0, 0, 0}, 2, 0, "[[0,3) [3,3)]"},
		{nil, 2, 0, "[[0,0) [0,0)]"},
		{[]int64{math.MaxInt64, math.MaxInt64}, 2, math.MaxInt64, "[[0,1) [1,2)]"},
		{slices.Repeat([]int64{1 << 61}, 16), 8, 1 << 62, "[[0,2) [2,4) [4,6) [6,8) [8,10) [10,12) [12,14) [14,16)]"},
		{[]int64{math.MaxInt64, 0, 1}, 2, math.MaxInt64, "[[0,2) [2,3)]"},
	} {
		t.Run(fmt.Sprint(tc.weights, "/", tc.c), func(t *testing.T) {
			g := NewWithT(t)
			parts, limit, err := allocation.Partition(tc.weights, tc.c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(limit).To(Equal(tc.limit))
			g.Expect(fmt.Sprint(parts)).To(Equal(tc.parts))
			g.Expect(allocation.Fits(tc.weights, tc.c, tc.limit)).To(BeTrue())
			g.Expect(allocation.Fits(tc.weights, tc.c, tc.limit-1)).To(BeFalse())
		})
	}
}

func TestFits(t *testing.T) {
	g := NewWithT(t)
	g.Expect(allocation.Fits([]int64{7, 2, 5, 10, 8}, 2, 18)).To(BeTrue(), "[7,2,5] [10,8]")
	g.Expect(allocation.Fits([]int64{7, 2, 5, 10, 8}, 2, 17)).To(BeFalse())
	g.Expect(allocation.Fits([]int64{math.MaxInt64, math.MaxInt64}, 1, math.MaxInt64)).To(BeFalse(), "no sum overflows")
	g.Expect(allocation.Fits(nil, 0, 5)).To(BeFalse(), "no members")
	g.Expect(allocation.Fits(nil, 1, -1)).To(BeFalse())
	g.Expect(allocation.Fits(nil, 1, 0)).To(BeTrue())
}

func TestWeights_Refuse(t *testing.T) {
	g := NewWithT(t)
	for _, tc := range []struct {
		weights []int64
		c       int
		want    string
	}{
		{[]int64{1}, 0, "0 is no number of members: want 1 or more"},
		{[]int64{1}, -1, "-1 is no number of members: want 1 or more"},
		{[]int64{1, -2}, 1, "the weight -2 of item 1 is negative"},
		{[]int64{math.MaxInt64, 1}, 1, allocation.ErrTooHeavy.Error()},
		{[]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, 2, allocation.ErrTooHeavy.Error()},
		{slices.Repeat([]int64{math.MaxInt64}, 9), 2, allocation.ErrTooHeavy.Error()},
	} {
		_, err := allocation.LPT(tc.weights, tc.c)
		g.Expect(err).To(MatchError(tc.want))
		_, _, err = allocation.Partition(tc.weights, tc.c)
		g.Expect(err).To(MatchError(tc.want))
		_, err = allocation.SpreadOf(tc.weights, tc.c)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
	}
}

func TestLPT_Vectors(t *testing.T) {
	for _, tc := range []struct {
		weights []int64
		c       int
		owner   []int
		loads   []int64
	}{
		{[]int64{7, 2, 5, 10, 8}, 2, []int{1, 0, 0, 0, 1}, []int64{17, 15}},
		// Graham's worst case for two members: 7 instead of 6.
		{[]int64{3, 3, 2, 2, 2}, 2, []int{0, 1, 0, 1, 0}, []int64{7, 5}},
		{[]int64{4, 4, 4}, 5, []int{0, 1, 2}, []int64{4, 4, 4, 0, 0}},
		{[]int64{0, 0}, 2, []int{0, 0}, []int64{0, 0}},
		{nil, 2, []int{}, []int64{0, 0}},
		{[]int64{math.MaxInt64, math.MaxInt64}, 2, []int{0, 1}, []int64{math.MaxInt64, math.MaxInt64}},
	} {
		t.Run(fmt.Sprint(tc.weights, "/", tc.c), func(t *testing.T) {
			g := NewWithT(t)
			got, err := allocation.LPT(tc.weights, tc.c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Owner).To(Equal(tc.owner))
			g.Expect(got.Loads).To(Equal(tc.loads))
			g.Expect(got.Most).To(Equal(slices.Max(tc.loads)))
		})
	}
}

// smallestContiguous and smallestFree are the optima, by trying everything.
func smallestContiguous(weights []int64, c int) int64 {
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	if c == 1 {
		return sum
	}
	best, first := int64(math.MaxInt64), int64(0)
	for i := 0; i <= len(weights); i++ {
		best = min(best, max(first, smallestContiguous(weights[i:], c-1)))
		if i < len(weights) {
			first += weights[i]
		}
	}
	return best
}

func smallestFree(weights, loads []int64) int64 {
	if len(weights) == 0 {
		return slices.Max(loads)
	}
	best := int64(math.MaxInt64)
	for i := range loads {
		loads[i] += weights[0]
		best = min(best, smallestFree(weights[1:], loads))
		loads[i] -= weights[0]
	}
	return best
}

func TestPartition_IsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, 1<<40)), 0, 8).Draw(t, "weights")
		c := rapid.IntRange(1, 4).Draw(t, "c")
		parts, limit, err := allocation.Partition(weights, c)
		if err != nil {
			t.Fatal(err)
		}
		if want := smallestContiguous(weights, c); limit != want {
			t.Fatalf("limit %d, the best is %d", limit, want)
		}
		at, most := int64(0), int64(0)
		for _, p := range parts {
			sum := int64(0)
			for _, w := range weights[p.Start:p.End] {
				sum += w
			}
			if p.Start != at {
				t.Fatalf("parts %v leave something out", parts)
			}
			at, most = p.End, max(most, sum)
		}
		if at != int64(len(weights)) || most != limit || len(parts) != c {
			t.Fatalf("parts %v of %d weights weigh %d at most, limit %d", parts, len(weights), most, limit)
		}
	})
}

func TestLPT_IsWithinGrahamsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(0, 30), 0, 8).Draw(t, "weights")
		c := rapid.IntRange(1, 3).Draw(t, "c")
		got, err := allocation.LPT(weights, c)
		if err != nil {
			t.Fatal(err)
		}
		loads := make([]int64, c)
		for item, owner := range got.Owner {
			loads[owner] += weights[item]
		}
		if !slices.Equal(loads, got.Loads) || slices.Max(loads) != got.Most {
			t.Fatalf("%+v, the loads are %v", got, loads)
		}
		best := smallestFree(weights, make([]int64, c))
		if 3*int64(c)*got.Most > (4*int64(c)-1)*best {
			t.Fatalf("%d is more than 4/3-1/3c of the best, %d", got.Most, best)
		}
	})
}

// The heap gives what looking through all members each time gives.
func TestLPT_TakesTheLeastLoaded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Int64Range(0, 50), 0, 60).Draw(t, "weights")
		c := rapid.IntRange(1, 20).Draw(t, "c")
		got, err := allocation.LPT(weights, c)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int, len(weights))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(weights[b] - weights[a]) })
		loads := make([]int64, c)
		for _, item := range order {
			least := slices.Index(loads, slices.Min(loads))
			if got.Owner[item] != least {
				t.Fatalf("item %d of %v went to %d with loads %v", item, weights, got.Owner[item], loads)
			}
			loads[least] += weights[item]
		}
	})
}

func FuzzPartition(f *testing.F) {
	f.Add([]byte{7, 2, 5, 10, 8}, 2, uint8(0))
	f.Add([]byte{255, 255, 255}, 2, uint8(55))
	f.Fuzz(func(t *testing.T, raw []byte, c int, shift uint8) {
		if len(raw) > 1000 || c > 1000 {
			return
		}
		weights := make([]int64, len(raw))
		for i, b := range raw {
			weights[i] = int64(b) << (shift % 55) // up to 2^62
		}
		parts, limit, err := allocation.Partition(weights, c)
		if err != nil {
			if c > 0 && allocation.Fits(weights, c, math.MaxInt64) {
				t.Fatalf("%v, though it fits", err)
			}
			return
		}
		if !allocation.Fits(weights, c, limit) || limit > 0 && allocation.Fits(weights, c, limit-1) {
			t.Fatalf("%d is not the smallest limit of %v among %d", limit, weights, c)
		}
		if len(parts) != c || parts[c-1].End != int64(len(raw)) {
			t.Fatalf("%v of %d weights", parts, len(raw))
		}
	})
}

func TestSpreadOf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		loads   []int64
		members int
		want    allocation.Spread
	}{
		{"even", []int64{10, 10, 10, 10}, 2, allocation.Spread{Fair: 20, Heaviest: 10, Loaded: 4, Averagely: 20, Circle: 20, Contiguous: 20, Free: 20}},
		{"no load", []int64{0, 0}, 2, allocation.Spread{}},
		{"no queue", nil, 2, allocation.Spread{}},
		{"the first queues are heavy: dealing out helps", []int64{9, 9, 1, 1}, 2,
			allocation.Spread{Fair: 10, Heaviest: 9, Loaded: 4, Averagely: 18, Circle: 10, Contiguous: 11, Free: 10, ByStrategy: true}},
		{"more members than queues: more queues help", []int64{10, 10}, 4,
			allocation.Spread{Fair: 5, Heaviest: 10, Loaded: 2, Averagely: 10, Circle: 10, Contiguous: 10, Free: 10, ByQueues: true}},
		{"five queues for two members: finer parts help", []int64{10, 10, 10, 10, 10}, 2,
			allocation.Spread{Fair: 25, Heaviest: 10, Loaded: 5, Averagely: 30, Circle: 30, Contiguous: 30, Free: 30, ByQueues: true}},
		{"one hot queue: only other keys help", []int64{0, 0, 0, 80, 0, 0, 0, 0}, 8,
			allocation.Spread{Fair: 10, Heaviest: 80, Loaded: 1, Averagely: 80, Circle: 80, Contiguous: 80, Free: 80, ByKeys: true}},
		{"a tenth is worth it", []int64{5, 5, 4, 0}, 2,
			allocation.Spread{Fair: 7, Heaviest: 5, Loaded: 3, Averagely: 10, Circle: 9, Contiguous: 9, Free: 9, ByStrategy: true, ByQueues: true}},
		{"few queues have a load, none more than is fair", []int64{30, 0, 0, 30, 0, 0, 0, 30, 0}, 2,
			allocation.Spread{Fair: 45, Heaviest: 30, Loaded: 3, Averagely: 60, Circle: 60, Contiguous: 60, Free: 60, ByQueues: true}},
		{"consecutive parts are better than the greedy ones", []int64{30, 30, 20, 20, 20, 0, 0, 0, 0, 0}, 2,
			allocation.Spread{Fair: 60, Heaviest: 30, Loaded: 5, Averagely: 120, Circle: 70, Contiguous: 60, Free: 70, ByStrategy: true}},
		{"a hot queue that has company: both", []int64{60, 30, 5, 5}, 2,
			allocation.Spread{Fair: 50, Heaviest: 60, Loaded: 4, Averagely: 90, Circle: 65, Contiguous: 60, Free: 60, ByStrategy: true, ByKeys: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := allocation.SpreadOf(tc.loads, tc.members)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

// What the spread says of strategies is what the strategies do.
func TestSpreadOf_AgreesWithTheStrategies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loads := rapid.SliceOfN(rapid.Int64Range(0, 100), 1, 20).Draw(t, "loads")
		members := rapid.IntRange(1, 25).Draw(t, "members")
		got, err := allocation.SpreadOf(loads, members)
		if err != nil {
			t.Fatal(err)
		}
		queues, clients := make([]allocation.Queue, len(loads)), make([]string, members)
		for i := range queues {
			queues[i].ID = i
		}
		for i := range clients {
			clients[i] = fmt.Sprintf("c%02d", i)
		}
		for s, most := range map[allocation.Strategy]int64{allocation.Averagely{}: got.Averagely, allocation.AveragelyByCircle{}: got.Circle} {
			shares, err := allocation.Share(s, queues, clients)
			if err != nil {
				t.Fatal(err)
			}
			want := int64(0)
			for _, share := range shares {
				sum := int64(0)
				for _, q := range share {
					sum += loads[q.ID]
				}
				want = max(want, sum)
			}
			if most != want {
				t.Fatalf("%s: %d, want %d", s.Name(), most, want)
			}
		}
		if got.Contiguous > got.Averagely || got.Fair > got.Free || got.Heaviest > got.Free || got.ByKeys && got.ByQueues {
			t.Fatalf("%+v", got)
		}
	})
}
