// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// leaving is a scene in which broker-b left the spec.
func leavingScene(t *testing.T) *scene {
	s := newScene(t, 4, 4)
	s.cycle()
	s.spec.Placement = []string{"broker-a"}
	s.spec.Generation++
	return s
}

// untilStep runs until a step of the kind is due, and leaves it unsent.
func (s *scene) untilStep(kind StepKind, perm snapshot.Perm) Decision {
	for range 200 {
		clients(s.w)
		d := s.peek()
		if d.Step.Kind == kind && (perm == 0 || d.Step.Changes[0].Want.Perm == perm) {
			return d
		}
		s.cycle()
		s.Expect(s.bad).To(BeEmpty())
	}
	s.Fail("no step " + string(kind))
	return Decision{}
}

func TestO35_R14_ABrokerIsHiddenBeforeItsTopicIsDeleted(t *testing.T) {
	s := leavingScene(t)
	d := s.untilStep(StepSetPermission, permHidden)
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Expect).To(Equal(Shown{true, 4, 4, 4}))
	s.Expect(d.Step.NotAfter.IsZero()).To(BeFalse(), "on a look of its own")
	s.untilStep(StepDeleteFromBroker, 0)
	for s.w.Brokers[1].Present {
		s.w.Tick(time.Second)
		s.cycle()
	}
	for n := range s.w.NameServers { // no call takes one broker's part of a route away
		s.w.NameServers[n].Routes[1] = model.Counts{Present: true, Read: 4, Write: 4, Perm: permHidden}
	}
	s.w.Tick(time.Second)
	s.cycle()
	d = s.peek()
	s.Expect(d.AsDeclared).To(BeTrue(), "the route that is left leads no client anywhere")
	s.Expect(d.Open).To(BeFalse())
	s.Expect(s.saved.Record.Placed).To(Equal([]string{"broker-a"}))
}

func TestR14_WhatArrivesAtAHiddenBrokerIsReadFirst(t *testing.T) {
	s := leavingScene(t)
	s.untilStep(StepSetPermission, permHidden)
	for s.w.Brokers[1].Perm != permHidden {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.w.Send(0, 1, 3, false) // by a producer with a queue list of its own
	for g := range s.w.Groups {
		s.w.Rebalance(g)
	}
	d := s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetPermission))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 4, 4}), "readable again")
	s.Expect(s.finish()).To(Equal([]StepKind{StepSetPermission, StepSetPermission, StepDeleteFromBroker}))
}

func TestR10_ALeavingBrokersLateWindowCountsOldRoutes(t *testing.T) {
	s := leavingScene(t)
	s.cycle()
	for s.saved.Note.Leaving["broker-b"].End.IsZero() {
		s.w.Tick(time.Second)
		s.cycle()
	}
	l := s.saved.Note.Leaving["broker-b"]
	s.Expect(l.End).To(Equal(l.Closed.Add(brisk().RouteAge+s.spec.LongestDelay)), "producers stamp by old routes after it was closed")
}

func TestR23_ALeavingBrokersCutEndsWithItsTopic(t *testing.T) {
	s := newScene(t, 4, 2)
	s.until(StageWatching)
	s.spec.Placement = []string{"broker-a"}
	s.spec.Generation++
	s.finish()
	s.Expect(s.w.Brokers[1].Present).To(BeFalse())
	for range 30 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(s.saved.Note.Empty()).To(BeTrue(), "%v", s.saved.Note)
}

func TestPlacement_ABrokerThatReturnsIsReadableBeforeItTakesWrites(t *testing.T) {
	s := leavingScene(t)
	s.untilStep(StepSetPermission, permHidden)
	for s.w.Brokers[1].Perm != permHidden {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.spec.Placement = nil
	s.spec.Generation++
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageRepairing))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 4, 4}))
	s.Expect(s.finish()).To(Equal([]StepKind{StepSetPermission, StepSetPermission}))
	s.Expect(s.w.Brokers[1].Perm).To(Equal(snapshot.PermReadWrite))
}

func TestPlacement_NothingIsClosedBeforeTheOthersAreRouted(t *testing.T) {
	s := leavingScene(t)
	s.w.NameServers[1].Routes[0] = model.Counts{}
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonRouteBehind}))
	s.w.Register(0, 1)
	s.Expect(s.peek().Step.Kind).To(Equal(StepSetPermission))
}

func TestPlacement_ABrokerThatIsGoneForGoodIsForgottenOnApproval(t *testing.T) {
	s := leavingScene(t)
	gone := func(l *snapshot.TopicLook) { delete(l.Brokers, "broker-b") }
	d := s.with(gone)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonMasterMissing}))
	s.Expect(d.Approval.Proof).To(ContainSubstring("broker-b left the spec and has no master"))
	s.saved = d.Next
	s.spec.Approved = d.Approval.ID
	d = s.with(gone)
	s.Expect(d.Next.Record.Placed).To(Equal([]string{"broker-a"}))
	s.saved = d.Next
	d = s.peek() // it comes back
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(reasons(d.Findings)).To(Equal([]Reason{FindingUndeclaredBroker}))
}

func TestPlan_TakenReadPermissionIsGivenBackAtOnce(t *testing.T) {
	s := newScene(t, 4, 4)
	s.cycle()
	s.w.Write(1, model.Counts{Present: true, Read: 4, Write: 4, Perm: snapshot.PermWrite})
	s.w.Groups[1].Committed[1][2] = model.None
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageRepairing))
	s.Expect(d.AsDeclared).To(BeFalse())
	s.Expect(d.Findings[0].Long()).To(ContainSubstring("broker-b: has permission 2: consumers cannot read"))
	s.Expect(d.Step.Seeds).To(Equal([]Seed{{"CG_AUDIT", "broker-b", 2, 0}}), "nobody owns what nobody can read")
	s.w.SetOffset("CG_AUDIT", 1, 2, 0)
	d = s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetPermission))
	s.Expect(d.Step.Changes[0].Want.Perm).To(Equal(snapshot.PermReadWrite))
	s.spec.Permission = snapshot.PermWrite
	s.Expect(s.peek().Stage).NotTo(Equal(StageRepairing), "unless the spec wants it so")
}

func TestDrain_HandedOutMessagesOfAGroupThatLeftAreWaitedForToo(t *testing.T) {
	s := drainingScene(t)
	s.spec.Timings.Invisible = 5 * time.Second
	s.saved.Lived.drained = nil
	d := s.with(onGroup("CG_POINTS", members(0)))
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonInvisible}), "whether it popped cannot be seen any more")
	s.Expect(d.Holds[0].Group).To(Equal("CG_POINTS"))
}

func TestApprove_AnApprovalOfAnEarlierChangeDoesNothing(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.Mode = ModeApprove
	approve := func() Decision {
		d := s.peek()
		s.accept(d)
		return d
	}
	first := approve()
	s.Expect(s.peek().Step.Kind).To(Equal(StepNarrowWrites))
	s.until(StageSettling)
	s.target(8)
	s.Expect(s.finish()).To(Equal([]StepKind{StepWidenWrites}))
	s.target(4)
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonAwaitingApproval}), "the same counts, the same target, another change")
	s.Expect(d.Approval.ID).NotTo(Equal(first.Approval.ID))
	s.saved = d.Next
	s.Expect(s.peek().Approval.ID).To(Equal(d.Approval.ID), "it stays the same while it waits")
	for range 5 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(s.peek().Approval.ID).To(Equal(d.Approval.ID))
}

func TestR12_ARepairNeverSkipsWhatArrivedOnAQueueProvenDrained(t *testing.T) {
	s := newScene(t, 4, 2)
	for g := range s.w.Groups { // nobody ever had an entry on the retiring queue
		s.w.Groups[g].Committed[0][3] = model.None
		s.w.Leave(g)
	}
	s.finish()
	for range 30 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(s.saved.Record.Brokers["broker-a"].ProvenHigh).To(Equal(4))
	s.w.Write(0, model.Counts{Present: true, Read: 2, Write: 4, Perm: snapshot.PermReadWrite}) // by hand
	s.w.Refresh(0, 0)
	s.w.Brokers[0].Queues[3] = model.Queue{Messages: make([]model.Message, 5), Shown: 5}
	d := s.peek()
	s.Expect(d.Step.Seeds).To(ContainElement(Seed{"CG_AUDIT", "broker-a", 3, 0}), "not 5, their end")
}

func TestR12_PositionsThatABrokerForgotAreSetAgain(t *testing.T) {
	s := newScene(t, 4, 2)
	for g := range s.w.Groups {
		s.w.Groups[g].Committed[0][3] = model.None
		s.w.Leave(g)
	}
	s.until(StageWatching)
	s.w.Brokers[0].Queues[3] = model.Queue{Messages: make([]model.Message, 1), Shown: 1}
	for s.w.Brokers[0].Read < 4 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.w.Groups[1].Committed[0][3] = model.None // the broker was killed before it had written it down
	d := s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(Equal([]Seed{{"CG_AUDIT", "broker-a", 3, 0}}))
	s.w.SetOffset("CG_AUDIT", 0, 3, 0)
	s.w.Join(0)
	s.w.Join(1)
	s.Expect(s.finish()).To(Equal([]StepKind{StepNarrowReads}))
}

func TestR11_AWatchThatCannotEndHasAnExit(t *testing.T) {
	s := newScene(t, 4, 2)
	for range 3 {
		s.w.Send(0, 0, 3, false)
	}
	s.until(StageWatching)
	s.w.Brokers[0].Queues[3] = model.Queue{Messages: s.w.Brokers[0].Queues[3].Messages[:2], Shown: 2}
	d := s.peek()
	s.Expect(reasons(d.Findings)).To(ContainElements(ReasonLogLostTail, ReasonOffsetBeyondEnd))
	s.saved = d.Next
	s.spec.Approved = d.Approval.ID
	d = s.peek()
	s.Expect(reasons(d.Findings)).NotTo(ContainElement(ReasonLogLostTail))
	s.Expect(d.Next.Note.Cuts["broker-a"].Base).To(Equal([]int64{0, 2}))
	s.Expect(s.saved.Note.Cuts["broker-a"].Base).To(Equal([]int64{0, 3}), "arguments are left as they were")
	s.saved = d.Next
	for g, name := range []string{"CG_POINTS", "CG_AUDIT"} {
		s.spec.Acknowledged = append(s.spec.Acknowledged, Seed{name, "broker-a", 3, 2})
		s.w.Leave(g)
	}
	d = s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets), "R06: on retired queues too")
	s.Expect(d.Step.Vacant).To(ConsistOf("CG_POINTS", "CG_AUDIT"), "every group that is set must have no member")
	for _, seed := range d.Step.Seeds {
		s.w.SetOffset(seed.Group, 0, seed.Queue, int(seed.Offset))
	}
	s.finish()
}
