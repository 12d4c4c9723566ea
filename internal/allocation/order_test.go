// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"cmp"
	"slices"
	"testing"
	"unicode/utf16"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		want       int
	}{
		{"equal", "a", "a", 0},
		{"both empty", "", "", 0},
		{"a prefix is less", "a", "ab", -1},
		{"addresses are text, not numbers", "10.0.0.10@1", "10.0.0.2@1", -1},
		{"an address that begins another is the greater: @ comes after digits", "10.0.0.1@1", "10.0.0.10@1", 1},
		{"capitals come first", "B", "a", -1},
		{"beyond U+FFFF is before U+FF01", "\U0001F600", "\uFF01", -1},
		{"beyond U+FFFF is before U+E000", "x\U00010000", "x\uE000", -1},
		{"beyond U+FFFF is after U+D7FF", "\U00010000", "\uD7FF", 1},
		{"two beyond U+FFFF", "\U0001F600", "\U00020000", -1},
		{"U+E000 before U+F000", "\uE000", "\uF000", -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(allocation.Compare(tc.a, tc.b)).To(Equal(tc.want))
			g.Expect(allocation.Compare(tc.b, tc.a)).To(Equal(-tc.want))
		})
	}
}

// utf16Order is the order by definition.
func utf16Order(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// interesting are runes about which the orders of bytes and code units differ.
func interesting() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab@#-.019|{é订\uD7FF\uE000\uFF01\uFFFF\U00010000\U0001F600\U0010FFFF")))
}

func TestCompare_IsUTF16Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.OneOf(interesting(), rapid.String())
		a, b := pick.Draw(t, "a"), pick.Draw(t, "b")
		if got, want := allocation.Compare(a, b), utf16Order(a, b); got != want {
			t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func FuzzCompare(f *testing.F) {
	f.Add("\U0001F600", "\uFF01")
	f.Add("10.0.0.10@1#1", "10.0.0.2@1#1")
	f.Fuzz(func(t *testing.T, a, b string) {
		// Names come from decoded JSON and are valid.
		a, b = string([]rune(a)), string([]rune(b))
		if got, want := allocation.Compare(a, b), utf16Order(a, b); got != want {
			t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func TestSortQueues(t *testing.T) {
	g := NewWithT(t)
	want := []allocation.Queue{
		{Topic: "A", Broker: "z", ID: 0},
		{Topic: "T", Broker: "b-10", ID: 2},
		{Topic: "T", Broker: "b-2", ID: 2},
		{Topic: "T", Broker: "b-2", ID: 10}, // ids are numbers, names are not
		{Topic: "T", Broker: "\U0001F600", ID: 0},
		{Topic: "T", Broker: "\uFF01", ID: 0},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	allocation.SortQueues(got)
	g.Expect(got).To(Equal(want))
	g.Expect(cmp.Compare("\U0001F600", "\uFF01")).To(Equal(1), "Go's order of bytes is the other way round")
}

func TestQueueText(t *testing.T) {
	NewWithT(t).Expect(allocation.Queue{Topic: "TopicTest", Broker: "broker-a", ID: 7}.String()).
		To(Equal("MessageQueue [topic=TopicTest, brokerName=broker-a, queueId=7]"))
}
