// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"os"
)

// trace prints a decision and the world, for following one failing run: set
// LOCKSTEP_TRACE and name rapid's fail file.
func (r *run) trace(what string, d *Decision) {
	if os.Getenv("LOCKSTEP_TRACE") == "" {
		return
	}
	fmt.Printf("%5.0fs %s", r.w.Now.Sub(epoch).Seconds(), what)
	if d != nil {
		fmt.Printf(" stage=%s step=%s %v seeds=%v holds=%v findings=%v", d.Stage, d.Step.Kind, d.Step.Changes, d.Step.Seeds, d.Holds, d.Findings)
		for b, c := range d.Next.Note.Cuts {
			fmt.Printf(" cut[%s %d-%d base %v over %v end %v]", b, c.To, c.From, c.Base, c.Over, c.End.Sub(epoch).Seconds())
		}
	}
	for _, b := range r.w.Brokers {
		fmt.Printf(" | %s up=%v r%d w%d", b.Name, b.Up, b.Read, b.Write)
		for q, m := range b.Queues {
			if len(m.Messages) > 0 {
				fmt.Printf(" q%d:%d/%d@%v", q, m.Shown, len(m.Messages), m.Messages[len(m.Messages)-1].Landed.Sub(epoch).Seconds())
			}
		}
	}
	for _, g := range r.w.Groups {
		fmt.Printf(" | %s k%d on=%v c=%v l=%v", g.Name, g.Kind, g.Online, g.Committed, g.Local)
	}
	fmt.Println()
}
