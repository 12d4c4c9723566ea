// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestClip(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly8", 9, "exactly8"},
		{"much too long", 8, "much t…"},
		{"✔ with signs", 7, "✔ wit…"},
		{"\x1b[32m✔\x1b[0m coloured", 6, "\x1b[32m✔\x1b[0m co…\x1b[0m"},
		{"no terminal", 0, "no terminal"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			NewWithT(t).Expect(clip(tc.line, tc.width)).To(Equal(tc.want))
		})
	}
}

func TestScreen_BlockIsDrawnInPlace(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	s := &screen{out: &out, width: 40}
	s.block([]string{"one", "two"})
	s.block([]string{"one", "TWO"})
	g.Expect(out.String()).To(Equal("one\ntwo\n\x1b[2A\x1b[Jone\nTWO\n"))
	out.Reset()
	s.line("above")
	g.Expect(out.String()).To(HavePrefix("\x1b[2A\x1b[J"), "a line goes above the block")
	out.Reset()
	s.block([]string{"done"})
	s.keepBlock()
	s.line("below")
	g.Expect(out.String()).To(Equal("done\nbelow\n"))
}

func TestScreen_PlainWithoutTerminal(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	s := &screen{out: &out}
	s.line("%s", s.paint(green, "plain"))
	s.text("  ", "a\nb\n")
	g.Expect(out.String()).To(Equal("plain\n  a\n  b\n"))
	g.Expect(s.live()).To(BeFalse())
}

func TestBar(t *testing.T) {
	g := NewWithT(t)
	for share, full := range map[float64]int{-1: 0, 0: 0, 0.5: 10, 1: 20, 2: 20} {
		g.Expect(strings.Count(bar(share), "█")).To(Equal(full))
		g.Expect([]rune(bar(share))).To(HaveLen(20))
	}
}

func TestShort(t *testing.T) {
	g := NewWithT(t)
	g.Expect(short(300 * time.Millisecond)).To(Equal("0.3 s"))
	g.Expect(short(94 * time.Second)).To(Equal("94 s"))
	g.Expect(short(125 * time.Second)).To(Equal("2 min 5 s"))
}
