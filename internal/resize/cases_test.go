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

func TestQ05_MembersThatPopAreSeededOnANewBrokerToo(t *testing.T) {
	s := newScene(t, 4, 4)
	s.gone(1)
	s.w.Groups[1].Kind = model.POP
	s.w.Leave(1) // its first pop comes after the first message
	s.untilStep(StepSetOffsets, 0)
	d := s.peek()
	for q := range 4 {
		s.Expect(d.Step.Seeds).To(ContainElement(Seed{"CG_AUDIT", "broker-b", q, 0}))
	}
}

func TestQ07_AYoungTopicsStartIsNeverReliedOn(t *testing.T) {
	// Where a group without an entry begins depends on what is in a broker's
	// memory, so every group gets one, also where 0 would be the answer today.
	s := newScene(t, 2, 4)
	s.w.AddGroup("CG_NEW", model.Classic, false)
	for b := range s.w.Brokers {
		for q := range s.w.Groups[2].Committed[b] {
			s.w.Groups[2].Committed[b][q] = model.None
		}
	}
	// A group is known to the topic by a declaration.
	d := s.with(onGroup("CG_NEW", func(g *snapshot.GroupOnTopic) { g.Declared = true }))
	for _, b := range []string{"broker-a", "broker-b"} {
		for q := 2; q < 4; q++ {
			s.Expect(d.Step.Seeds).To(ContainElement(Seed{"CG_NEW", b, q, 0}))
		}
	}
}

func TestQ13_TheOnlyBrokerOfATopicLeavesLast(t *testing.T) {
	s := newScene(t, 4, 4)
	s.gone(0) // broker-b is the only one
	s.spec.Placement = []string{"broker-b"}
	s.cycle()
	s.place("broker-a")
	var kinds []StepKind
	for range 300 {
		clients(s.w)
		d := s.peek()
		if d.Step.Changing() {
			kinds = append(kinds, d.Step.Kind)
		}
		if d.Step.Kind == StepSetPermission && d.Step.Changes[0].Broker == "broker-b" {
			s.Expect(s.w.Brokers[0].Counts).To(Equal(model.Counts{Present: true, Read: 4, Write: 4, Perm: 6}), "the other takes writes first")
		}
		s.cycle()
		s.Expect(s.bad).To(BeEmpty())
		if s.rested() {
			break
		}
	}
	s.Expect(kinds).To(Equal([]StepKind{StepCreateTopic, StepSetPermission, StepSetPermission, StepSetPermission, StepDeleteFromBroker}))
}

func TestQ15_ATopicThatReappearsWhereItWasTakenFromIsNamedAndLeftAlone(t *testing.T) {
	s := leavingScene(t)
	s.finish()
	for range 3 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.w.Brokers[1].Counts = model.Counts{Present: true, Read: 8, Write: 8, Perm: 6} // created by a producer's template
	for n := range s.w.NameServers {
		s.w.Register(1, n)
	}
	for range 5 {
		d := s.peek()
		s.Expect(d.Step.Changing()).To(BeFalse(), "no fight")
		s.Expect(reasons(d.Findings)).To(Equal([]Reason{FindingUndeclaredBroker}))
		s.saved = d.Next
	}
}

func TestQ18_AProducerWithAnOldRouteHoldsTheCut(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.Timings.Still = 20 * time.Second
	s.until(StageSettling)
	for range 60 {
		s.w.Send(0, 0, 6, false) // the broker takes it: below the larger of its counts
		clients(s.w)
		s.w.Tick(time.Second)
		s.cycle()
	}
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonStillGrowing}))
	s.Expect(d.Holds[0].Long()).To(Equal("1 of 8 retiring queues have not stood still for 20 s (broker-a/6): some producer still sends there"))
	s.Expect(s.w.Brokers[0].Read).To(Equal(8))
}

func TestQ19_AnUndeclaredDelayIsWaitedForAsLongAsBrokersAllow(t *testing.T) {
	for _, kind := range []string{"", "NORMAL", "DELAY", "TRANSACTION", "MIXED"} { // a declared type proves nothing
		s := newScene(t, 8, 4)
		s.spec.LongestDelay, s.spec.MessageType = 0, kind
		s.until(StageWatching)
		s.cycle()
		d := s.peek()
		s.Expect(d.Holds[0].Reason).To(Equal(ReasonRetiredWatched), kind)
		s.Expect(d.Holds[0].Until).To(Equal(s.saved.Note.Cuts["broker-a"].Closed.Add(9*time.Second)), "the longest level of the broker")
	}
}

func TestQ23_OffsetsThatOutlivedATopicAreSeededOver(t *testing.T) {
	s := newScene(t, 4, 4)
	s.gone(1)
	for q := range 4 {
		s.w.Groups[0].Committed[1][q] = 900 // 4.9 keeps them at a deletion
	}
	s.w.Leave(0)
	s.until(StageAddingBroker)
	s.cycle()
	d := s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(ContainElement(Seed{"CG_POINTS", "broker-b", 2, 0}))
	s.w.Brokers[1].Queues[2] = model.Queue{Messages: make([]model.Message, 12), Shown: 12}
	d = s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonOffsetBeyondEnd}), "where messages are it is for the user to say")
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("888 messages beyond the end of 1 queue (broker-b/2)"))
	s.spec.Acknowledged = []Seed{{"CG_POINTS", "broker-b", 2, 0}}
	d = s.peek()
	s.Expect(d.Step.Seeds).To(Equal(s.spec.Acknowledged))
	s.Expect(d.Step.Vacant).To(Equal([]string{"CG_POINTS"}))
}

func TestQ29_APermissionDoesNotStopAPinnedProducer(t *testing.T) {
	s := leavingScene(t)
	s.cycle()
	for range 40 {
		s.w.Send(0, 1, 3, false)
		clients(s.w)
		s.w.Tick(time.Second)
		s.cycle()
	}
	d := s.peek()
	s.Expect(s.w.Brokers[1].Perm).To(Equal(snapshot.PermRead))
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonStillGrowing}), "judged by the ends, not by the accepted call")
}

func TestQ30_ARouteThatDiffersInPermissionHoldsAndIsNamed(t *testing.T) {
	s := newScene(t, 8, 4)
	s.until(StageSettling)
	s.w.NameServers[1].Routes[0].Perm = snapshot.PermRead
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonRouteBehind}))
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("routes broker-a with read 8, write 4, permission 4"))
}

func TestL02_APinnedOffsetHoldsTheCutAndNamesItsQueue(t *testing.T) {
	s := drainingScene(t)
	d := both(s, offsetsOf("CG_POINTS", 3, 0, 5000, 17), nil) // one message never returns
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonUnread}))
	s.Expect(d.Holds[0].Where).To(Equal([]QueueRef{{"broker-b", 3}}))
	s.Expect(d.Holds[0].Count).To(BeEquivalentTo(4983))
}

func TestL12_UnreadIsCountedWithoutMembers(t *testing.T) {
	s := drainingScene(t)
	d := both(s, offsetsOf("CG_POINTS", 3, 5, 100, 40), onGroup("CG_POINTS", members(0)))
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonGroupOffline}), "a group scaled to zero has a backlog all the same")
	s.Expect(d.Holds[0].Count).To(BeEquivalentTo(60))
	s.Expect(d.Proof.UnreadTotal).To(BeEquivalentTo(60))
}

func TestL13_TheWorstQueueComesFirst(t *testing.T) {
	s := drainingScene(t)
	d := both(s, func(b *snapshot.TopicOnBroker) {
		offsetsOf("CG_POINTS", 2, 0, 50, 45)(b)
		offsetsOf("CG_POINTS", 3, 0, 4905, 5)(b)
	}, nil)
	s.Expect(d.Holds[0].Where).To(Equal([]QueueRef{{"broker-b", 3}, {"broker-b", 2}}))
	s.Expect(d.Holds[0].Count).To(BeEquivalentTo(4905))
}

func TestL14_AbsentBroadcastMembersHoldNothingAndAreSaid(t *testing.T) {
	s := drainingScene(t)
	absent := onGroup("CG_NEWS", func(g *snapshot.GroupOnTopic) { members(0)(g); g.DeclaredBroadcast = true })
	d := both(s, offsetsOf("CG_POINTS", 3, 0, 7, 7), absent)
	s.Expect(d.Holds).To(BeEmpty())
	s.Expect(d.Findings[0].Long()).To(Equal("broadcast group CG_NEWS: members that are absent now keep their own offsets; what they have not read cannot be proven"))
}

func TestL19_ADeadLetterTopicIsLeftAsItIs(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.Topic = "%DLQ%CG_POINTS"
	look := s.look()
	look.Topic = s.spec.Topic
	d := Plan(s.spec, Progress{}, look, look.Finished)
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("belongs to a consumer group"))
}

func TestA14_MemberListsThatDifferForLongAreNamed(t *testing.T) {
	s := newScene(t, 4, 2)
	split := onGroup("CG_POINTS", func(g *snapshot.GroupOnTopic) { g.Split = "broker-b lists 1 of 2 members and lacks 10.1.2.9@1" })
	d := s.with(split)
	for range 125 {
		s.Expect(reasons(d.Findings)).NotTo(ContainElement(FindingSplitMembers))
		s.saved = d.Next
		d = s.with(split)
		if len(d.Findings) > 0 {
			break
		}
	}
	s.Expect(reasons(d.Findings)).To(Equal([]Reason{FindingSplitMembers}))
	s.Expect(d.Findings[0].Long()).To(ContainSubstring("group CG_POINTS: its brokers list different members for more than 2 minutes (broker-b lists 1 of 2 members and lacks 10.1.2.9@1)"))
	s.saved = d.Next
	s.saved = s.peek().Next // the lists agree again
	s.Expect(s.with(split).Findings).To(BeEmpty())
}

// A group that returns with what it had is let read, whatever stage it finds.
func TestQ21_AGroupThatReturnsIsWaitedFor(t *testing.T) {
	s := newScene(t, 4, 2)
	s.w.Leave(1)
	s.w.Send(0, 0, 3, false)
	for range 30 {
		s.w.Consume(0)
		s.w.Commit(0)
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(reasons(s.peek().Holds)).To(Equal([]Reason{ReasonGroupOffline}))
	s.w.Join(1)
	s.Expect(s.finish()).To(Equal([]StepKind{StepNarrowReads}))
	s.Expect(s.w.Brokers[0].Queues[3].Messages[0].Read).To(BeEquivalentTo(3), "both groups have read it")
}

func TestPlan_ASecondChangeOfMindAtEveryStage(t *testing.T) {
	for _, stage := range []Stage{StageNarrowingWrites, StageSettling, StageProvingAgain, StageNarrowingReads, StageWatching} {
		for _, then := range [][2]int{{8, 4}, {8, 2}, {6, 4}, {2, 8}, {2, 6}, {6, 8}} {
			s := newScene(t, 8, 4)
			s.until(stage)
			s.target(then[0])
			for range 4 {
				clients(s.w)
				s.w.Tick(time.Second)
				s.cycle()
			}
			s.target(then[1])
			s.finish()
			for _, b := range s.w.Brokers {
				s.Expect([]int{b.Read, b.Write}).To(Equal([]int{then[1], then[1]}), "%s, %v", stage, then)
			}
		}
	}
}
