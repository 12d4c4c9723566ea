// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"iter"
	"math"
)

// Range is the queues of one member by their places in the sorted list: from
// Start up to, not including, End.
type Range struct{ Start, End int64 }

// Len is the number of queues.
func (r Range) Len() int64 { return r.End - r.Start }

// String is the usual notation, "[0,3)".
func (r Range) String() string { return fmt.Sprintf("[%d,%d)", r.Start, r.End) }

// MaxMembers bounds what Ranges builds: the clients' own list is a Java list.
const MaxMembers = math.MaxInt32

// RangeAt is what the AVG strategy gives the member at the place i of the sorted
// client ids when n queues are shared by c members (rocketmq.md 6). It takes
// constant time. A member without a queue has an empty range at n.
func RangeAt(n, c, i int64) (Range, error) {
	if err := checkRanges(n, c); err != nil {
		return Range{}, err
	}
	if i < 0 || i >= c {
		return Range{}, fmt.Errorf("there is no member %d among %d: want 0 to %d", i, c, c-1)
	}
	return rangeAt(n/c, n%c, i), nil
}

// rangeAt: the first rem members get one queue more than size. No term exceeds
// n, so nothing overflows.
func rangeAt(size, rem, i int64) Range {
	start := i*size + min(i, rem)
	end := start + size
	if i < rem {
		end++
	}
	return Range{start, end}
}

// Ranges are the ranges of all c members, in order.
func Ranges(n, c int64) ([]Range, error) {
	if err := checkRanges(n, c); err != nil {
		return nil, err
	}
	if c > MaxMembers {
		return nil, fmt.Errorf("%d members are more than a client's list holds (%d); use EachRange", c, MaxMembers)
	}
	out := make([]Range, c)
	size, rem := n/c, n%c
	at := int64(0)
	for i := range out {
		end := at + size
		if int64(i) < rem {
			end++
		}
		out[i] = Range{at, end}
		at = end
	}
	return out, nil
}

// EachRange goes through the members and their ranges, in order, and allocates
// nothing for a member.
func EachRange(n, c int64) (iter.Seq2[int64, Range], error) {
	if err := checkRanges(n, c); err != nil {
		return nil, err
	}
	return func(yield func(int64, Range) bool) {
		size, rem := n/c, n%c
		at := int64(0)
		for i := range c {
			end := at + size
			if i < rem {
				end++
			}
			if !yield(i, Range{at, end}) {
				return
			}
			at = end
		}
	}, nil
}

// MemberAt is the place of the member to which AVG gives the queue at a place of
// the sorted list, in constant time: the inverse of RangeAt.
func MemberAt(n, c, queue int64) (int64, error) {
	if err := checkRanges(n, c); err != nil {
		return 0, err
	}
	if queue < 0 || queue >= n {
		return 0, fmt.Errorf("there is no queue %d among %d", queue, n)
	}
	size, rem := n/c, n%c
	// The first rem members hold size+1 each.
	larger := rem * (size + 1)
	if queue < larger {
		return queue / (size + 1), nil
	}
	return rem + (queue-larger)/size, nil
}

func checkRanges(n, c int64) error {
	switch {
	case n < 0:
		return fmt.Errorf("%d is no number of queues: want 0 or more", n)
	case c <= 0:
		return fmt.Errorf("%d is no number of members: want 1 or more", c)
	}
	return nil
}
