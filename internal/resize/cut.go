// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import "fmt"

// provenAgain reports whether this look is one of the cut's own: asked for
// after everything was proven once, and only seconds old (rule R02). Every
// proof was made again from it on the way here.
func (p *pass) provenAgain() bool {
	asked := p.prev.Lived.fresh
	own := !asked.IsZero() && p.look.Started.After(asked)
	age := p.now.Sub(p.look.Started)
	if p.skip.fresh || own && age <= p.t.CutLookAge {
		return true
	}
	p.freshLook(StageProvingAgain)
	if own {
		p.d.Holds = []Hold{{Reason: ReasonUnknown, Queue: NoQueue,
			Why: fmt.Sprintf("the look before the cut was %s old, and may be %s; looking again", roughly(age), roughly(p.t.CutLookAge))}}
	}
	return false
}

func (p *pass) readProof(cuts []*broker) string {
	return fmt.Sprintf("%d retiring queues on %s stood still for %s, nothing was seen pending in two looks, every group has read them; the cut takes away %s that can be read again now",
		len(p.retiring), brokers(len(cuts)), roughly(p.t.Still), exactly(p.d.Proof.History))
}

// cut narrows reads. The ends before it are noted first: they are what the
// watch starts from, and cannot be seen again (rule R11).
func (p *pass) cut(cuts []*broker, d drainage) bool {
	s := Step{Kind: StepNarrowReads, NotAfter: p.look.Started.Add(p.t.CutLookAge)}
	for _, b := range cuts {
		old := p.prev.Note.Cuts[b.name]
		c := Cut{To: p.spec.Queues, From: max(b.shown.Read, old.From)}
		ends, _ := b.seen.Queues.Get()
		for queue := c.To; queue < c.From; queue++ {
			end := ends[queue].Max
			if base, noted := old.base(queue); noted && queue >= b.shown.Read {
				end = base
			}
			c.Base = append(c.Base, end)
		}
		p.next.Note.Cuts[b.name] = c
		want := b.shown
		want.Read = p.spec.Queues
		s.Changes = append(s.Changes, b.change(want))
	}
	p.giveUp(d.givenUp)
	return p.step(StageNarrowingReads, s)
}

// giveUp records what waivers give up, per queue (rule R20).
func (p *pass) giveUp(lost []GivenUp) {
	for _, g := range lost {
		known := false
		for i, have := range p.next.Note.GivenUp {
			if have.Group == g.Group && have.Broker == g.Broker && have.Queue == g.Queue {
				p.next.Note.GivenUp[i], known = g, true
			}
		}
		if !known {
			p.next.Note.GivenUp = append(p.next.Note.GivenUp, g)
		}
	}
	all := p.next.Note.GivenUp
	p.next.Record.GivenUp = append([]GivenUp(nil), all[:min(len(all), MaxOdd)]...)
	p.next.Record.GivenUpTotal = 0
	for _, g := range all {
		p.next.Record.GivenUpTotal += g.Messages
	}
}
