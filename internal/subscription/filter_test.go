// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func tag(expression string) Filter { return readTags(expression) }

func TestS10_OrderBlanksAndDuplicatesAreNoFault(t *testing.T) {
	g := NewWithT(t)
	for _, e := range []string{"TagA||TagB", "TagB || TagA", "TagA||TagA||TagB", " TagA ||\tTagB ", "TagA||TagB||", "||TagA|| ||TagB"} {
		g.Expect(tag(e).Equal(tag("TagA||TagB"))).To(BeTrue(), e)
	}
	_, notes, err := Parse(Tag, "TagA || TagA || TagB")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(notes).To(ConsistOf(Remark("the expression names a tag twice; once is enough")))
}

func TestS01_StarIsNotAList(t *testing.T) {
	g := NewWithT(t)
	g.Expect(tag("a").Equal(tag("*"))).To(BeFalse())
	g.Expect(tag("").Equal(tag("*"))).To(BeTrue())
	g.Expect(tag(" * ").Equal(tag("*"))).To(BeFalse(), "with blanks * is a tag of its own")
	g.Expect(tag("TagA||*").Equal(tag("*"))).To(BeFalse())
}

func TestS02_TagIsNotSQL(t *testing.T) {
	g := NewWithT(t)
	same := Filter{Type: SQL92, SQL: "tag1"}
	g.Expect(same.Equal(tag("tag1"))).To(BeFalse())
	g.Expect(tag("tag1").Equal(same)).To(BeFalse())
	g.Expect(same.Equal(same)).To(BeTrue())
	g.Expect(Filter{Type: SQL92, SQL: "a is null"}.Equal(Filter{Type: SQL92, SQL: " a  IS\nNULL"})).To(BeTrue())
	g.Expect(Filter{Type: SQL92, SQL: "a = 'b'"}.Equal(Filter{Type: SQL92, SQL: "a = 'B'"})).To(BeFalse())
}

func TestClassFiltersEqualNothing(t *testing.T) {
	g := NewWithT(t)
	f := Observed(snapshot.Subscription{ExpressionType: "TAG", Expression: "com.example.Filter", ClassFilter: true})
	g.Expect(f.Equal(f)).To(BeFalse())
	g.Expect(f.String()).To(Equal("a class filter"))
	_, _, err := Parse("CLASS", "com.example.Filter")
	g.Expect(err).To(MatchError(ContainSubstring(`filter type "CLASS" is not known`)))
}

func TestS12_WhatReadsOtherwiseThanItLooksIsRefused(t *testing.T) {
	for expression, want := range map[string]string{
		"TagA||*":        "inside a list * is a tag of its own",
		"TagA || *":      "inside a list * is a tag of its own",
		" *":             "only * without blanks does",
		"*||*":           "here * is a tag of its own",
		" ":              "would match no message at all",
		"||":             "would match no message at all",
		" || ":           "would match no message at all",
		"TagA||":         "has an empty part",
		"||TagA":         "has an empty part",
		"TagA||  ||TagB": "has an empty part",
		"TagA|TagB":      "contains a single |",
		"TagA|||TagB":    "contains a single |",
		"TagA ||\tTagB":  "control character beside a tag",
		"TagA ||\n TagB": "control character beside a tag",
		"TagA\u0001||T":  "control character beside a tag",
	} {
		t.Run(expression, func(t *testing.T) {
			_, _, err := Parse(Tag, expression)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
	for expression, want := range map[string]Filter{
		"":             Everything(),
		"*":            Everything(),
		"TagA":         Of("TagA"),
		"B || A":       Of("A", "B"),
		"two words||x": Of("two words", "x"),
		"käse":         Of("käse"),
		"a*":           Of("a*"),
	} {
		t.Run("fine: "+expression, func(t *testing.T) {
			f, notes, err := Parse("", expression)
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(notes).To(BeEmpty())
			g.Expect(f).To(Equal(want))
		})
	}
}

func TestParse_SQL(t *testing.T) {
	g := NewWithT(t)
	f, notes, err := Parse(SQL92, "a > 1 AND b CONTAINS 'x'")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f).To(Equal(Filter{Type: SQL92, SQL: "a > 1 AND b CONTAINS 'x'"}))
	g.Expect(notes).To(ConsistOf(Remark("the expression needs RocketMQ 5 or later for CONTAINS; 4.9 brokers refuse it or stop reading there")))
	_, _, err = Parse(SQL92, "a >")
	g.Expect(err).To(MatchError("brokers would refuse the SQL92 expression: a property, a number, a text or ( is expected before the end"))
	_, _, err = Parse(SQL92, "a = 1 ) garbage")
	g.Expect(err).To(MatchError(ContainSubstring(`stop reading the SQL92 expression before ") garbage"`)))
	_, _, err = Parse(SQL92, "")
	g.Expect(err).To(HaveOccurred(), "clients refuse an empty SQL92 expression")
}

func TestObserved_TakesTheTagsThatTheMemberFiltersBy(t *testing.T) {
	g := NewWithT(t)
	sub := func(expression string, tags ...string) Filter {
		return Observed(snapshot.Subscription{Topic: "T", ExpressionType: "TAG", Expression: expression, Tags: tags})
	}
	g.Expect(sub("B || A", "A", "B")).To(Equal(Of("A", "B")))
	g.Expect(sub("A || B", "A || B")).To(Equal(Of("A || B")), "old Go clients do not split")
	g.Expect(sub("*")).To(Equal(Everything()))
	g.Expect(sub("")).To(Equal(Everything()))
	g.Expect(sub("A||B")).To(Equal(Of("A", "B")), "tags not listed")
	g.Expect(sub(" || ")).To(Equal(Of()), "matches nothing")
	g.Expect(Observed(snapshot.Subscription{ExpressionType: "SQL92", Expression: "a > 1"})).To(Equal(Filter{Type: SQL92, SQL: "a > 1"}))
	g.Expect(Observed(snapshot.Subscription{ExpressionType: "NEW", Expression: "x"}).Equal(sub("x"))).To(BeFalse())
}

func TestFilter_String(t *testing.T) {
	g := NewWithT(t)
	g.Expect(tag("PAID||REFUND").String()).To(Equal("PAID || REFUND"))
	g.Expect(Everything().String()).To(Equal("*"))
	g.Expect(Of().String()).To(Equal("no message"))
	g.Expect(Filter{Type: SQL92, SQL: "a > 1"}.String()).To(Equal("SQL92 (a > 1)"))
	g.Expect(len(tag(strings.Repeat("é", 200)).String())).To(BeNumerically("<=", longest))
}

// hashOf is Java's String.hashCode.
func hashOf(s string) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(unit)
	}
	return h
}

// reference filters one message as a broker and then a Java client do, from
// the expression's text (rocketmq.md 8): the broker by the hash of the tag,
// the client by its text. It shares no code with what it judges.
type reference struct {
	all   bool
	codes map[int32]bool
	tags  map[string]bool
}

func refer(expression string) reference {
	r := reference{codes: map[int32]bool{}, tags: map[string]bool{}}
	if r.all = expression == "" || expression == "*"; r.all {
		return r
	}
	for _, part := range strings.Split(expression, "||") {
		for part != "" && part[0] <= ' ' {
			part = part[1:]
		}
		for part != "" && part[len(part)-1] <= ' ' {
			part = part[:len(part)-1]
		}
		if part != "" {
			r.codes[hashOf(part)], r.tags[part] = true, true
		}
	}
	return r
}

// accepts says whether a message of the tag is consumed; the empty tag is a
// message without one, whose code is 0.
func (r reference) accepts(tag string) bool {
	if r.all {
		return true
	}
	code := int32(0)
	if tag != "" {
		code = hashOf(tag)
	}
	return r.codes[code] && r.tags[tag]
}

// TestS10_EqualIsWhatNoMessageTellsApart: the verdict is equal if and only if
// the sets of accepted messages are, tags with the same hash included.
func TestS10_EqualIsWhatNoMessageTellsApart(t *testing.T) {
	if hashOf("Aa") != hashOf("BB") || hashOf("AaAa") != hashOf("BBAa") || hashOf("TagA") != 2598919 {
		t.Fatal("hashOf is not Java's")
	}
	known := []string{"Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa", "TagA", "TagB", "*", "a b", "|", "ü"}
	part := rapid.OneOf(rapid.SampledFrom(known), rapid.SampledFrom([]string{"", " ", "\t", " Aa", "BB  ", "\nTagA"}))
	expression := rapid.OneOf(
		rapid.SampledFrom([]string{"", "*", " ", " *", "||"}),
		rapid.Map(rapid.SliceOfN(part, 1, 4), func(p []string) string { return strings.Join(p, "||") }),
	)
	equal, unequal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a := expression.Draw(t, "a")
		b := expression.Draw(t, "b")
		if rapid.Bool().Draw(t, "shuffled") {
			parts := rapid.Permutation(strings.Split(a, "||")).Draw(t, "order")
			b = strings.Join(append(slices.Clone(parts), parts[0]), " || ")
			if a == "*" || a == "" {
				b = a
			}
		}
		ra, rb, same := refer(a), refer(b), true
		for _, m := range append([]string{"", "never"}, known...) {
			same = same && ra.accepts(m) == rb.accepts(m)
		}
		if got := readTags(a).Equal(readTags(b)); got != same {
			t.Fatalf("%q and %q: equal %v, same messages %v", a, b, got, same)
		}
		if readTags(a).Equal(readTags(b)) != (readTags(a).key() == readTags(b).key()) {
			t.Fatalf("%q and %q: keys disagree with Equal", a, b)
		}
		if same {
			equal++
		} else {
			unequal++
		}
	})
	if equal == 0 || unequal == 0 {
		t.Errorf("%d equal and %d unequal pairs: one side was never tried", equal, unequal)
	}
}
