// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// TestK01_NoWordsThatDeploymentToolsAnswerByDeleting: whoever wrote them.
func TestK01_NoWordsThatDeploymentToolsAnswerByDeleting(t *testing.T) {
	g := NewWithT(t)
	x := group(nil, topic("T", 4))
	x.Members = unknown[[]Member]("broker-a: the field is\nImmutable, an IMMUTABLE  field")
	v := Judge(scale(1, 9, x))
	g.Expect(v.Sentence).To(Equal("9 replicas asked, how many can work is not known (group CG_SHOP_POINTS: its members are not known: broker-a: the field is fixed, an fixed field); not judged"))
	x = group(nil, topic("T", 4))
	x.Topics[0].Object.Name = "immutable"
	g.Expect(Judge(scale(1, 9, x)).Helps[0]).To(ContainSubstring(" immutable -n shop"), "a name stays what it is")
	x.Idle = IdleReplicas{9, "the count is immutable"}
	g.Expect(Judge(scale(1, 9, x)).Notes[0]).To(HaveSuffix(": the count is fixed"))
}

func TestK21_OneLine(t *testing.T) {
	g := NewWithT(t)
	for from, to := range map[string]string{
		"a\nb": "a b", "a\r\n\tb ": "a b", "a\u2028b\u2029c\u0085d": "a b c d", "a\x00b": "a b", "a\xffb": "a?b", "": "", "ok": "ok",
	} {
		g.Expect(clean(from)).To(Equal(to))
	}
}

func TestK28_ShortFormsFit(t *testing.T) {
	g := NewWithT(t)
	long := group(classic(4), topic(strings.Repeat("T", 127), 4))
	long.Name = strings.Repeat("G", 120)
	v := Judge(scale(4, 6, long))
	g.Expect(v.Short).To(Equal("6 replicas asked, 4 can work: set queues.perBroker of Topic orders to 6"), "the help is worth more than the names")
	long.Name = "CG"
	g.Expect(Judge(scale(4, 6, long)).Short).To(Equal("6 replicas asked, 4 can work: group CG reads " + strings.Repeat("T", 127) + " with 4 queues (broker-a 4); set queues.perBroker of Topic orders to 6"))
	long.Topics[0].Object = nil
	g.Expect(Judge(scale(4, 6, long)).Short).To(HaveSuffix("; first give it 6 queues"))
	var many []int64
	for range 20 {
		many = append(many, 1)
	}
	wide := group(classic(4), topic("T", many...))
	g.Expect(Judge(scale(4, 60, wide)).Sentence).To(ContainSubstring("T with 20 queues (broker-a 1, broker-b 1, broker-c 1, broker-d 1, broker-e 1, broker-f 1, broker-g 1, broker-h 1, 12 more brokers) and"))
	wide.Topics = []Topic{topic("A", 4), topic("B", 4), topic("C", 4), topic("D", 4), topic("E", 4)}
	g.Expect(Judge(scale(4, 60, wide)).Sentence).To(ContainSubstring("A with 4 queues (broker-a 4) and B with 4 queues (broker-a 4) and C with 4 queues (broker-a 4) and 2 more topics and its"))
}

func TestClipAndNumber(t *testing.T) {
	g := NewWithT(t)
	g.Expect(clip("abcdef", 7)).To(Equal("abcdef"))
	g.Expect(clip("abcdef", 6)).To(Equal("ab..."))
	g.Expect(clip("aé€bcd", 8)).To(Equal("aé..."), "no character is cut in two")
	g.Expect(number(1234567)).To(Equal("1,234,567"))
	g.Expect(number(-123)).To(Equal("-123"))
	g.Expect(counted(1, "queue")).To(Equal("1 queue"))
	g.Expect(Ref{"", "Pod", "x"}.String()).To(Equal("Pod x"))
}

// anyText are names and reasons as bad as they come.
func anyText(limit int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"x", "is immutable ", "immutable\nfield", "长", "\xff", "name-", "\u2028"}).Draw(t, "word")
		s += rapid.StringN(0, 20, 40).Draw(t, "text")
		s = strings.Repeat(s, rapid.IntRange(1, 20).Draw(t, "times"))
		return s[:min(len(s), limit)]
	})
}

// TestK05_K21_K28_EveryTextKeepsTheRules: one line, without the two phrases, valid,
// and not longer than stated, whatever names and reasons are in it.
func TestK05_K21_K28_EveryTextKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var groups []Group
		for range rapid.IntRange(1, 3).Draw(t, "groups") {
			g := anyGroup(t)
			g.Name, g.Object = anyText(120).Draw(t, "group"), anyText(253).Draw(t, "object")
			for i := range g.Topics {
				g.Topics[i].Name = fmt.Sprint(i) + anyText(126).Draw(t, "topic")
				if g.Topics[i].Object != nil {
					g.Topics[i].Object.Namespace = anyText(63).Draw(t, "namespace")
				}
			}
			g.Idle = IdleReplicas{rapid.Int64Range(0, 3).Draw(t, "idle"), anyText(400).Draw(t, "reason")}
			if rapid.Bool().Draw(t, "lost") {
				g.Members = unknown[[]Member](anyText(2000).Draw(t, "why"))
			}
			groups = append(groups, g)
		}
		ask := scale(rapid.Int64Range(0, 9).Draw(t, "current"), rapid.Int64Range(0, 1<<40).Draw(t, "asked"), groups...)
		ask.Workload.Name = anyText(253).Draw(t, "workload")
		v := Judge(ask)
		var texts []string
		texts = append(texts, v.Helps...)
		texts = append(texts, v.NoHelp...)
		texts = append(texts, v.Notes...)
		texts = append(texts, v.Sentence, v.Short, v.Maximum.Sentence, v.Maximum.Why, v.Maximum.IdleReason)
		warnings := WarnScalers(ask.Workload, v.Maximum, []Scaler{{Kind: "ScaledObject", Name: anyText(253).Draw(t, "scaler"), Max: 1 << 40}, {Kind: "B", Name: "b"}})
		for _, text := range append(texts, warnings...) {
			low := strings.ToLower(text)
			if strings.Contains(low, "is immutable") || strings.Contains(low, "immutable field") {
				t.Fatalf("K01: %q", text)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }) || !utf8.ValidString(text) {
				t.Fatalf("K21: %q", text)
			}
		}
		for _, short := range append(warnings, v.Short) {
			if len(short) >= MaxShort {
				t.Fatalf("K28: %d bytes: %q", len(short), short)
			}
		}
		if len(v.Maximum.Sentence) > MaxSentence || len(v.Sentence) > MaxSentence+len(asked(1<<40)) || v.Maximum.Sentence == "" {
			t.Fatalf("K05: %d bytes: %q", len(v.Maximum.Sentence), v.Maximum.Sentence)
		}
		if (v.Outcome == Allowed) == (v.Sentence != "") && v.Reason != WithinIdleReplicas && v.Reason != MixedRole {
			t.Fatalf("%s with the sentence %q", v.Outcome, v.Sentence)
		}
	})
}
