// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/test/ledger"
)

const topicA = "TOPIC_A"

func line(event ledger.Event, key, group, note string) string {
	return fmt.Sprintf("1700000000000\t%s\t%s\t%s\t%s\tbroker-a\t3\t7\tid\t\t0\t\tpod\t%s\n", event, key, topicA, group, note)
}

// inTwoGroups follows one ledger file.
func inTwoGroups(t testing.TB) (*tally, func(string)) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pod.ledger")
	return newTally(dir, map[string][]string{topicA: {"G1", "G2"}}), func(text string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTallyCountsEachGroup(t *testing.T) {
	g := NewWithT(t)
	tally, write := inTwoGroups(t)
	write(line(ledger.SentOK, "p.x.0", "PG", "SEND_OK") + line(ledger.SentOK, "p.x.1", "PG", "") +
		line(ledger.SentFail, "p.x.2", "PG", "timeout") + line(ledger.SentOK, "p.x.3", "PG", "FLUSH_DISK_TIMEOUT") +
		line(ledger.Consumed, "p.x.0", "G1", "") + line(ledger.Consumed, "p.x.0", "G1", "") + line(ledger.Refused, "p.x.1", "G1", ""))
	g.Expect(tally.update()).To(Succeed())
	g.Expect(tally.counts()).To(Equal(sums{sent: 2, consumed: 1, duplicates: 1, failed: 1, refused: 1}))
	total, by := tally.lost()
	g.Expect(total).To(Equal(3))
	g.Expect(by).To(Equal(map[string]int{topicA + " G1": 1, topicA + " G2": 2}))
	g.Expect(tally.missing("p.x.0")).To(Equal([]string{"G2"}))
	g.Expect(tally.missing("p.x.1")).To(Equal([]string{"G1", "G2"}))
	g.Expect(tally.missing("p.x.2")).To(BeEmpty(), "its send failed")
	g.Expect(tally.missing("p.x.3")).To(BeEmpty(), "the broker did not promise to keep it")
	g.Expect(tally.missing("nobody")).To(BeEmpty())

	write(line(ledger.Consumed, "p.x.1", "G1", "") + line(ledger.Consumed, "p.x.1", "G2", "") + line(ledger.Consumed, "p.x.0", "G2", ""))
	g.Expect(tally.update()).To(Succeed())
	total, _ = tally.lost()
	g.Expect(total).To(BeZero())
}

func TestTallyReadsWholeLinesOnly(t *testing.T) {
	g := NewWithT(t)
	tally, write := inTwoGroups(t)
	whole := line(ledger.SentOK, "p.x.0", "PG", "")
	write(whole[:20])
	g.Expect(tally.update()).To(Succeed())
	g.Expect(tally.counts().sent).To(BeZero())
	write(whole[20:] + "170000\tsent-ok\tp.x\n")
	g.Expect(tally.update()).To(Succeed())
	g.Expect(tally.counts()).To(Equal(sums{sent: 1, torn: 1}))
}

func TestTallyRefusesForeignKeys(t *testing.T) {
	g := NewWithT(t)
	for _, key := range []string{"nodot", "p.x.y", "p.-1"} {
		tally, write := inTwoGroups(t)
		write(line(ledger.Consumed, key, "G1", ""))
		g.Expect(tally.update()).To(MatchError(ContainSubstring(key)))
	}
}

// TestTallyAgreesWithTheLedger compares the bits with the ledger's own count.
func TestTallyAgreesWithTheLedger(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "tally-")
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		tally := newTally(dir, map[string][]string{topicA: {"G1"}})
		text := ""
		for range rapid.IntRange(0, 200).Draw(r, "lines") {
			event := rapid.SampledFrom([]ledger.Event{ledger.SentOK, ledger.Consumed, ledger.SentFail}).Draw(r, "event")
			group := "G1"
			if event != ledger.Consumed {
				group = "PG"
			}
			text += line(event, fmt.Sprintf("p%d.x.%d", rapid.IntRange(0, 2).Draw(r, "producer"), rapid.IntRange(0, 150).Draw(r, "n")), group, "")
		}
		if err := os.WriteFile(filepath.Join(dir, "pod.ledger"), []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
		all, err := ledger.ReadDir(dir)
		if err != nil {
			r.Fatal(err)
		}
		if err := tally.update(); err != nil {
			r.Fatal(err)
		}
		want := all.Count(ledger.Query{Topic: topicA, Group: "G1"})
		lost, _ := tally.lost()
		got := tally.counts()
		if got.sent != want.Sent || lost != len(want.Lost) || got.duplicates != want.Duplicates || got.consumed != want.ConsumedOnce+want.Unconfirmed {
			r.Fatalf("got %+v lost %d, want %v", got, lost, want)
		}
	})
}
