// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestReadDir(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	whole := Entry{
		Time: time.UnixMilli(1700000000123), Event: SentOK, Key: "p-1", Topic: "T", Group: "P", Broker: "broker-a", Queue: 7,
		Offset: 42, MessageID: "7F", Tag: "PAID", Redelivered: 2, OrderKey: "k1", Client: "p", Note: "SEND_OK",
	}
	write("p.ledger", line(whole))
	write("c.ledger", line(consumed("p-1", "G")))
	write("c.log", "not a ledger\n")
	l, err := ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Torn).To(BeZero())
	g.Expect(l.Entries).To(ContainElement(whole))
	g.Expect(l.Count(Query{Group: "G"}).ConsumedOnce).To(Equal(1))
}

func TestReadFilesMissing(t *testing.T) {
	g := NewWithT(t)
	_, err := ReadFiles(filepath.Join(t.TempDir(), "absent.ledger"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(err).To(MatchError(ContainSubstring("absent.ledger")))
	_, err = ReadDir(filepath.Join(t.TempDir(), "absent"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

// TestAddTorn cuts a line everywhere a killed client can leave it.
func TestAddTorn(t *testing.T) {
	first, second := line(sent("a")), line(sent("b"))
	for cut := 1; cut < len(second); cut++ {
		for _, after := range []string{"", "\n" + line(sent("c"))} {
			t.Run(fmt.Sprintf("%d then %d bytes", cut, len(after)), func(t *testing.T) {
				g := NewWithT(t)
				l := &Ledger{}
				err := l.Add(strings.NewReader(first + second[:cut] + after))
				g.Expect(err).NotTo(HaveOccurred())
				// A cut in the last column, here an empty one, leaves a whole line
				// once the next client has ended it.
				complete := after != "" && strings.Count(second[:cut], "\t") == columns-1
				wantTorn := 1
				if complete {
					wantTorn = 0
				}
				g.Expect(l.Torn).To(Equal(wantTorn))
				g.Expect(keys(l.Entries)[0]).To(Equal("a"))
				if after != "" {
					g.Expect(keys(l.Entries)).To(HaveLen(3 - wantTorn))
				}
			})
		}
	}
}

func TestAddRefusesNonsense(t *testing.T) {
	good := line(sent("a"))
	for name, test := range map[string]struct{ line, want string }{
		"unknown event":    {strings.Replace(good, "sent-ok", "send", 1), `event "send" is unknown`},
		"no time":          {"x" + good, "time"},
		"no queue":         {strings.Replace(good, "\t0\t0\t", "\tq\t0\t", 1), "queue"},
		"no offset":        {strings.Replace(good, "\t0\t0\t", "\t0\to\t", 1), "offset"},
		"no redelivered":   {strings.Replace(good, "\t0\t\t\t\n", "\tr\t\t\t\n", 1), "redelivered"},
		"too many columns": {strings.TrimSuffix(good, "\n") + "\tmore\n", "15 columns"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(test.line).NotTo(Equal(good))
			err := (&Ledger{}).Add(strings.NewReader(good + test.line))
			g.Expect(err).To(MatchError(ContainSubstring("line 2: ")))
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// TestParseAnything: no text makes the reader fail other than by its error.
func TestParseAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		l := &Ledger{}
		if err := l.Add(strings.NewReader(text)); err == nil && len(l.Entries) > strings.Count(text, "\n") {
			t.Fatalf("%d entries from %q", len(l.Entries), text)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	column := rapid.StringMatching(`[^\t\n\r]*`)
	rapid.Check(t, func(t *rapid.T) {
		want := Entry{
			Time:  time.UnixMilli(rapid.Int64Range(0, 1<<45).Draw(t, "time")),
			Event: rapid.SampledFrom([]Event{SentOK, SentFail, Consumed, Refused}).Draw(t, "event"),
			Key:   column.Draw(t, "key"), Topic: column.Draw(t, "topic"), Group: column.Draw(t, "group"),
			Broker: column.Draw(t, "broker"), Queue: rapid.IntRange(-1, 1<<20).Draw(t, "queue"),
			Offset: rapid.Int64Min(-1).Draw(t, "offset"), MessageID: column.Draw(t, "id"), Tag: column.Draw(t, "tag"),
			Redelivered: rapid.IntRange(0, 16).Draw(t, "redelivered"), OrderKey: column.Draw(t, "order"),
			Client: column.Draw(t, "client"), Note: column.Draw(t, "note"),
		}
		l := &Ledger{}
		if err := l.Add(strings.NewReader(line(want))); err != nil {
			t.Fatal(err)
		}
		if l.Torn != 0 || len(l.Entries) != 1 || l.Entries[0] != want {
			t.Fatalf("%+v became %+v", want, l)
		}
	})
}
