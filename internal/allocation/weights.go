// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// ErrTooHeavy means that a sum of weights is more than an int64 holds.
var ErrTooHeavy = errors.New("the weights sum up to more than 2^63-1")

// Assignment says which member takes which item.
type Assignment struct {
	// Owner is the member of each item, by its place.
	Owner []int
	// Loads are the sums of the members.
	Loads []int64
	// Most is the largest of Loads.
	Most int64
}

// LPT shares items freely: the heaviest first, each to the member that has the
// least (longest processing time first). The largest sum is at most 4/3 − 1/(3c)
// of the best possible. It takes O(n log n + n log c) and is deterministic: of
// equals the first in the list goes first.
func LPT(weights []int64, c int) (Assignment, error) {
	if err := checkWeights(weights, c); err != nil {
		return Assignment{}, err
	}
	order := make([]portion, len(weights))
	for i, w := range weights {
		order[i] = portion{w, i}
	}
	slices.SortFunc(order, func(a, b portion) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.place, b.place))
	})
	out := Assignment{Owner: make([]int, len(weights)), Loads: make([]int64, c)}
	// More members than items never come to have an item. In order of places, an
	// array of equal loads is a heap.
	members := make([]portion, min(c, len(weights)))
	for i := range members {
		members[i].place = i
	}
	for _, item := range order {
		least := &members[0]
		if item.weight > math.MaxInt64-least.weight {
			return Assignment{}, ErrTooHeavy
		}
		least.weight += item.weight
		out.Owner[item.place] = least.place
		out.Loads[least.place] = least.weight
		out.Most = max(out.Most, least.weight)
		sink(members)
	}
	return out, nil
}

// portion is a weight and whose it is.
type portion struct {
	weight int64
	place  int
}

func (p portion) lighter(o portion) bool {
	return p.weight < o.weight || p.weight == o.weight && p.place < o.place
}

// sink puts the top of a heap, the lightest first, where it belongs after it grew.
func sink(heap []portion) {
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1].lighter(heap[child]) {
			child++
		}
		if !heap[child].lighter(heap[at]) {
			return
		}
		heap[at], heap[child] = heap[child], heap[at]
		at = child
	}
}

// Partition shares items as consecutive parts so that the largest sum of a part
// is the smallest possible, and returns the c parts and that sum. Parts at the
// end may be empty. It searches the sum by halving and checks each candidate
// greedily: O(n log(largest weight)).
func Partition(weights []int64, c int) ([]Range, int64, error) {
	if err := checkWeights(weights, c); err != nil {
		return nil, 0, err
	}
	// No part can be less than the heaviest item or the mean, and filling parts
	// up to their sum always succeeds: every full part holds more than the mean.
	heaviest, mean := int64(0), meanOf(weights, c)
	for _, w := range weights {
		heaviest = max(heaviest, w)
	}
	low, high := max(heaviest, mean), int64(math.MaxInt64)
	if heaviest <= math.MaxInt64-mean {
		high = heaviest + mean
	} else if !Fits(weights, c, high) {
		return nil, 0, ErrTooHeavy
	}
	for low < high {
		middle := low + (high-low)/2
		if Fits(weights, c, middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	parts := make([]Range, 0, c)
	start, sum := 0, int64(0)
	for i, w := range weights {
		if w > low-sum {
			parts = append(parts, Range{int64(start), int64(i)})
			start, sum = i, 0
		}
		sum += w
	}
	parts = append(parts, Range{int64(start), int64(len(weights))})
	for end := int64(len(weights)); len(parts) < c; {
		parts = append(parts, Range{end, end})
	}
	return parts, low, nil
}

// Fits reports whether the items fit into c consecutive parts none of which is
// heavier than limit. It never adds past limit, so it cannot overflow. Weights
// must not be negative.
func Fits(weights []int64, c int, limit int64) bool {
	if c <= 0 || limit < 0 {
		return false
	}
	parts, sum := 1, int64(0)
	for _, w := range weights {
		if w > limit {
			return false
		}
		if w > limit-sum {
			if parts++; parts > c {
				return false
			}
			sum = 0
		}
		sum += w
	}
	return true
}

// meanOf is the sum divided by c, rounded up, computed in 128 bits; at most
// 2^63-1 is returned.
func meanOf(weights []int64, c int) int64 {
	var high, low, carry uint64
	for _, w := range weights {
		low, carry = bits.Add64(low, uint64(w), 0)
		high += carry
	}
	low, carry = bits.Add64(low, uint64(c-1), 0)
	high += carry
	if high >= uint64(c) {
		return math.MaxInt64
	}
	mean, _ := bits.Div64(high, low, uint64(c))
	return int64(min(mean, math.MaxInt64))
}

func checkWeights(weights []int64, c int) error {
	if c <= 0 {
		return fmt.Errorf("%d is no number of members: want 1 or more", c)
	}
	for i, w := range weights {
		if w < 0 {
			return fmt.Errorf("the weight %d of item %d is negative", w, i)
		}
	}
	return nil
}
