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

// finish runs to the end and returns the kinds of the changing steps, in order.
func (s *scene) finish() []StepKind {
	var kinds []StepKind
	for range 300 {
		clients(s.w)
		if d := s.peek(); d.Step.Changing() {
			kinds = append(kinds, d.Step.Kind)
		}
		s.cycle()
		s.Expect(s.bad).To(BeEmpty())
		if s.rested() {
			return kinds
		}
	}
	s.Fail("the end was not reached")
	return nil
}

func TestQ01_ShrinkGoesWritesThenReads(t *testing.T) {
	s := newScene(t, 8, 4)
	s.Expect(s.finish()).To(Equal([]StepKind{StepNarrowWrites, StepNarrowReads}))
	for _, b := range s.w.Brokers {
		s.Expect([]int{b.Read, b.Write}).To(Equal([]int{4, 4}))
	}
}

func TestQ04_GrowthSeedsThenReadsThenWrites(t *testing.T) {
	s := newScene(t, 4, 8)
	s.w.Leave(1) // stopped while the topic grows
	d := s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(HaveLen(2*2*4), "two groups, the offline one included, on four new queues of two brokers")
	s.Expect(d.Stage).To(Equal(StageSeeding))
	s.Expect(s.finish()).To(Equal([]StepKind{StepSetOffsets, StepWidenReads, StepWidenWrites}))
}

func TestQ02_Q03_WriteAboveReadIsRepairedByRaisingReads(t *testing.T) {
	s := newScene(t, 8, 8)
	s.w.Write(0, model.Counts{Present: true, Read: 2, Write: 8, Perm: snapshot.PermReadWrite})
	s.w.Groups[1].Committed[0][5] = model.None
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageRepairing))
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(Equal([]Seed{{Group: "CG_AUDIT", Broker: "broker-a", Queue: 5, Offset: 0}}))
	s.Expect(d.Findings[0].Long()).To(ContainSubstring("broker-a: has read 2 below write 8: messages in queues 2 to 7 are invisible"))
	s.w.SetOffset("CG_AUDIT", 0, 5, 0)
	d = s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepRepairReads))
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 8, 8, 6}))
}

func TestPlan_TurnsRoundAtOnceBeforeTheCut(t *testing.T) {
	for _, stage := range []Stage{StageSettling, StageProvingAgain} {
		t.Run(string(stage), func(t *testing.T) {
			s := newScene(t, 8, 4)
			s.until(stage)
			s.target(8)
			d := s.peek()
			s.Expect(d.Step.Kind).To(Equal(StepWidenWrites))
			s.Expect(d.Stage).To(Equal(StageWideningWrites))
			s.Expect(s.finish()).To(Equal([]StepKind{StepWidenWrites}))
		})
	}
}

func TestPlan_NewTargetWhileTheLateWindowRuns(t *testing.T) {
	for _, c := range []struct {
		target int
		want   []StepKind
	}{
		{8, []StepKind{StepWidenReads, StepWidenWrites}},
		{6, []StepKind{StepWidenReads, StepWidenWrites}},
		{2, []StepKind{StepNarrowWrites, StepNarrowReads}},
	} {
		s := newScene(t, 8, 4)
		s.until(StageWatching)
		s.target(c.target)
		s.Expect(s.finish()).To(Equal(c.want))
	}
}

func TestR10_WindowStartsAtTheReadBackOfTheLastNarrowing(t *testing.T) {
	for name, c := range map[string]struct {
		spec func(*Spec)
		want time.Duration
	}{
		"the user's promise":            {func(s *Spec) { s.LongestDelay = 7 * time.Second }, 7 * time.Second},
		"else the longest of a broker":  {func(s *Spec) { s.LongestDelay = 0 }, 9 * time.Second},
		"never below retention: halves": {func(s *Spec) { s.LongestDelay = time.Second; s.Transactions = true }, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 4, 2)
			c.spec(&s.spec)
			s.until(StageNarrowingReads)
			s.cycle()
			s.w.Tick(time.Second)
			s.cycle()
			for _, cut := range s.saved.Note.Cuts {
				s.Expect(cut.Closed).To(Equal(s.w.Now))
				s.Expect(cut.End).To(Equal(s.w.Now.Add(c.want)))
			}
		})
	}
}

func TestR11_R12_LateMessageReopensSeededFromTheNotedEnd(t *testing.T) {
	s := newScene(t, 4, 2)
	for g := range s.w.Groups {
		s.w.Groups[g].Committed[0][3] = model.None
		s.w.Leave(g)
	}
	s.until(StageWatching)
	s.w.Brokers[0].Queues[3] = model.Queue{Messages: make([]model.Message, 1), Shown: 1}
	d := s.peek()
	s.Expect(d.Stage).To(Equal(StageReopening))
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(ConsistOf(Seed{"CG_AUDIT", "broker-a", 3, 0}, Seed{"CG_POINTS", "broker-a", 3, 0}))
	s.Expect(d.Findings[0].Long()).To(ContainSubstring("1 message unread on retired 1 queue (broker-a/3)"))
	s.saved = d.Next
	for _, seed := range d.Step.Seeds {
		s.w.SetOffset(seed.Group, 0, seed.Queue, int(seed.Offset))
	}
	d = s.peek()
	s.Expect(d.Step.Kind).To(Equal(StepReopenReads))
	s.Expect(d.Step.Changes).To(HaveLen(1))
	s.Expect(d.Step.Changes[0].Want).To(Equal(Shown{true, 4, 2, 6}))
	s.Expect(d.Next.Record.Reopened).To(Equal(1))
	s.Expect(d.InForce).To(BeTrue())
	s.w.Join(0)
	s.w.Join(1)
	s.Expect(s.finish()).To(Equal([]StepKind{StepReopenReads, StepNarrowReads}))
}

func TestR11_ALogThatLostItsTailIsNamedAndNotPassed(t *testing.T) {
	s := newScene(t, 4, 2)
	for range 3 {
		s.w.Send(0, 0, 3, false)
	}
	s.until(StageWatching)
	s.Expect(s.saved.Note.Cuts["broker-a"].Base).To(Equal([]int64{0, 3}))
	s.w.Brokers[0].Queues[3].Shown = 2
	for range 30 {
		s.w.Tick(time.Second)
		s.cycle()
	}
	s.Expect(s.saved.Note.Cuts["broker-a"].Over).To(BeFalse())
	s.Expect(reasons(s.peek().Findings)).To(ContainElement(ReasonLogLostTail))
}

func TestR18_ForeignChangeStopsAndIsNamed(t *testing.T) {
	s := newScene(t, 8, 4)
	s.until(StageSettling)
	s.cycle()
	s.w.Write(1, model.Counts{Present: true, Read: 16, Write: 5, Perm: snapshot.PermReadWrite})
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonForeignChange}))
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("broker-b: shows read 16, write 5, permission 6, which is neither the last read-back (read 8, write 4, permission 6)"))
	edited := s.spec
	edited.Generation++
	s.w.Tick(time.Second)
	s.Expect(Plan(edited, s.saved, s.look(), s.w.Now).Step.Kind).To(Equal(StepNarrowWrites), "an edit goes on from there")
	s.spec.Approved = d.Approval.ID
	s.Expect(s.peek().Step.Kind).To(Equal(StepNarrowWrites), "so does an approval")
}

func TestK02_FirstSightNeverShrinks(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.FirstSight = true
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonAdoptedLarger}))
	s.saved = d.Next
	s.spec.Approved = "NarrowWrites-4-deadbeef"
	s.Expect(s.peek().Step.Changing()).To(BeFalse(), "a stale approval does nothing")
	s.spec.Approved = d.Approval.ID
	s.Expect(s.peek().Step.Kind).To(Equal(StepNarrowWrites))
	grow := newScene(t, 4, 8)
	grow.spec.FirstSight = true
	grow.Expect(grow.peek().Step.Changing()).To(BeTrue(), "growth is no shrink")
}

func TestApprove_StopsBeforeEachCutWithItsProof(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.Mode = ModeApprove
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonAwaitingApproval}))
	s.Expect(d.InForce).To(BeFalse())
	s.accept(d)
	for range 5 {
		s.w.Send(0, 0, 7, false)
	}
	var wait Decision
	for range 60 {
		clients(s.w)
		s.cycle()
		if wait = s.peek(); wait.Approval != nil && wait.Approval.Step == StepNarrowReads {
			break
		}
	}
	s.Expect(reasons(wait.Holds)).To(Equal([]Reason{ReasonAwaitingApproval}))
	s.Expect(wait.Approval.Proof).To(ContainSubstring("takes away 5 messages that can be read again"), "R22")
	s.Expect(wait.InForce).To(BeTrue())
	s.accept(wait)
	s.Expect(s.finish()).To(Equal([]StepKind{StepNarrowReads}))
}

func TestR22_HistoryIsKeptWhenTheSpecAsks(t *testing.T) {
	s := newScene(t, 4, 2)
	s.spec.KeepHistory = true
	s.w.Send(0, 1, 3, false)
	for range 30 {
		clients(s.w)
		s.w.Tick(time.Second)
		s.cycle()
	}
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonHistory}))
	s.Expect(d.Holds[0].Where).To(Equal([]QueueRef{{"broker-b", 3}}))
}

func TestQ09_OrderedTopicsNeedTheExplicitChoice(t *testing.T) {
	for name, order := range map[string]struct {
		spec   func(*Spec)
		tamper func(*snapshot.TopicLook)
	}{
		"declared":      {spec: func(s *Spec) { s.Ordered = true }},
		"FIFO":          {spec: func(s *Spec) { s.MessageType = "FIFO" }},
		"PRIORITY":      {spec: func(s *Spec) { s.MessageType = "PRIORITY" }},
		"on the broker": {tamper: configured(func(c *snapshot.TopicConfig) { c.Order = true })},
		"FIFO attribute": {tamper: configured(func(c *snapshot.TopicConfig) {
			c.Attributes = map[string]string{"message.type": "FIFO"}
		})},
		"Q10: order configuration": {tamper: func(l *snapshot.TopicLook) {
			l.OrderConfig["ns-0"] = same(l.OrderConfig["ns-0"], "broker-a:8;broker-b:8")
		}},
	} {
		for _, target := range []int{4, 8} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, 6, target)
				if order.spec != nil {
					order.spec(&s.spec)
				}
				if order.tamper == nil {
					order.tamper = func(*snapshot.TopicLook) {}
				}
				d := s.with(order.tamper)
				s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonOrderedTopic}))
				s.spec.AllowOrderChange = true
				s.Expect(s.with(order.tamper).Step.Changing()).To(BeTrue())
			})
		}
	}
}

func configured(do func(*snapshot.TopicConfig)) func(*snapshot.TopicLook) {
	return onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		v, _ := b.Config.Get()
		do(&v.Config)
		b.Config = same(b.Config, v)
	})
}

func TestQ10_OrderConfigurationFollowsTheWrites(t *testing.T) {
	s := newScene(t, 8, 4)
	s.spec.AllowOrderChange = true
	s.until(StageSettling)
	d := s.with(func(l *snapshot.TopicLook) {
		l.OrderConfig["ns-1"] = same(l.OrderConfig["ns-1"], "broker-a:8;broker-b:4;other:9")
	})
	s.Expect(d.Step.Kind).To(Equal(StepSetOrderConfig))
	s.Expect(d.Step.Order).To(Equal([]OrderEntry{{NameServer: "ns-1", Expect: "broker-a:8;broker-b:4;other:9", Value: "broker-a:4;broker-b:4;other:9"}}))
	d = s.with(func(l *snapshot.TopicLook) { l.OrderConfig["ns-1"] = same(l.OrderConfig["ns-1"], "nonsense") })
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonOrderConfig}))
}

func TestPlan_RefusesTopicsThatAreNotItsToChange(t *testing.T) {
	for name, c := range map[string]struct {
		spec   func(*Spec)
		tamper func(*snapshot.TopicConfig)
		want   Reason
	}{
		"static":       {tamper: func(c *snapshot.TopicConfig) { c.Static = true }, want: ReasonRefusedTopic},
		"compaction":   {tamper: func(c *snapshot.TopicConfig) { c.Attributes = map[string]string{"cleanup.policy": "COMPACTION"} }, want: ReasonRefusedTopic},
		"LITE":         {tamper: func(c *snapshot.TopicConfig) { c.Attributes = map[string]string{"message.type": "LITE"} }, want: ReasonRefusedTopic},
		"LITE in spec": {spec: func(s *Spec) { s.MessageType = "LITE" }, want: ReasonRefusedTopic},
		"no queue":     {spec: func(s *Spec) { s.Queues = 0 }, want: ReasonInvalidSpec},
		"negative":     {spec: func(s *Spec) { s.Queues = -1 }, want: ReasonInvalidSpec},
		"too many":     {spec: func(s *Spec) { s.Queues = MaxQueues + 1 }, want: ReasonInvalidSpec},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 8, 4)
			if c.spec != nil {
				c.spec(&s.spec)
			}
			if c.tamper == nil {
				c.tamper = func(*snapshot.TopicConfig) {}
			}
			d := s.with(configured(c.tamper))
			s.Expect(reasons(d.Holds)).To(Equal([]Reason{c.want}))
		})
	}
	for _, topic := range []string{"%RETRY%CG", "%DLQ%CG", "rmq_sys_wheel_timer", "SCHEDULE_TOPIC_XXXX", "%LMQ%x"} {
		s := newScene(t, 8, 4)
		s.spec.Topic = topic
		look := s.look()
		look.Topic = topic
		s.Expect(reasons(Plan(s.spec, Progress{}, look, look.Finished).Holds)).To(Equal([]Reason{ReasonRefusedTopic}), topic)
	}
}

func TestR15_PendingMustBeUnseenTwice(t *testing.T) {
	for name, tamper := range map[string]func(*snapshot.Pending){
		"a level":        func(p *snapshot.Pending) { p.Delay = map[int]snapshot.Progress{5: {Delivered: 1, Max: 3}} },
		"own of a level": func(p *snapshot.Pending) { p.Own = map[int]map[int]int64{1: {2: 1}} },
		"timers":         func(p *snapshot.Pending) { p.Timers = 2 },
		"wheel behind":   func(p *snapshot.Pending) { p.TimersBehind = 9 },
		"halves":         func(p *snapshot.Pending) { p.Halves = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 4, 2)
			s.spec.LongestDelay = 40 * time.Second
			s.until(StageProvingAgain)
			look := onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
				v, _ := b.Pending.Get()
				tamper(&v)
				b.Pending = same(b.Pending, v)
			})
			d := s.with(look)
			s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonLatePending}))
			s.Expect(d.Holds[0].Wait).To(BeNumerically("~", 33*time.Second, 10*time.Second))
			s.saved = d.Next
			s.Expect(s.peek().Stage).To(Equal(StageLateMessages), "one clear look is not enough")
			for range 45 {
				d = s.with(look)
				s.saved = d.Next
			}
			s.Expect(d.Holds).To(BeEmpty(), "a whole late window was lived through instead")
		})
	}
}

func TestR42_OtherTopicsDelaysDoNotHoldWhenAttributed(t *testing.T) {
	s := newScene(t, 4, 2)
	s.until(StageProvingAgain)
	d := s.with(onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
		b.Pending = same(b.Pending, snapshot.Pending{Delay: map[int]snapshot.Progress{3: {Delivered: 5, Max: 90}}, Own: map[int]map[int]int64{3: {}}, Halves: 4, OwnHalves: map[int]int64{}})
	}))
	s.Expect(d.Step.Kind).To(Equal(StepFreshLook))
	stamped := func(queue int) Decision {
		return s.with(onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
			b.Pending = same(b.Pending, snapshot.Pending{Delay: map[int]snapshot.Progress{3: {Delivered: 5, Max: 90}}, Own: map[int]map[int]int64{3: {queue: 7}}})
		}))
	}
	s.Expect(stamped(1).Step.Kind).To(Equal(StepFreshLook), "of a queue that stays")
	s.Expect(reasons(stamped(2).Holds)).To(Equal([]Reason{ReasonLatePending}), "of a queue that goes")
}
