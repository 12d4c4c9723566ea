// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// jumped begins every lived window again when the clock went back, or went
// another way than the monotonic one did, and moves the recorded end of late
// windows by what nobody looked at: later, never earlier (rule R05).
func (p *pass) jumped() {
	l := p.next.Lived
	if l.at.IsZero() {
		p.next.Lived.at = p.now
		return
	}
	lived, wall := p.now.Sub(l.at), p.now.Round(0).Sub(l.at.Round(0))
	const tolerance = 5 * time.Second
	if p.skip.jumps {
		p.next.Lived.at = p.now
		return
	}
	if lived < 0 || wall-lived > tolerance || lived-wall > tolerance {
		p.next.Lived = l.reset()
	}
	if missed := max(wall, lived) - p.t.MaxGap; missed > 0 {
		for name, c := range p.next.Note.Cuts {
			if !c.End.IsZero() && !c.Over {
				c.End = c.End.Add(missed)
				p.next.Note.Cuts[name] = c
			}
		}
		for name, b := range p.next.Note.Leaving {
			if !b.End.IsZero() {
				b.End = b.End.Add(missed)
				p.next.Note.Leaving[name] = b
			}
		}
	}
	p.next.Lived.at = p.now
}

// live carries every lived window on by this look, or begins it again.
func (p *pass) live() bool {
	l := &p.next.Lived
	fresh := p.look.Seq != l.seq || !p.look.Finished.Equal(l.seen)
	l.seq, l.seen = p.look.Seq, p.look.Finished
	if fresh {
		l.alike = l.alike.saw(p.look, p.processes(), p.t.MaxGap)
	}
	p.splitMembers(l)
	for _, b := range p.brokers {
		low, high := p.spec.Queues, b.shown.Read
		if b.role == leaving {
			low, high = 0, max(b.highest(), p.next.Note.Cuts[b.name].From)
		}
		for queue := low; queue < high && b.role != undeclared; queue++ {
			p.retiring = append(p.retiring, QueueRef{b.name, queue})
		}
	}
	p.d.Proof.Retiring = len(p.retiring)
	if len(p.retiring) == 0 {
		*l = Lived{Barrier: l.Barrier, seq: l.seq, seen: l.seen, at: l.at, readers: l.readers, alike: l.alike, split: l.split}
		return false
	}
	if fresh {
		p.settle(l)
		p.stand(l)
		p.clear(l)
	}
	return false
}

// splitAfter is how long member lists may differ before it is said: a member
// that joins or leaves is known everywhere after two heartbeats and an expiry.
const splitAfter = 2 * time.Minute

// splitMembers names groups whose members see different lists for long: they
// read some queues twice and others not at all, so a drain may never end (case
// A14). It takes nothing from a proof, which asks every broker.
func (p *pass) splitMembers(l *Lived) {
	groups, unknown := p.readers()
	if unknown != nil {
		return
	}
	split := map[string]window{}
	for _, g := range groups {
		if g.Split == "" {
			continue
		}
		w := l.split[g.Name].saw(p.look, "", p.t.IdleEvery+p.t.MaxGap)
		split[g.Name] = w
		if w.span() >= splitAfter {
			p.d.Findings = append(p.d.Findings, Hold{Reason: FindingSplitMembers, Group: g.Name, Queue: NoQueue,
				Why: "its brokers list different members for more than 2 minutes (" + g.Split + "), so its members share the queues out by different lists; look at the network between them"})
		}
	}
	l.split = split
}

// settle measures how long every broker and every name server has shown no
// more than the target. More than the target anywhere begins it again.
func (p *pass) settle(l *Lived) {
	p.settled = p.skip.routes || len(p.routeHolds()) == 0
	p.d.Proof.Routed = 0 // counted where routes are judged
	for _, b := range p.brokers {
		if b.role == declared && b.shown.Write > p.spec.Queues || b.role == leaving && b.shown.Present && b.shown.Perm.Writable() {
			p.settled = false
		}
	}
	if !p.settled {
		l.settled = window{}
		return
	}
	l.settled = l.settled.saw(p.look, fmt.Sprintf("%d %s", p.spec.Queues, p.processes()), p.t.MaxGap)
}

// processes names the broker processes that answered; a window is only one
// while they stay the same (rule R01).
func (p *pass) processes() string {
	if p.skip.process {
		return ""
	}
	var s strings.Builder
	for _, b := range p.brokers {
		if b.role != undeclared {
			fmt.Fprintf(&s, "%s@%s@%d ", b.name, b.process.Address, b.process.Booted.UnixNano())
		}
	}
	return s.String()
}

// aged is how much longer than the longest route age the target was shown.
func (p *pass) aged() time.Duration {
	if p.skip.age {
		return p.next.Lived.settled.span() + 1
	}
	return p.next.Lived.settled.span() - p.spec.routeAge(p.t)
}

// stand follows the end of every retiring queue.
func (p *pass) stand(l *Lived) {
	still := map[QueueRef]stillness{}
	for _, b := range p.brokers {
		ends, known := b.seen.Queues.Get()
		if !known || b.role == undeclared {
			continue
		}
		from := b.seen.Queues.Origin().From
		if p.skip.process {
			from = snapshot.Process{}
		}
		for _, ref := range p.retiring {
			if end, asked := ends[ref.Queue]; asked && ref.Broker == b.name {
				still[ref] = l.still[ref].saw(p.look, end.Max, from, p.t.MaxGap)
			}
		}
	}
	l.still = still
}

// moving lists the retiring queues that have not stood still long enough since
// old routes aged, and how long the youngest still has to.
func (p *pass) moving() ([]QueueRef, time.Duration) {
	var out []QueueRef
	var left time.Duration
	for _, ref := range p.retiring {
		s, seen := p.next.Lived.still[ref]
		stood := min(s.span(), max(0, p.aged()))
		if !seen || stood < p.t.Still {
			out = append(out, ref)
			left = max(left, p.t.Still-stood)
		}
	}
	// Those that moved last come first.
	slices.SortStableFunc(out, func(a, b QueueRef) int {
		return p.next.Lived.still[b].since.Compare(p.next.Lived.still[a].since)
	})
	return out, left
}
