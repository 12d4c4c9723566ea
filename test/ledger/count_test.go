// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// line writes a ledger line as clients do.
func line(e Entry) string {
	return strings.Join([]string{
		fmt.Sprint(e.Time.UnixMilli()), string(e.Event), e.Key, e.Topic, e.Group, e.Broker, fmt.Sprint(e.Queue),
		fmt.Sprint(e.Offset), e.MessageID, e.Tag, fmt.Sprint(e.Redelivered), e.OrderKey, e.Client, e.Note,
	}, "\t") + "\n"
}

func sent(key string) Entry { return Entry{Event: SentOK, Key: key, Topic: "T", Group: "P"} }
func consumed(key, group string) Entry {
	return Entry{Event: Consumed, Key: key, Topic: "T", Group: group}
}

func keys(entries []Entry) []string {
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Key)
	}
	return all
}

func TestCount(t *testing.T) {
	failed := Entry{Event: SentFail, Key: "f", Topic: "T"}
	refused := Entry{Event: Refused, Key: "a", Topic: "T", Group: "G"}
	for _, test := range []struct {
		name    string
		entries []Entry
		query   Query
		want    string
		lost    []string
	}{
		{
			name: "nothing",
			want: "sent 0   consumed at least once 0   lost 0   duplicates 0",
		},
		{
			name:    "everything once",
			entries: []Entry{sent("a"), sent("b"), consumed("a", "G"), consumed("b", "G")},
			want:    "sent 2   consumed at least once 2   lost 0   duplicates 0",
		},
		{
			name:    "lost ones are listed in the order of sending",
			entries: []Entry{sent("c"), sent("b"), sent("a"), consumed("b", "G")},
			want:    "sent 3   consumed at least once 1   lost 2   duplicates 0",
			lost:    []string{"a", "c"},
		},
		{
			name:    "two more deliveries are two duplicates and no more consumption",
			entries: []Entry{sent("a"), consumed("a", "G"), consumed("a", "G"), consumed("a", "G")},
			want:    "sent 1   consumed at least once 1   lost 0   duplicates 2",
		},
		{
			name:    "consumed before its sender noted it",
			entries: []Entry{consumed("a", "G"), sent("a")},
			want:    "sent 1   consumed at least once 1   lost 0   duplicates 0",
		},
		{
			name:    "a failed send is not lost when nobody got it",
			entries: []Entry{failed},
			want:    "sent 0   consumed at least once 0   lost 0   duplicates 0   sends failed 1",
		},
		{
			name:    "a failed send that arrived does not stand in for a lost one",
			entries: []Entry{failed, consumed("f", "G"), sent("a")},
			want: "sent 1   consumed at least once 0   lost 1   duplicates 0   sends failed 1" +
				"   consumed without a confirmed send 1",
			lost: []string{"a"},
		},
		{
			name:    "refused is not consumed",
			entries: []Entry{sent("a"), refused},
			want:    "sent 1   consumed at least once 0   lost 1   duplicates 0   refused 1",
			lost:    []string{"a"},
		},
		{
			name:    "one group's consumption is not another's",
			entries: []Entry{sent("a"), consumed("a", "G"), refused},
			query:   Query{Group: "H"},
			want:    "sent 1   consumed at least once 0   lost 1   duplicates 0",
			lost:    []string{"a"},
		},
		{
			name:    "two groups are no duplicate of one another",
			entries: []Entry{sent("a"), consumed("a", "G"), consumed("a", "H")},
			query:   Query{Group: "G"},
			want:    "sent 1   consumed at least once 1   lost 0   duplicates 0",
		},
		{
			name:    "another topic is left out",
			entries: []Entry{sent("a"), consumed("a", "G")},
			query:   Query{Topic: "U"},
			want:    "sent 0   consumed at least once 0   lost 0   duplicates 0",
		},
		{
			name: "only tags that the group filters for can be lost",
			entries: []Entry{
				{Event: SentOK, Key: "p", Topic: "T", Tag: "PAID"},
				{Event: SentOK, Key: "r", Topic: "T", Tag: "REFUND"},
				{Event: Consumed, Key: "p", Topic: "T", Tag: "PAID", Group: "G"},
			},
			query: Query{Group: "G", Tags: []string{"PAID"}},
			want:  "sent 1   consumed at least once 1   lost 0   duplicates 0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			counts := (&Ledger{Entries: test.entries}).Count(test.query)
			g.Expect(counts.String()).To(Equal(test.want))
			g.Expect(keys(counts.Lost)).To(ConsistOf(toAny(test.lost)...))
			g.Expect(strings.Join(keys(counts.Lost), "")).To(Equal(strings.Join(test.lost, "")))
		})
	}
}

func toAny(texts []string) []any {
	all := []any{}
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}

func TestCountQueues(t *testing.T) {
	g := NewWithT(t)
	at := func(e Entry, broker string, queue int) Entry {
		e.Broker, e.Queue = broker, queue
		return e
	}
	l := &Ledger{Entries: []Entry{
		at(sent("a"), "broker-a", 1), at(sent("b"), "broker-a", 1), at(sent("c"), "broker-b", 1), at(sent("d"), "", Unknown),
		at(consumed("a", "G"), "broker-a", 1), at(consumed("a", "G"), "broker-a", 2), at(consumed("d", "G"), "broker-b", 1),
	}}
	g.Expect(l.Count(Query{}).Queues).To(Equal(map[QueueKey]QueueCounts{
		{Topic: "T", Broker: "broker-a", Queue: 1}: {Sent: 2, Consumed: 1, Lost: 1},
		{Topic: "T", Broker: "broker-b", Queue: 1}: {Sent: 1, Consumed: 1, Lost: 1},
		{Topic: "T", Broker: "", Queue: Unknown}:   {Sent: 1},
	}))
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 61204: "61,204", 1234567: "1,234,567"} {
		NewWithT(t).Expect(thousands(n)).To(Equal(want))
	}
}

// TestCountBalances draws runs whose outcome is known by construction.
func TestCountBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deliveries := rapid.SliceOf(rapid.IntRange(0, 4)).Draw(t, "deliveries")
		var entries []Entry
		lost, duplicates := 0, 0
		for i, n := range deliveries {
			key := fmt.Sprint(i)
			entries = append(entries, sent(key))
			for range n {
				entries = append(entries, consumed(key, "G"))
			}
			if n == 0 {
				lost++
			}
			duplicates += max(0, n-1)
		}
		entries = rapid.Permutation(entries).Draw(t, "order")
		c := (&Ledger{Entries: entries}).Count(Query{Topic: "T", Group: "G"})
		if c.Sent != len(deliveries) || c.ConsumedOnce+len(c.Lost) != c.Sent || len(c.Lost) != lost || c.Duplicates != duplicates {
			t.Fatalf("%v from %v", c, deliveries)
		}
		var queues QueueCounts
		for _, q := range c.Queues {
			queues.Sent += q.Sent
			queues.Lost += q.Lost
			queues.Consumed += q.Consumed
		}
		if queues.Sent != c.Sent || queues.Lost != lost || queues.Consumed != c.ConsumedOnce {
			t.Fatalf("queues %+v do not add up to %v", queues, c)
		}
	})
}
