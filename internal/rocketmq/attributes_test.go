// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestQ28_SignsOfAttributes(t *testing.T) {
	for _, tc := range []struct {
		name            string
		current, wanted map[string]string
		want            string
	}{
		{"none", nil, nil, ""},
		{"set on creation", nil, map[string]string{"message.type": "FIFO"}, "+message.type=FIFO"},
		{"O12 unchanged is left out", map[string]string{"message.type": "FIFO"}, map[string]string{"message.type": "FIFO"}, ""},
		{"changed", map[string]string{"message.type": "FIFO"}, map[string]string{"message.type": "NORMAL"}, "+message.type=NORMAL"},
		{"removed", map[string]string{"message.type": "FIFO"}, nil, "-message.type"},
		{
			"all at once, sorted",
			map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"b": "2", "c": "4", "d": "5"},
			"+c=4,+d=5,-a",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			signed, err := signs(tc.current, tc.wanted)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(signedText(signed)).To(Equal(tc.want))
		})
	}
}

func TestSigns_RefusesWhatTheFormCannotCarry(t *testing.T) {
	for _, attribute := range [][2]string{
		{"", "x"}, {"a", ""}, {"+a", "x"}, {"a-b", "x"}, {"a b", "x"}, {"a,b", "x"}, {"a=b", "x"},
		{"a", "x y"}, {"a", "x,y"}, {"a", "x=y"}, {"a", "x\n"}, {"a\t", "x"},
	} {
		_, err := signs(nil, map[string]string{attribute[0]: attribute[1]})
		NewWithT(t).Expect(err).To(HaveOccurred(), "%q=%q", attribute[0], attribute[1])
	}
}

// applySigned does to a topic's attributes what a broker does with the
// attributes field of call 17 (AttributeParser and alterCurrentAttributes).
func applySigned(current map[string]string, text string) map[string]string {
	after := maps.Clone(current)
	if after == nil {
		after = map[string]string{}
	}
	if text == "" {
		return after
	}
	for part := range strings.SplitSeq(text, ",") {
		if key, ok := strings.CutPrefix(part, "-"); ok {
			delete(after, key)
			continue
		}
		key, value, _ := strings.Cut(strings.TrimPrefix(part, "+"), "=")
		after[key] = value
	}
	return after
}

func attributes() *rapid.Generator[map[string]string] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"message.type", "queue.type", "cleanup.policy", "reserve.time", "lite.topic.expiration"}),
		rapid.StringMatching(`[A-Za-z0-9_.-]{1,8}`), 0, 5)
}

// TestQ28_SignedAttributesLeadToTheWanted is for every pair of maps: the broker
// ends with what was wanted, and nothing is sent when nothing differs.
func TestQ28_SignedAttributesLeadToTheWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		current, wanted := attributes().Draw(t, "current"), attributes().Draw(t, "wanted")
		signed, err := signs(current, wanted)
		if err != nil {
			t.Fatal(err)
		}
		text := signedText(signed)
		if got := applySigned(current, text); !maps.Equal(got, wanted) {
			t.Fatalf("%q turns %v into %v, not into %v", text, current, got, wanted)
		}
		if maps.Equal(current, wanted) != (text == "") {
			t.Fatalf("%q is sent to turn %v into %v", text, current, wanted)
		}
		if len(current) == 0 && strings.Contains(text, ",-") || strings.HasPrefix(text, "-") && len(current) == 0 {
			t.Fatalf("%q removes on creation", text)
		}
	})
}
