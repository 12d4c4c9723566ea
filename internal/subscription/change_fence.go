// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"strings"
)

// drop ends an open change that nobody wants any more: the object is deleted,
// or the user chose to change nothing. A fence is lifted first, and is the
// only thing that is waited for (rule R23).
func (c *change) drop() bool {
	n := c.note()
	given := c.spec.Target == nil || c.reporting()
	if !n.Open() || !c.spec.Deleting && !given || n.Fence != nil && n.Fence.Lifting {
		return false
	}
	n.Ending = Abandoned
	if !c.spec.Deleting {
		n.Ending = Lifted
	}
	if n.Fence != nil {
		return c.startLift()
	}
	c.left()
	c.end(n.Ending)
	return true
}

// left says what is not set back any more.
func (c *change) left() {
	n := c.note()
	if !n.Other || n.Agreed == nil || c.w.offsets == nil {
		return
	}
	if _, messages, _ := c.above(); messages > 0 {
		c.find(FindingAbandoned, messages, "another filter was seen since %s, and the group is not set back: of about %d messages consumed since, those that it did not take are lost", n.Agreed.At.UTC().Format("15:04:05"), messages)
	}
}

// startLift begins to enable, after a fresh look (rule R02).
func (c *change) startLift() bool {
	if !c.fresh(StageLifting) {
		return true
	}
	c.note().Fence.Lifting, c.note().Fence.Final = true, c.agreed()
	return c.lift()
}

// lift enables every replica of every broker, and ends the fence when all are
// seen enabled. It goes on after a crash, whatever the members do.
func (c *change) lift() bool {
	n := c.note()
	if n.Fence == nil || !n.Fence.Lifting {
		return false
	}
	if len(c.w.closed) > 0 {
		return c.step(StageLifting, Step{Kind: StepUnfence, Switches: c.w.closed, NotAfter: c.notAfter()})
	}
	if len(c.w.unknown) > 0 {
		return c.hold(StageLifting, c.w.unknown...)
	}
	c.next.Lived.lifted, c.next.Lived.base = c.now, c.w.offsets
	c.next.Record.Lifted = c.now
	c.next.Lived.still = stillness{}
	final := n.Fence.Final
	n.Fence = nil
	switch {
	case n.Ending == "": // the deadline's choice was to go on and to set back later
		return false
	case n.Ending != Lifted && n.Ending != Abandoned && !c.nobody() && (c.agreed() == nil || !c.agreed().Equal(final)):
		// Members changed while it was lifted: the note is still needed.
		n.Ending, n.Other, n.Moved = "", true, true
		return false
	case n.Ending == Lifted || n.Ending == Abandoned:
		c.left()
	}
	c.end(n.Ending)
	return c.hold(StageMoving, Hold{Reason: HoldMovement, Until: c.now.Add(c.t.Movement), Sentence: "consumption is enabled again on every broker; waiting for the first offset to move"})
}

// fence closes every replica of every broker, again if one was opened, and
// waits until committed offsets stand still (rule R31).
func (c *change) fence() bool {
	n, l := c.note(), &c.next.Lived
	if n.Fence == nil {
		l.still = stillness{}
		return false
	}
	for _, b := range c.w.brokers {
		if !slices.Contains(n.Fence.Brokers, b) {
			n.Fence.Brokers = append(slices.Clone(n.Fence.Brokers), b)
		}
	}
	late := c.now.Sub(n.Fence.Since) > c.spec.maxPause()
	if len(c.w.open) > 0 {
		l.still = stillness{}
		if late && !n.Fence.Proven {
			return c.tooLate("not every replica shows it")
		}
		return c.step(StageFencing, Step{Kind: StepFence, Switches: c.w.open, NotAfter: c.notAfter()})
	}
	if holds := append(slices.Clone(c.w.unknown), c.w.missing...); len(holds) > 0 {
		l.still = stillness{}
		if late && !n.Fence.Proven {
			return c.tooLate(holds[0].Sentence)
		}
		return c.hold(c.fencing(), holds...)
	}
	if len(c.w.holds) > 0 {
		l.still = stillness{}
		if late && !n.Fence.Proven {
			return c.tooLate(c.w.holds[0].Sentence)
		}
		return c.hold(c.fencing(), c.w.holds...)
	}
	if c.ask.Look.Seq != l.seq || !c.ask.Look.Finished.Equal(l.seen) {
		l.still = l.still.saw(c.ask.Look, c.stillOf(), c.t.MaxGap)
	}
	if !c.skip.still && l.still.span() < c.t.Still {
		return c.hold(StageStill, Hold{Reason: HoldStill, Until: c.now.Add(c.t.Still - l.still.span()),
			Sentence: fmt.Sprintf("all consumption of %s is stopped; committed offsets must stand still for %d s, as members commit what they had in hand", c.spec.Group, int(c.t.Still.Seconds()))})
	}
	if n.Fence.Proven {
		return false
	}
	n.Fence.Proven = true
	if set := c.agreed(); !n.Other && set != nil && set.Equal(n.Previous) {
		n.Agreed = c.w.offsets
	}
	return false
}

func (c *change) fencing() Stage {
	if c.note().Fence.Proven {
		return c.prev.Record.Stage
	}
	return StageFencing
}

// stillOf names what must stand still, and the processes that must say so.
func (c *change) stillOf() string {
	var b strings.Builder
	for _, name := range c.w.brokers {
		p := c.w.process[name]
		fmt.Fprintf(&b, "%s %s %d %v\n", name, p.Address, p.Booted.UnixNano(), c.w.offsets.Queues[name])
	}
	for _, s := range c.w.closed {
		fmt.Fprintf(&b, "%s\n", s.Address)
	}
	return b.String()
}

// tooLate gives a fence up that could not be closed in its time.
func (c *change) tooLate(why string) bool {
	n := c.note()
	c.find(FindingBeyondNote, 0, "the fence could not be closed within %d s: %s; it is lifted", int(c.spec.maxPause().Seconds()), why)
	if n.Fence.Short || n.Other || c.spec.Published == Hash(n.Target) {
		n.Other = true // goes on, and is set back once all agree
		n.Ending = ""
	} else {
		n.Ending = NotStarted
	}
	n.Started = c.now
	return c.startLift()
}

// publish lets the pods change.
func (c *change) publish() bool {
	n := c.note()
	if n.Ending != "" || n.Agreed == nil || c.spec.Published == Hash(n.Target) {
		return false
	}
	return c.step(StagePublishing, Step{Kind: StepPublish, Set: n.Target, Hash: Hash(n.Target)})
}
