// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// unknowns is every way in which a look of a topic in need of a cut may fall
// short; none of them may lead to a changing step.
var unknowns = map[string]func(*snapshot.TopicLook){
	"no master agreed on": onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Master = snapshot.Unknown[string]("name servers differ") }),
	"config unknown": onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		b.Config = snapshot.Unknown[snapshot.StoredTopic]("timeout")
	}),
	"another broker answered": onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		v, _ := b.Config.Get()
		o := b.Config.Origin()
		o.From.Name = "broker-z"
		b.Config = snapshot.Known(v, o)
	}),
	"a slave answered": onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		v, _ := b.Config.Get()
		o := b.Config.Origin()
		o.From.BrokerID = 1
		b.Config = snapshot.Known(v, o)
	}),
	"name server silent":     func(l *snapshot.TopicLook) { l.Routes["ns-1"] = snapshot.Unknown[snapshot.Route]("timeout") },
	"no name server":         func(l *snapshot.TopicLook) { l.Routes = nil },
	"name server warming up": func(l *snapshot.TopicLook) { l.WarmUp = map[string]string{"ns-0": "started 5 s ago"} },
	"another master routed":  otherMaster,
	"groups unknown":         func(l *snapshot.TopicLook) { l.Groups = snapshot.Unknown[map[string]snapshot.GroupOnTopic]("timeout") },
	"order config unknown":   func(l *snapshot.TopicLook) { l.OrderConfig["ns-1"] = snapshot.Unknown[string]("timeout") },
	"broker not in the look": func(l *snapshot.TopicLook) { delete(l.Brokers, "broker-b"); l.Foreign = nil },
	"committed unknown":      onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Committed = snapshot.Unknown[map[string]map[int]int64]("cut") }),
	"ends unknown":           onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Queues = snapshot.Unknown[map[int]snapshot.QueueOffsets]("cut") }),
	"one end missing":        onBroker("broker-b", dropEnd),
	"pull offsets unknown":   onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Pulled = snapshot.Unknown[map[string]struct{}]("cut") }),
	"dispatch unknown":       onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Runtime = snapshot.Unknown[snapshot.Runtime]("cut") }),
	"settings unknown":       onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Settings = snapshot.Unknown[snapshot.Settings]("cut") }),
	"pending unknown":        onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Pending = snapshot.Unknown[snapshot.Pending]("cut") }),
	"ends before committed":  onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Queues = moved(b.Queues, -time.Millisecond) }),
	"config before ends":     onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Queues = moved(b.Queues, time.Millisecond) }),
	"dispatch after ends":    onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Runtime = moved(b.Runtime, time.Millisecond) }),
	"pending after ends":     onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Pending = moved(b.Pending, time.Millisecond) }),
	"offsets carried over": onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		b.Committed, b.Queues = moved(b.Committed, -time.Hour), moved(b.Queues, -time.Hour)
	}),
	"ends of another process": onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Queues = rebooted(b.Queues) }),
	"membership unknown": onGroup("CG_POINTS", func(g *snapshot.GroupOnTopic) {
		g.Broadcast = snapshot.Unknown[bool]("member did not answer")
	}),
}

func otherMaster(l *snapshot.TopicLook) {
	r, _ := l.Routes["ns-1"].Get()
	r.Masters = map[string]string{"broker-a": r.Masters["broker-a"], "broker-b": "10.9.9.9:10911"}
	l.Routes["ns-1"] = same(l.Routes["ns-1"], r)
}

func dropEnd(b *snapshot.TopicOnBroker) {
	ends, _ := b.Queues.Get()
	kept := map[int]snapshot.QueueOffsets{}
	for q, e := range ends {
		if q != 3 {
			kept[q] = e
		}
	}
	b.Queues = same(b.Queues, kept)
}

func moved[T any](f snapshot.Fact[T], by time.Duration) snapshot.Fact[T] {
	v, _ := f.Get()
	o := f.Origin()
	o.Sent = o.Sent.Add(by)
	return snapshot.Known(v, o)
}

func rebooted[T any](f snapshot.Fact[T]) snapshot.Fact[T] {
	v, _ := f.Get()
	o := f.Origin()
	o.From.Booted = o.From.Booted.Add(time.Minute)
	return snapshot.Known(v, o)
}

func TestR01_UnknownUnlocksNoCut(t *testing.T) {
	for name, tamper := range unknowns {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 4, 2)
			s.until(StageProvingAgain)
			s.cycle() // asks for a look of its own
			s.Expect(s.saved.Lived.fresh.IsZero()).To(BeFalse())
			d := s.with(tamper)
			s.Expect(d.Step.Changing()).To(BeFalse(), "%v", d.Step)
			s.Expect(d.Step.Kind == StepFreshLook || len(d.Holds) > 0).To(BeTrue())
			s.Expect(s.peek().Step.Kind).To(Equal(StepNarrowReads), "the same look untouched must cut")
		})
	}
}

func TestR01_LookBegunBeforeTheLastStepProvesNothing(t *testing.T) {
	s := newScene(t, 4, 2)
	l := s.look()
	s.w.Tick(time.Second)
	d := Plan(s.spec, s.saved.Acted(s.w.Now), l, s.w.Now)
	s.Expect(d.Step.Kind).To(Equal(StepFreshLook))
	s.w.Tick(time.Second)
	d = Plan(s.spec, s.saved.Acted(s.w.Now.Add(-time.Second)), s.look(), s.w.Now)
	s.Expect(d.Step.Kind).To(Equal(StepNarrowWrites))
}

func TestR02_CutOnlyOnALookOfItsOwnThatIsSecondsOld(t *testing.T) {
	s := newScene(t, 4, 2)
	d := s.until(StageProvingAgain)
	s.Expect(d.Step.Kind).To(Equal(StepFreshLook))
	s.cycle()
	asked := s.saved
	s.w.Tick(time.Second)
	l := s.look()
	d = Plan(s.spec, asked, l, s.w.Now.Add(brisk().CutLookAge+time.Second))
	s.Expect(d.Step.Kind).To(Equal(StepFreshLook), "an old look must not cut")
	d = Plan(s.spec, asked, l, s.w.Now)
	s.Expect(d.Step.Kind).To(Equal(StepNarrowReads))
	s.Expect(d.Step.NotAfter).To(Equal(l.Started.Add(brisk().CutLookAge)))
	s.Expect(d.Step.Cuts()).To(BeTrue())
}

func TestR04_DispatchBehindHolds(t *testing.T) {
	s := newScene(t, 4, 2)
	s.until(StageProvingAgain)
	d := s.with(onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
		b.Runtime = same(b.Runtime, snapshot.Runtime{DispatchBehind: 512})
	}))
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonDispatchBehind}))
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("512 bytes"))
}

func TestR04_OtherStoresAreNotShrunk(t *testing.T) {
	s := newScene(t, 4, 2)
	d := s.with(onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
		v, _ := b.Settings.Get()
		v.StoreType = "defaultRocksDB"
		b.Settings = same(b.Settings, v)
	}))
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonUnsupportedStore}))
}

func TestR05_WindowsBeginAgain(t *testing.T) {
	for name, disturb := range map[string]func(*scene){
		"after a restart of the operator": func(s *scene) { s.crash() },
		"after a restart of a broker":     func(s *scene) { s.w.Stop(0); s.w.Start(0, false) },
		"after a long gap":                func(s *scene) { s.w.Tick(brisk().MaxGap + time.Second) },
		"after the clock went back":       func(s *scene) { s.jumpBack() },
		"after a wider route": func(s *scene) {
			s.w.NameServers[0].Routes[0].Write = 4
			s.cycle()
			s.w.Register(0, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 4, 2)
			s.until(StageProvingAgain)
			disturb(s)
			d := s.peek()
			s.Expect(d.Stage).To(Equal(StageSettling))
			s.Expect(d.Proof.Settled).To(BeZero())
		})
	}
}

func TestR05_LateWindowKeepsItsRecordedEnd(t *testing.T) {
	s := newScene(t, 4, 2)
	s.until(StageWatching)
	s.cycle()
	end := s.saved.Note.Cuts["broker-a"].End
	s.Expect(end.IsZero()).To(BeFalse())
	s.crash()
	s.w.Tick(time.Second)
	s.cycle()
	s.Expect(s.saved.Note.Cuts["broker-a"].End).To(Equal(end), "a restart keeps it")
	s.w.Tick(time.Minute) // nobody looked for a minute: a clock that jumped looks the same
	s.cycle()
	s.Expect(s.saved.Note.Cuts["broker-a"].End.After(end)).To(BeTrue(), "never an earlier one")
	s.Expect(s.saved.Note.Cuts["broker-a"].Over).To(BeFalse())
}

func TestO25_NoWriteWhileANameServerWarmsUp(t *testing.T) {
	s := newScene(t, 4, 8)
	d := s.with(func(l *snapshot.TopicLook) {
		l.WarmUp = map[string]string{"ns-1": "it lists 3 of 40 topics of broker-a"}
	})
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(d.Holds[0].Reason).To(Equal(ReasonNameServerWarmUp))
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("3 of 40"))
}

func TestR03_NameServersThatDifferHold(t *testing.T) {
	s := newScene(t, 4, 2)
	d := s.with(otherMaster)
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(reasons(d.Holds)).To(ContainElement(ReasonNameServersDiffer))
}

func TestPlan_IsPure(t *testing.T) {
	s := newScene(t, 4, 2)
	s.until(StageSettling)
	w := s.w.Clone()
	before := (&run{w: w, spec: s.spec, saved: s.saved}).key(nil)
	l := s.look()
	first := Plan(s.spec, s.saved, l, s.w.Now)
	second := Plan(s.spec, s.saved, l, s.w.Now)
	s.Expect(second).To(Equal(first))
	s.Expect((&run{w: w, spec: s.spec, saved: s.saved}).key(nil)).To(Equal(before))
	s.Expect(first.Next.Record.Brokers).NotTo(BeIdenticalTo(s.saved.Record.Brokers))
}
