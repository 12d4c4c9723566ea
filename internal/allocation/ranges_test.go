// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

func TestRanges_Vectors(t *testing.T) {
	for _, tc := range []struct {
		n, c int64
		want string
	}{
		{8, 3, "[0,3) [3,6) [6,8)"},
		{2, 4, "[0,1) [1,2) [2,2) [2,2)"},
		{10, 4, "[0,3) [3,6) [6,8) [8,10)"},
		{0, 3, "[0,0) [0,0) [0,0)"},
		{5, 1, "[0,5)"},
		{4, 4, "[0,1) [1,2) [2,3) [3,4)"},
		{1, 2, "[0,1) [1,1)"},
		{math.MaxInt32, 2, "[0,1073741824) [1073741824,2147483647)"},
		{math.MaxInt64, 2, "[0,4611686018427387904) [4611686018427387904,9223372036854775807)"},
	} {
		t.Run(fmt.Sprint(tc.n, "/", tc.c), func(t *testing.T) {
			g := NewWithT(t)
			ranges, err := allocation.Ranges(tc.n, tc.c)
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, r := range ranges {
				got = append(got, r.String())
			}
			g.Expect(strings.Join(got, " ")).To(Equal(tc.want))
		})
	}
}

func TestRangeAt_Vector(t *testing.T) {
	g := NewWithT(t)
	r, err := allocation.RangeAt(8, 3, 2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r).To(Equal(allocation.Range{Start: 6, End: 8}))
	g.Expect(r.Len()).To(Equal(int64(2)))
}

func TestRanges_Refuse(t *testing.T) {
	g := NewWithT(t)
	for _, tc := range []struct {
		n, c int64
		want string
	}{
		{8, 0, "0 is no number of members: want 1 or more"},
		{8, -3, "-3 is no number of members: want 1 or more"},
		{0, 0, "0 is no number of members: want 1 or more"},
		{-1, 3, "-1 is no number of queues: want 0 or more"},
		{math.MinInt64, math.MinInt64, "-9223372036854775808 is no number of queues: want 0 or more"},
	} {
		_, err := allocation.Ranges(tc.n, tc.c)
		g.Expect(err).To(MatchError(tc.want))
		_, err = allocation.EachRange(tc.n, tc.c)
		g.Expect(err).To(MatchError(tc.want))
		_, err = allocation.RangeAt(tc.n, tc.c, 0)
		g.Expect(err).To(MatchError(tc.want))
		_, err = allocation.MemberAt(tc.n, tc.c, 0)
		g.Expect(err).To(MatchError(tc.want))
	}
	_, err := allocation.Ranges(8, math.MaxInt32+1)
	g.Expect(err).To(MatchError(ContainSubstring("use EachRange")))
	for _, i := range []int64{-1, 3, math.MaxInt64} {
		_, err := allocation.RangeAt(8, 3, i)
		g.Expect(err).To(MatchError(ContainSubstring("want 0 to 2")))
	}
	for _, queue := range []int64{-1, 8} {
		_, err := allocation.MemberAt(8, 3, queue)
		g.Expect(err).To(MatchError(ContainSubstring("there is no queue")))
	}
}

// counts draws numbers of queues of any size, the ends included.
func counts(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(math.MaxInt32-3, math.MaxInt32+3),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "n")
}

// The ranges cover all queues, do not overlap, differ by one at most, do not
// grow along the members, and are the same in all three forms.
func TestRanges_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := counts(t), rapid.Int64Range(1, 300).Draw(t, "c")
		ranges, err := allocation.Ranges(n, c)
		if err != nil || int64(len(ranges)) != c {
			t.Fatalf("%d ranges, %v", len(ranges), err)
		}
		at, last := int64(0), int64(math.MaxInt64)
		for i, r := range ranges {
			if r.Start != at || r.Len() < 0 || r.Len() > last || ranges[0].Len()-r.Len() > 1 {
				t.Fatalf("range %d of %d/%d is %s after %d of length %d", i, n, c, r, at, last)
			}
			if one, err := allocation.RangeAt(n, c, int64(i)); err != nil || one != r {
				t.Fatalf("RangeAt %d is %s, %v; Ranges has %s", i, one, err, r)
			}
			for _, queue := range []int64{r.Start, r.End - 1} {
				if r.Len() == 0 {
					break
				}
				if owner, err := allocation.MemberAt(n, c, queue); err != nil || owner != int64(i) {
					t.Fatalf("MemberAt(%d, %d, %d) is %d, %v; want %d", n, c, queue, owner, err, i)
				}
			}
			at, last = r.End, r.Len()
		}
		if at != n {
			t.Fatalf("%d of %d queues are covered", at, n)
		}
		all, err := allocation.EachRange(n, c)
		if err != nil {
			t.Fatal(err)
		}
		seen := int64(0)
		for i, r := range all {
			if i != seen || r != ranges[i] {
				t.Fatalf("EachRange gives %d %s after %d, want %s", i, r, seen, ranges[i])
			}
			seen++
		}
		if seen != c {
			t.Fatalf("EachRange ends after %d of %d", seen, c)
		}
	})
}

// One range is right for any number of members, also where no list could be made.
func TestRangeAt_AgainstArithmeticWithoutBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := counts(t)
		c := rapid.Int64Range(1, math.MaxInt64).Draw(t, "c")
		i := rapid.Int64Range(0, c-1).Draw(t, "i")
		got, err := allocation.RangeAt(n, c, i)
		if err != nil {
			t.Fatal(err)
		}
		// Java's own formula: mod, average size, start, number.
		N, C, I := big.NewInt(n), big.NewInt(c), big.NewInt(i)
		size, mod := new(big.Int).DivMod(N, C, new(big.Int))
		switch {
		case n <= c:
			size.SetInt64(1)
		case I.Cmp(mod) < 0:
			size.Add(size, big.NewInt(1))
		}
		start := new(big.Int).Mul(I, size)
		if I.Cmp(mod) >= 0 {
			start.Add(start, mod)
		}
		number := new(big.Int).Sub(N, start)
		if number.Cmp(size) > 0 {
			number = size
		}
		if number.Sign() <= 0 {
			if got != (allocation.Range{Start: n, End: n}) {
				t.Fatalf("%d/%d member %d has %s, want nothing", n, c, i, got)
			}
			return
		}
		if got.Start != start.Int64() || got.Len() != number.Int64() {
			t.Fatalf("%d/%d member %d has %s, want %s from %s", n, c, i, got, number, start)
		}
	})
}

// More members never get a member more queues, more queues never fewer.
func TestRanges_Monotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.Int64Range(0, math.MaxInt32).Draw(t, "n"), rapid.Int64Range(1, 1<<20).Draw(t, "c")
		i := rapid.Int64Range(0, c-1).Draw(t, "i")
		r, _ := allocation.RangeAt(n, c, i)
		more, _ := allocation.RangeAt(n, c+1, i)
		wider, _ := allocation.RangeAt(n+1, c, i)
		if more.Len() > r.Len() || wider.Len() < r.Len() {
			t.Fatalf("%s with %d/%d, %s with a member more, %s with a queue more", r, n, c, more, wider)
		}
	})
}

func TestEachRange_StopsWhenAsked(t *testing.T) {
	g := NewWithT(t)
	all, err := allocation.EachRange(math.MaxInt64, math.MaxInt64)
	g.Expect(err).NotTo(HaveOccurred())
	last := int64(-1)
	for i := range all {
		if last = i; i == 9 {
			break
		}
	}
	g.Expect(last).To(Equal(int64(9)))
}

func TestRanges_AllocateNothingForAQueue(t *testing.T) {
	g := NewWithT(t)
	sum := int64(0)
	g.Expect(testing.AllocsPerRun(10, func() {
		ranges, _ := allocation.Ranges(math.MaxInt32, 1000)
		sum += ranges[999].End
	})).To(Equal(1.0), "the list of ranges")
	few := testing.AllocsPerRun(10, func() { sum += goThrough(math.MaxInt32, 10) })
	many := testing.AllocsPerRun(10, func() { sum += goThrough(math.MaxInt32, 100_000) })
	g.Expect(many).To(Equal(few), "nothing for a member")
	g.Expect(testing.AllocsPerRun(10, func() {
		r, _ := allocation.RangeAt(math.MaxInt32, 1_000_000, 999_999)
		sum += r.End
	})).To(BeZero())
}

func goThrough(n, c int64) int64 {
	all, _ := allocation.EachRange(n, c)
	end := int64(0)
	for _, r := range all {
		end = r.End
	}
	return end
}

func FuzzRangeAt(f *testing.F) {
	f.Add(int64(8), int64(3), int64(2))
	f.Add(int64(math.MaxInt64), int64(1), int64(0))
	f.Fuzz(func(t *testing.T, n, c, i int64) {
		r, err := allocation.RangeAt(n, c, i)
		if (err != nil) != (n < 0 || c <= 0 || i < 0 || i >= c) {
			t.Fatalf("RangeAt(%d, %d, %d): %v", n, c, i, err)
		}
		if err != nil {
			return
		}
		if r.Start < 0 || r.End < r.Start || r.End > n || i == 0 && r.Start != 0 || i == c-1 && r.End != n {
			t.Fatalf("RangeAt(%d, %d, %d) = %s", n, c, i, r)
		}
		if i+1 < c {
			if next, _ := allocation.RangeAt(n, c, i+1); next.Start != r.End {
				t.Fatalf("%s is followed by %s", r, next)
			}
		}
	})
}
