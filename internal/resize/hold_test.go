// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestHold_SaysWhatItWaitsFor(t *testing.T) {
	where := []QueueRef{{"broker-b", 97}, {"broker-a", 70}}
	for _, c := range []struct {
		hold        Hold
		short, long string
	}{
		{Hold{Reason: ReasonUnread, Group: "CG_SHOP_POINTS", Queue: NoQueue, Count: 1204, Where: where, More: 7, Of: 128},
			"CG_SHOP_POINTS: about 1,200 messages left in 9 queues",
			"9 of 128 retiring queues hold about 1,200 messages for CG_SHOP_POINTS (broker-b/97, broker-a/70, 7 more)"},
		{Hold{Reason: ReasonStillGrowing, Broker: "broker-b", Queue: 11, Where: []QueueRef{{"broker-b", 11}}, Of: 8, Wait: time.Minute},
			"broker-b/11 still growing",
			"1 of 8 retiring queues have not stood still for 60 s (broker-b/11): some producer still sends there"},
		{Hold{Reason: ReasonRouteAge, Queue: NoQueue, Count: 33, Wait: 20 * time.Second},
			"old routes to age, about 20 s", "producers may use a route of up to 33 s ago; 20 s to go"},
		{Hold{Reason: ReasonRetiredWatched, Queue: NoQueue, Of: 128, Until: epoch},
			"late messages until 2026-01-01 00:00 UTC", "128 queues retired, watched for late messages until 2026-01-01 00:00 UTC"},
		{Hold{Reason: ReasonUnknown, Broker: "broker-b", Queue: NoQueue, Why: "did not answer call 43 within 5s"},
			"an answer of broker-b", "broker-b: did not answer call 43 within 5s"},
		{Hold{Reason: ReasonGroupReadsNoMore, Group: "CG_OLD", Queue: NoQueue, Count: 1, Where: where[:1], Of: 8},
			"CG_OLD: 1 message left in 1 queue",
			"group CG_OLD is online but no longer reads the topic, and has 1 message unread in retiring queues (broker-b/97); let it subscribe again, or stop it and add it to spec.resize.waivers"},
	} {
		g := NewWithT(t)
		g.Expect(c.hold.Short()).To(Equal(c.short))
		g.Expect(c.hold.Long()).To(Equal(c.long))
	}
}

func TestHold_EveryReasonHasItsWordsAndStaysShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Hold{Reason: rapid.SampledFrom([]Reason{
			ReasonInvalidSpec, ReasonRefusedTopic, ReasonOrderedTopic, ReasonAdoptedLarger, ReasonAwaitingApproval, ReasonForeignChange,
			ReasonGroupOffline, ReasonOffsetBeyondEnd, ReasonLogLostTail, ReasonPullOnlyReader, ReasonUnread, ReasonSettling, ReasonLateWindow,
			ReasonLatePending, ReasonInvisible, ReasonNoEntry, ReasonHistory, FindingStranded, FindingLateMessage,
		}).Draw(t, "reason"), Broker: "broker-a", Queue: rapid.IntRange(NoQueue, 9).Draw(t, "queue"), Group: strings.Repeat("G", 120),
			Count: rapid.Int64Range(0, 1<<50).Draw(t, "count"), Why: "why"}
		for range MaxOdd {
			h.Where = append(h.Where, QueueRef{"broker-name-of-some-length", 1000})
		}
		h.More = 10_000
		if h.Long() == "" || h.Short() == "" || len(h.Long()) > 1024 || len(h.Short()) > 256 {
			t.Fatalf("short %q, long %q", h.Short(), h.Long())
		}
	})
}

func TestHold_NumbersMoveInCoarseBuckets(t *testing.T) {
	g := NewWithT(t)
	for n, want := range map[int64]string{0: "0 messages", 1: "1 message", 99: "99 messages", 101: "about 100 messages",
		1204: "about 1,200 messages", 1299: "about 1,200 messages", 98765432: "about 98,000,000 messages"} {
		g.Expect(about(n)).To(Equal(want))
	}
	g.Expect(number(-1234567)).To(Equal("-1,234,567"))
}

// TestK05_RecordStaysSmall at 128 queues on 10 brokers.
func TestK05_RecordStaysSmall(t *testing.T) {
	g := NewWithT(t)
	p := &pass{}
	p.next.Record.Brokers = map[string]BrokerRecord{}
	var lost []GivenUp
	for b := range 10 {
		s := Shown{true, 128, 128, 6}
		p.next.Record.Brokers[fmt.Sprintf("broker-with-a-name-%d", b)] = BrokerRecord{From: s, Last: s, Before: s, Sent: s, ProvenLow: 64, ProvenHigh: 128}
		for q := range 128 {
			lost = append(lost, GivenUp{Group: "CG_SOME_GROUP", Broker: fmt.Sprintf("broker-with-a-name-%d", b), Queue: q, Messages: 1 << 40})
		}
	}
	p.giveUp(lost)
	text, err := json.Marshal(p.next.Record)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(text)).To(BeNumerically("<", 6<<10))
	g.Expect(p.next.Record.GivenUp).To(HaveLen(MaxOdd))
	g.Expect(p.next.Note.GivenUp).To(HaveLen(1280), "every queue is kept, outside status")
	g.Expect(p.next.Record.GivenUpTotal).To(BeEquivalentTo(int64(1280) << 40))
}
