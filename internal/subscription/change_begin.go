// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"time"
)

// foreign holds while consumption is disabled somewhere and no fence of ours
// is noted: nobody but a person enables it again (rule R37).
func (c *change) foreign() bool {
	n := c.note()
	if n.Fence != nil || len(c.w.closed) == 0 {
		return false
	}
	if c.ours() {
		n.Fence = &FenceNote{Since: c.now, Brokers: slices.Clone(c.w.brokers), Proven: true, Short: true, Lifting: true}
		return c.lift()
	}
	return c.hold(StageSteady, Hold{Reason: HoldForeignFence, Broker: c.w.closed[0].Broker, Count: int64(len(c.w.closed)),
		Sentence: fmt.Sprintf("consumption of %s is disabled on %s, and not by Lockstep, which does not enable it: set consumeEnable to true there, or wait for who disabled it", c.spec.Group, c.w.closed[0].Broker)})
}

// remembered is how long after a fence a broker may bring it back by a restart.
const remembered = time.Hour

// ours reports that what is closed is the last fence of ours, which brokers
// brought back when they were started after it was lifted.
func (c *change) ours() bool {
	lifted := c.prev.Record.Lifted
	if lifted.IsZero() || c.now.Sub(lifted) > remembered {
		return false
	}
	for _, s := range c.w.closed {
		if p, known := c.w.process[s.Broker]; !known || p.Booted.Before(lifted) {
			return false
		}
	}
	return true
}

// begin opens a change when one is wanted or a disagreement was found, or
// rests.
func (c *change) begin() bool {
	n, l := c.note(), &c.next.Lived
	if n.Open() {
		return false
	}
	if c.spec.Target == nil || c.spec.Deleting {
		return true
	}
	set := c.agreed()
	disagree := c.rep.MembersAgree.Now == False
	unsure := set == nil && !disagree && c.rep.MatchesSpec.Now != False
	switch {
	case c.reporting():
		return c.rest()
	case c.missed():
		return true
	case c.turned && c.busy():
		return true
	case c.turned:
		return c.beginLate()
	case set != nil && set.Equal(c.spec.Target), c.nobody(), unsure && c.spec.Published == Hash(c.spec.Target):
		return c.rest()
	case c.busy():
		return true
	case disagree:
		return c.beginLate()
	case set == nil:
		return c.hold(StagePreparing, Hold{Reason: HoldMembers, Sentence: "a change begins only when every member is known: " + c.rep.MembersAgree.NowSentence})
	case c.ended():
		return true
	}
	fence := c.spec.Strategy == ByFence
	if fence && !c.spec.Door {
		fence = false
		c.find(FindingNoDoor, 0, "new pods of %s do not wait until the operator lets them start, so a fence would come too late: the change is met by Rewind", c.spec.Group)
	}
	if holds := c.startable(fence); len(holds) > 0 {
		return c.hold(StagePreparing, holds...)
	}
	*n = Note{Agreed: c.w.offsets, Previous: set, Target: c.spec.Target, Started: c.now}
	l.agreed, l.set = c.w.offsets, set
	c.next.Record.Outcome = ""
	c.next.Record.Redelivered = 0
	if fence {
		n.Fence = &FenceNote{Since: c.now, Brokers: slices.Clone(c.w.brokers)}
	}
	return false
}

// rest publishes what is declared, and says whether the group moved after a
// fence.
func (c *change) rest() bool {
	if at := c.prev.Record.Unproven; !at.IsZero() && !c.reporting() {
		c.d.Choice = &Choice{ID: "no-rewind-" + Hash(c.spec.Target), Sentence: "give up what was skipped while no operator looked"}
		if c.spec.Accepted == c.d.Choice.ID {
			c.next.Record.Unproven, c.d.Choice = time.Time{}, nil
		} else {
			c.find(FindingUnproven, 0, "members differed at %s, when no look had seen them agree yet, so what they skipped then is not known and was not set back; accept that to end this notice", at.UTC().Format("15:04:05"))
		}
	}
	if set := c.agreed(); set != nil {
		c.next.Record.Rest = Hash(set)
	}
	if c.spec.Published != Hash(c.spec.Target) {
		return c.step(StagePublishing, Step{Kind: StepPublish, Set: c.spec.Target, Hash: Hash(c.spec.Target)})
	}
	return c.moving()
}

// missed holds when members agree on another subscription than they did when
// an operator last looked: between the two, messages may have been skipped,
// and no offset was noted (rule R30).
func (c *change) missed() bool {
	set, rest := c.agreed(), c.prev.Record.Rest
	if set == nil || rest == "" || rest == Hash(set) || c.prev.Lived.agreed != nil {
		return false
	}
	id := "no-rewind-" + Hash(set)
	if c.spec.Accepted == id {
		c.next.Record.Rest = Hash(set)
		return false
	}
	c.next.Lived.agreed, c.next.Lived.set = nil, nil
	c.d.Choice = &Choice{ID: id, Sentence: "give up what was skipped while no operator looked"}
	return c.hold(StagePreparing, Hold{Reason: HoldNoOffsets,
		Sentence: fmt.Sprintf("members changed to %s while no operator looked, so what was skipped meanwhile is not known; set the group back by hand, or accept the choice that status shows", set)})
}

// moving says when the group goes on after a fence; it holds nothing else.
func (c *change) moving() bool {
	l := &c.next.Lived
	if l.lifted.IsZero() {
		return true
	}
	behind, moved := false, c.w.offsets == nil
	for name, topics := range c.w.offsetsOrNone() {
		for topic, queues := range topics {
			for q, at := range queues {
				behind = behind || at < c.w.ends[name][topic][q].Max
				moved = moved || l.base == nil || at != l.base.Queues[name][topic][q]
			}
		}
	}
	switch {
	case c.w.offsets != nil && (moved || !behind) || c.nobody():
		l.lifted, l.base = time.Time{}, nil
	case c.now.Sub(l.lifted) > c.t.Movement:
		c.find(FindingNotMoving, 0, "consumption of %s was enabled again at %s, and no offset has moved since although messages wait: see its members", c.spec.Group, l.lifted.UTC().Format("15:04:05"))
	default:
		return c.hold(StageMoving, Hold{Reason: HoldMovement, Until: l.lifted.Add(c.t.Movement), Sentence: "consumption is enabled again on every broker; waiting for the first offset to move"})
	}
	return true
}

func (w world) offsetsOrNone() map[string]map[string]map[int]int64 {
	if w.offsets == nil {
		return nil
	}
	return w.offsets.Queues
}

// busy holds while a topic of the group is resized (rule R16).
func (c *change) busy() bool {
	var holds []Hold
	for _, topic := range c.topics() {
		if why, is := c.spec.Busy[topic]; is {
			holds = append(holds, Hold{Reason: HoldTopicBusy, Topic: topic, Sentence: fmt.Sprintf("topic %s: %s; the subscription changes afterwards", topic, why)})
		}
	}
	return c.hold(StagePreparing, holds...)
}

// ended holds after a change that came to nothing, until something is edited.
func (c *change) ended() bool {
	r := c.prev.Record
	if r.Hash != Hash(c.spec.Target) || r.Outcome == "" || r.Outcome == Done {
		return false
	}
	return c.hold(StageSteady, Hold{Reason: HoldEnded, Sentence: fmt.Sprintf("the change to %s ended as %s, and all members read %s; edit the subscription, or change the pods", c.spec.Target, r.Outcome, c.agreed())})
}

// beginLate opens a change for members that already differ: it can only be
// met by setting back to the last look in which all agreed (rule R30).
func (c *change) beginLate() bool {
	n, l := c.note(), &c.next.Lived
	if r := c.prev.Record; r.Outcome == Lifted && r.Hash == Hash(c.spec.Target) {
		return c.hold(StageSteady, Hold{Reason: HoldEnded, Sentence: "members differ and the change was given up by choice; what is skipped is lost until they agree"})
	}
	if l.agreed == nil || l.set == nil {
		c.d.Choice = &Choice{ID: "no-rewind-" + Hash(c.spec.Target),
			Sentence: "publish the subscription and give up what was skipped before the operator looked"}
		if c.spec.Accepted == c.d.Choice.ID {
			c.next.Record.Unproven = time.Time{}
			return c.rest()
		}
		if c.next.Record.Unproven.IsZero() {
			c.next.Record.Unproven = c.now
		}
		return c.hold(StagePreparing, Hold{Reason: HoldNoOffsets,
			Sentence: "members differ, and no look of this operator saw them agree, so there is no offset to set back to; set the group back by hand, or accept the choice that status shows"})
	}
	*n = Note{Agreed: l.agreed, Previous: l.set, Target: c.spec.Target, Started: c.now, Other: true, Moved: true}
	c.next.Record.Outcome, c.next.Record.Redelivered = "", 0
	return false
}

// startable says what keeps a change from beginning: only what can end is
// begun (rule R32).
func (c *change) startable(fence bool) []Hold {
	var holds []Hold
	for _, m := range c.exam.counted {
		if m.Broadcast {
			return []Hold{{Reason: HoldBroadcast, Sentence: m.name() + " broadcasts: its offsets are its own, so it can be neither fenced nor set back"}}
		}
	}
	holds = append(holds, c.w.holds...)
	holds = append(holds, c.w.unknown...)
	holds = append(holds, c.w.missing...)
	if holds == nil {
		holds = append(holds, c.w.entries...)
	}
	if c.rep.Ghosts > 0 && fence {
		holds = append(holds, Hold{Reason: HoldMembers, Count: int64(c.rep.Ghosts), Sentence: fmt.Sprintf("%d members of pods that are gone have not expired yet", c.rep.Ghosts)})
	}
	if !fence {
		if _, h := c.method(); h != nil {
			holds = append(holds, *h)
		}
		return holds
	}
	for _, m := range c.exam.counted {
		if m.Pod == nil || !c.exam.referenced(m.Pod) {
			holds = append(holds, Hold{Reason: HoldNotMapped, Count: 1, Sentence: m.name() + " is in no pod of a workload that the manifest names, so its replacement could not be followed"})
		}
	}
	return append(holds, c.workloads()...)
}

// workloads says whose rollout cannot be read.
func (c *change) workloads() []Hold {
	var holds []Hold
	if !c.ask.Pods.IsKnown() {
		holds = append(holds, Hold{Reason: HoldWorkload, Sentence: "pods are not known: " + c.ask.Pods.Why()})
	}
	for _, w := range c.ask.Workloads {
		if !w.Known {
			holds = append(holds, Hold{Reason: HoldWorkload, Sentence: fmt.Sprintf("the rollout of %s cannot be read: %s", w.Ref, w.Why)})
		}
	}
	if len(c.ask.Workloads) == 0 {
		holds = append(holds, Hold{Reason: HoldWorkload, Sentence: "the manifest names no workload, so a rollout could not be followed"})
	}
	return holds
}

// mind takes a new target; the note and the fence stay (rule R33).
func (c *change) mind() bool {
	n := c.note()
	if n.Agreed == nil || n.Target.Equal(c.spec.Target) {
		return false
	}
	n.Target, n.Started, n.Ending = c.spec.Target, c.now, ""
	return false
}
