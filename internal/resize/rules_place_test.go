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

// gone removes the topic from a broker of a scene, as if it never had it.
func (s *scene) gone(broker int) {
	s.w.Brokers[broker].Counts, s.w.Brokers[broker].Before = model.Counts{}, model.Counts{}
	for g := range s.w.Groups {
		for q := range s.w.Groups[g].Committed[broker] {
			s.w.Groups[g].Committed[broker][q] = model.None
			s.w.Groups[g].Local[broker][q] = model.None
		}
	}
	for n := range s.w.NameServers {
		s.w.Register(broker, n)
	}
	s.saved = Progress{}
}

func TestPlan_CreatesWhatNobodyHas(t *testing.T) {
	s := newScene(t, 4, 4)
	s.gone(0)
	s.gone(1)
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageCreating))
	s.Expect(d.Step.Kind).To(Equal(StepCreateTopic))
	s.Expect(d.Step.Changes).To(HaveLen(2))
	s.Expect(d.Step.Changes[0].Expect).To(Equal(Shown{}))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 4, 6}))
}

func TestQ12_R14_ABrokerIsAddedClosedAndOpenedOnceSeeded(t *testing.T) {
	s := newScene(t, 4, 4)
	s.gone(1)
	s.w.Leave(1) // an offline group must not skip what lands on the new broker
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageAddingBroker))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 4, 4}), "closed to writers")
	kinds := s.finish()
	s.Expect(kinds[0]).To(Equal(StepCreateTopic))
	s.Expect(kinds[len(kinds)-1]).To(Equal(StepSetPermission))
	s.Expect(kinds).To(ContainElement(StepSetOffsets))
	for q := range 4 {
		s.Expect(s.w.Groups[1].Committed[1][q]).To(Equal(0))
	}
}

func TestPlacement_ABrokerThatLeavesTheSpecIsDrainedThenDeleted(t *testing.T) {
	s := newScene(t, 4, 4)
	s.cycle()
	s.Expect(s.saved.Record.Placed).To(Equal([]string{"broker-a", "broker-b"}))
	s.spec.Placement = []string{"broker-a"}
	s.spec.Generation++
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageClosingBroker))
	s.Expect(d.Step.Kind).To(Equal(StepSetPermission))
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 4, 4}), "write stays at least 1")
	began := s.w.Now
	s.Expect(s.finish()).To(Equal([]StepKind{StepSetPermission, StepSetPermission, StepDeleteFromBroker}), "closed, hidden, deleted")
	s.Expect(s.w.Now.Sub(began)).To(BeNumerically(">", s.spec.LongestDelay), "the late window is lived through with reads open")
	s.Expect(s.w.Brokers[1].Present).To(BeFalse())
	s.Expect(s.w.Brokers[0].Counts).To(Equal(model.Counts{Present: true, Read: 4, Write: 4, Perm: 6}))
	s.Expect(s.saved.Record.Placed).To(Equal([]string{"broker-a"}))
}

func TestO35_ARouteThatOutlivesTheTopicIsWaitedFor(t *testing.T) {
	s := newScene(t, 4, 4)
	s.cycle()
	s.spec.Placement = []string{"broker-a"}
	for s.w.Brokers[1].Present {
		clients(s.w)
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.w.NameServers[1].Routes[1] = model.Counts{Present: true, Read: 4, Write: 4, Perm: 4}
	for range 3 {
		d := s.peek()
		s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonRouteBehind}))
		s.Expect(d.Holds[0].Long()).To(Equal("ns-1: routes broker-b with read 4, write 4, permission 4; the broker has none"))
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.w.Register(1, 1)
	s.Expect(s.peek().AsDeclared).To(BeTrue())
}

func TestPlacement_AnUnreadMessageHoldsTheDeletion(t *testing.T) {
	s := newScene(t, 4, 4)
	s.cycle()
	s.w.Send(0, 1, 0, false)
	s.spec.Placement = []string{"broker-a"}
	for range 60 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(HaveEach(ReasonUnread))
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(s.w.Brokers[1].Present).To(BeTrue())
}

func TestPlacement_ABrokerNeverPlacedIsNamedAndLeftAlone(t *testing.T) {
	s := newScene(t, 8, 4)
	s.saved = Progress{}
	s.spec.Placement = []string{"broker-a"}
	d := s.with(func(l *snapshot.TopicLook) { l.Foreign = []string{"other-1"} })
	s.Expect(reasons(d.Findings)).To(Equal([]Reason{FindingUndeclaredBroker, FindingForeignBroker}))
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Broker).To(Equal("broker-a"))
}

func TestPlacement_NothingIsClosedWhileNoDeclaredBrokerTakesWrites(t *testing.T) {
	s := newScene(t, 4, 4)
	s.cycle()
	s.spec.Placement = []string{"broker-z"}
	d := s.peek()
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(d.Holds[0].Reason).To(Equal(ReasonMasterMissing))
}

func TestStranded_MessagesAreNamedAndRescuedWhenAsked(t *testing.T) {
	s := newScene(t, 4, 4)
	s.w.Brokers[1].Queues[6] = model.Queue{Messages: make([]model.Message, 5), Shown: 5}
	s.w.Groups[0].Committed[1][6] = 2
	s.w.Groups[1].Committed[1][6] = 5
	s.saved = Progress{}
	d := s.peek()
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(d.AsDeclared).To(BeTrue())
	s.Expect(d.Findings).To(HaveLen(1))
	s.Expect(d.Findings[0].Long()).To(Equal("3 messages for CG_POINTS lie in 1 queue that nobody can read any more (broker-b/6); set the rescue in spec.resize to make them readable again"))
	s.spec.Rescue = true
	d = s.peek()
	s.Expect(d.Stage).To(Equal(StageRescuing))
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets), "queues 4, 5 and 7 have no entries yet")
	for _, seed := range d.Step.Seeds {
		s.w.SetOffset(seed.Group, s.w.Index(seed.Broker), seed.Queue, int(seed.Offset))
	}
	d = s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepWidenReads))
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 7, 4, 6}))
}

func TestQ20_ALostNoteCostsTimeNotMessages(t *testing.T) {
	s := newScene(t, 8, 4)
	s.until(StageSettling)
	s.saved = Progress{} // status and note are gone
	s.Expect(s.finish()).To(Equal([]StepKind{StepNarrowReads}))
}

func TestR12_RegrownQueueProvenDrainedIsSeededAtItsEnd(t *testing.T) {
	s := newScene(t, 4, 2)
	for range 3 {
		s.w.Send(0, 0, 3, false)
	}
	s.finish()
	for range 30 { // until retention has passed and the note is gone
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(s.saved.Note.Empty()).To(BeTrue())
	s.w.AddGroup("CG_NEW", model.Classic, false)
	for q := range 8 {
		s.w.Groups[2].Committed[0][q] = model.None
	}
	s.target(4)
	d := s.peek()
	s.Expect(d.Step.Seeds).To(ContainElement(Seed{"CG_NEW", "broker-a", 3, 3}))
	s.saved.Record.Brokers["broker-a"] = BrokerRecord{} // a lost status: the whole history again, nothing skipped
	s.Expect(s.peek().Step.Seeds).To(ContainElement(Seed{"CG_NEW", "broker-a", 3, 0}))
}
