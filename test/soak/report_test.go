// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestJudge(t *testing.T) {
	good := func() result {
		return result{duration: 10 * time.Minute, finished: 10, sent: 100_000, looks: map[string]int{"broker-a": 9000, "broker-b": 600}}
	}
	for name, tc := range map[string]struct {
		change func(*result)
		says   string
	}{
		"all is well":                 {func(*result) {}, ""},
		"one delivery is missing":     {func(r *result) { r.lost = 1 }, "1 deliveries are missing"},
		"one moment":                  {func(r *result) { r.broken = 1 }, "fewer readable than writable"},
		"a broker that nobody saw":    {func(r *result) { r.looks["broker-b"] = 599 }, "looked at broker-b only 599 times"},
		"a message too few":           {func(r *result) { r.sent = 99_999 }, "wants at least 100,000"},
		"a resize too few":            {func(r *result) { r.finished = 9 }, "wants at least 10"},
		"a short run has its share":   {func(r *result) { r.duration, r.sent, r.finished = time.Minute, 10_000, 1 }, ""},
		"a long run need not more":    {func(r *result) { r.duration = time.Hour; r.looks = map[string]int{"broker-a": 3600} }, ""},
		"a short run with too little": {func(r *result) { r.duration, r.sent, r.finished = time.Minute, 9_999, 1 }, "wants at least 10,000"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := good()
			tc.change(&r)
			if err := r.judge(); tc.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			}
		})
	}
}

func TestThousands(t *testing.T) {
	g := NewWithT(t)
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		g.Expect(thousands(n)).To(Equal(want))
	}
}

// TestDiceRepeat shows that a seed fixes the choices of each part by itself.
func TestDiceRepeat(t *testing.T) {
	g := NewWithT(t)
	draw := func(seed uint64, part string) (out []int) {
		dice := (&soak{options: options{seed: seed}}).dice(part)
		for range 20 {
			out = append(out, dice.IntN(1000))
		}
		return out
	}
	g.Expect(draw(7, "servers")).To(Equal(draw(7, "servers")))
	g.Expect(draw(7, "servers")).NotTo(Equal(draw(8, "servers")))
	g.Expect(draw(7, "servers")).NotTo(Equal(draw(7, "clients")))
}
