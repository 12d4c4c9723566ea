// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"time"
)

// Plan decides the one next step of a group's subscription change, or says
// what holds it. It is deterministic, keeps nothing, and never changes its
// arguments. Of the ask it uses Look, Pods, Workloads and Protocol; now must
// come from the clock that stamped the look.
func Plan(spec Spec, progress Progress, ask Ask, now time.Time) Decision {
	return plan(spec, progress, ask, now, skips{})
}

// skips leaves proofs out. Only tests set one, to show that the model finds
// the loss that follows.
type skips struct{ still, other, silent bool }

// change is one call of Plan.
type change struct {
	spec Spec
	t    Timings
	ask  Ask
	now  time.Time
	skip skips
	prev Progress
	next Progress
	d    Decision
	exam *examination
	rep  Report
	w    world
	// turned says that all members agree, on something else than they did in
	// the look before, and no change was open.
	turned bool
}

// plan is Plan with proofs left out. The order of the phases is the order of
// what matters: what is open is ended before anything is begun.
func plan(spec Spec, progress Progress, ask Ask, now time.Time, skip skips) Decision {
	ask.Group, ask.Declared, ask.Now = spec.Group, spec.Target, now
	c := &change{spec: spec, t: spec.Timings.orDefaults(), ask: ask, now: now, skip: skip, prev: progress}
	c.next = Progress{Record: progress.Record, Note: progress.Note.clone(), Lived: progress.Lived}
	c.next.Lived.fresh = time.Time{} // good for the next pass only
	for _, phase := range []func() bool{
		c.usable,
		c.see,
		c.track,
		c.drop,
		c.lift,
		c.foreign,
		c.begin,
		c.mind,
		c.fence,
		c.publish,
		c.rollout,
		c.settle,
	} {
		if phase() {
			break
		}
	}
	return c.finish()
}

func (c *change) reporting() bool {
	return c.spec.Strategy == ReportOnly || c.spec.Strategy == ""
}

func (c *change) note() *Note { return &c.next.Note }

// hold ends the pass without a step when there is a hold.
func (c *change) hold(stage Stage, holds ...Hold) bool {
	if len(holds) == 0 {
		return false
	}
	c.d.Stage, c.d.Holds = stage, holds
	return true
}

func (c *change) step(stage Stage, s Step) bool {
	c.d.Stage, c.d.Step = stage, s
	return true
}

func (c *change) find(r Reason, count int64, format string, args ...any) {
	c.d.Findings = append(c.d.Findings, Hold{Reason: r, Count: count, Sentence: fmt.Sprintf(format, args...)})
}

// usable asks for another look when this one began before the last step was
// over, is old, or is of another group (rules R01, R02), and begins every
// lived window again when the clock jumped (rule R05).
func (c *change) usable() bool {
	l := &c.next.Lived
	if !l.at.IsZero() {
		lived, wall := c.now.Sub(l.at), c.now.Round(0).Sub(l.at.Round(0))
		const tolerance = 5 * time.Second
		if lived < 0 || wall-lived > tolerance || lived-wall > tolerance {
			l.still, l.lifted = stillness{}, time.Time{}
		}
	}
	l.at = c.now
	look := c.ask.Look
	old := c.now.Sub(look.Finished) > c.t.MaxGap || look.Finished.After(c.now)
	early := !l.Barrier.IsZero() && !look.Started.After(l.Barrier)
	if look.Group != c.spec.Group || old || early {
		return c.step(c.prev.Record.Stage, Step{Kind: StepFreshLook})
	}
	return false
}

// fresh reports whether this look is one that was asked for right before an
// act that cannot be taken back; if not, it asks for one (rule R02).
func (c *change) fresh(stage Stage) bool {
	asked := c.prev.Lived.fresh
	if !asked.IsZero() && c.ask.Look.Started.After(asked) && c.now.Sub(c.ask.Look.Started) < c.t.CutLookAge {
		return true
	}
	c.next.Lived.fresh = c.now
	c.step(stage, Step{Kind: StepFreshLook})
	return false
}

// notAfter is when a step that rests on this look must have been sent.
func (c *change) notAfter() time.Time { return c.ask.Look.Started.Add(c.t.CutLookAge) }

// see examines the look, strictly: nobody is excused for being new, and no
// rollout is an excuse.
func (c *change) see() bool {
	c.exam = examine(c.ask, State{})
	c.rep = c.exam.report
	c.d.Report = c.rep
	c.w = c.look()
	return false
}

// agreed is what all members subscribe to, proven by this look; nil when that
// is not proven or there is no member.
func (c *change) agreed() Set {
	if c.skip.silent && len(c.exam.answered) > 0 && c.rep.MembersAgree.Now != False {
		set, _ := c.exam.answered[0].Reads.Get()
		return set
	}
	return c.rep.Agreed
}

// nobody reports that the group is proven to have no member.
func (c *change) nobody() bool {
	return c.rep.MembersAgree.Now == True && len(c.exam.counted) == 0
}

// track keeps the offsets of the last look in which all members agreed, and
// notices other filters while the group is not fenced (rule R30).
func (c *change) track() bool {
	n, l := c.note(), &c.next.Lived
	set := c.agreed()
	if n.Agreed == nil {
		switch {
		case c.w.offsets == nil || n.Fence != nil:
		case set != nil && l.set != nil && !set.Equal(l.set) && !c.reporting():
			c.turned = true // between two looks: the earlier one is what counts
		case set != nil:
			l.agreed, l.set = c.w.offsets, set
		case c.nobody():
			l.agreed, l.set = c.w.offsets, c.spec.Target
		}
		return false
	}
	if n.Previous != nil {
		n.Moved = n.Moved || c.mixedPods() || slices.ContainsFunc(c.exam.answered, func(m *Member) bool {
			reads, _ := m.Reads.Get()
			return !reads.Equal(n.Previous)
		})
	}
	proven := n.Fence != nil && n.Fence.Proven
	open := len(c.w.open) > 0 || len(c.w.unknown) > 0 || c.w.holds != nil
	if proven && len(c.w.open) > 0 && !n.Fence.Lifting {
		c.find(FindingFenceOpen, int64(len(c.w.open)), "the fence was found open on %s; it is closed again, and what was consumed meanwhile is delivered again", c.w.open[0].Broker)
		n.Other = n.Other || !c.skip.other
	}
	if proven && (!open || c.skip.other) || c.skip.other {
		return false
	}
	switch {
	case set != nil && set.Equal(n.Previous):
		if !n.Other && c.w.offsets != nil {
			l.agreed, l.set = c.w.offsets, set // moved on in memory, not written
		}
	case c.nobody():
	case proven && len(c.w.open) == 0:
		// Closed where it can be seen: no consumption was seen to be possible.
	case !n.Other:
		n.Other = true
		if l.agreed != nil && l.set.Equal(n.Previous) {
			n.Agreed = l.agreed
		}
	}
	return false
}

// finish fills in what follows from the rest.
func (c *change) finish() Decision {
	n, d := c.note(), &c.d
	if n.Fence != nil {
		d.Fenced = n.Fence.Since
		c.find(FindingScaleHeld, 0, "consumption of %s has been stopped since %s, so its backlog grows: scale-ups are held until it goes on", c.spec.Group, n.Fence.Since.UTC().Format("15:04:05"))
	}
	d.Open = n.Open()
	d.NothingSkipped = d.Open && !n.Other && n.Agreed != nil || d.Ended != "" && !c.prev.Note.Other && !n.Other && d.Ended != Lifted && d.Ended != Abandoned
	if d.Stage != c.prev.Record.Stage || c.prev.Record.Since.IsZero() {
		c.next.Record.Stage, c.next.Record.Since = d.Stage, c.now
	}
	if len(d.Holds) > MaxOdd {
		d.Omitted, d.Holds = len(d.Holds)-MaxOdd, d.Holds[:MaxOdd]
	}
	if len(d.Findings) > MaxOdd {
		d.Findings = d.Findings[:MaxOdd]
	}
	d.LookAgain = c.t.IdleEvery
	if d.Open || d.Step.Kind != "" || d.Stage != StageSteady {
		d.LookAgain = c.t.LookEvery
	}
	c.next.Lived.seq, c.next.Lived.seen = c.ask.Look.Seq, c.ask.Look.Finished
	d.Next = c.next
	return *d
}

// end closes the change.
func (c *change) end(o Outcome) {
	n := c.note()
	c.next.Record.Outcome, c.next.Record.Hash = o, Hash(n.Target)
	c.d.Ended = o
	l := &c.next.Lived
	l.still, l.reset = stillness{}, time.Time{}
	// From here on the members are compared with what they agree on now, and
	// not with what they had before the change.
	l.agreed, l.set = nil, nil
	if set := c.agreed(); set != nil && c.w.offsets != nil {
		l.agreed, l.set = c.w.offsets, set
		c.next.Record.Rest = Hash(set)
	}
	*n = Note{}
}
