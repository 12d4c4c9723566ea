// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// probe is a scene in which one proof is all that holds the planner back, and
// what it does when the proof is left out. The proofs whose lack loses a message
// in the model are in mutations; these guard the user's choices, exits, and
// what the model cannot tell.
type probe struct {
	name string
	skip skips
	make func(*testing.T) *scene
	look func(*snapshot.TopicLook)
	// broken reports whether a decision went past the proof; nil means that it
	// held nothing.
	broken func(*scene, Decision) bool
}

func untouched(*snapshot.TopicLook) {}

func changes(_ *scene, d Decision) bool { return d.Step.Changing() }

// declaring makes a shrink with an edited spec.
func declaring(edit func(*Spec)) func(*testing.T) *scene {
	return func(t *testing.T) *scene {
		s := newScene(t, 4, 2)
		edit(&s.spec)
		return s
	}
}

// watchEnded reports whether the watch of broker-a's retired queues is over.
func watchEnded(_ *scene, d Decision) bool {
	c, kept := d.Next.Note.Cuts["broker-a"]
	return !kept || c.Over
}

// settled makes a shrink in which a tampered queue has stood still.
func settled(look func(*snapshot.TopicLook), edit func(*Spec)) func(*testing.T) *scene {
	return func(t *testing.T) *scene {
		s := drainingScene(t)
		edit(&s.spec)
		for range 12 {
			s.saved = s.with(look).Next
		}
		return s
	}
}

func asIs(*Spec) {}

func watching(t *testing.T) *scene {
	s := newScene(t, 4, 2)
	s.w.Send(0, 0, 3, false)
	s.until(StageWatching)
	s.cycle()
	return s
}

func probes() []probe {
	beyond := onBroker("broker-b", offsetsOf("CG_AUDIT", 2, 0, 12, 900))
	pulled := onBroker("broker-b", func(b *snapshot.TopicOnBroker) { b.Pulled = same(b.Pulled, map[string]struct{}{"CG_PULL": {}}) })
	silent := func(l *snapshot.TopicLook) {
		onBroker("broker-b", offsetsOf("CG_POINTS", 3, 0, 7, 7))(l)
		onGroup("CG_NEWS", func(g *snapshot.GroupOnTopic) {
			members(2)(g)
			g.Broadcast, g.Protocol = snapshot.Known(true, g.Members.Origin()), snapshot.Known(snapshot.ProtocolClassic, g.Members.Origin())
		})(l)
	}
	history := onBroker("broker-b", offsetsOf("CG_POINTS", 3, 0, 7, 7))
	slave := onBroker("broker-b", func(b *snapshot.TopicOnBroker) {
		v, _ := b.Config.Get()
		o := b.Config.Origin()
		o.From.BrokerID = 1
		b.Config = snapshot.Known(v, o)
	})
	return []probe{
		{"R16_busy", skips{busy: true}, declaring(func(s *Spec) { s.Busy = map[string]string{"CG_POINTS": "x"} }), untouched, nil},
		{"Q09_order", skips{order: true}, declaring(func(s *Spec) { s.Ordered = true }), untouched, nil},
		{"R22_approval", skips{approval: true}, declaring(func(s *Spec) { s.Mode = ModeApprove }), untouched, nil},
		{"K02_firstSight", skips{firstSight: true}, declaring(func(s *Spec) { s.FirstSight = true }), untouched, nil},
		{"R04_stores", skips{store: true}, declaring(asIs), onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
			v, _ := b.Settings.Get()
			v.StoreType = "defaultRocksDB"
			b.Settings = same(b.Settings, v)
		}), nil},
		{"Q02_refusedKinds", skips{refused: true}, declaring(asIs), configured(func(c *snapshot.TopicConfig) { c.Static = true }), nil},
		{"R22_history", skips{history: true}, settled(history, func(s *Spec) { s.KeepHistory = true }), history, nil},
		{"R06_beyond", skips{beyond: true}, settled(beyond, asIs), beyond, nil},
		{"R07_pullOnly", skips{pullOnly: true}, settled(pulled, asIs), pulled, nil},
		{"R21_broadcast", skips{broadcast: true}, settled(silent, asIs), silent, nil},
		{"O25_warmUp", skips{warmUp: true}, declaring(asIs), func(l *snapshot.TopicLook) { l.WarmUp = map[string]string{"ns-0": "x"} }, nil},
		{"R03_nameServersDiffer", skips{differ: true}, declaring(asIs), func(l *snapshot.TopicLook) { otherMaster(l) }, nil},
		{"R03_whoAnswers", skips{answers: true}, declaring(asIs), slave, nil},
		{"R18_foreignChange", skips{foreign: true}, func(t *testing.T) *scene {
			s := newScene(t, 8, 4)
			s.until(StageSettling)
			s.cycle()
			s.w.Write(1, model.Counts{Present: true, Read: 16, Write: 5, Perm: snapshot.PermReadWrite})
			return s
		}, untouched, nil},
		{"R23_deletion", skips{closing: true}, declaring(func(s *Spec) { s.Closing = true }), untouched, changes},
		{"R14_hidden", skips{hide: true}, func(t *testing.T) *scene {
			s := leavingScene(t)
			s.untilStep(StepSetPermission, permHidden)
			return s
		}, untouched, func(_ *scene, d Decision) bool { return d.Step.Kind == StepDeleteFromBroker }},
		{"R14_othersRouted", skips{others: true}, func(t *testing.T) *scene {
			s := leavingScene(t)
			s.w.NameServers[1].Routes[0] = model.Counts{}
			return s
		}, untouched, nil},
		{"R35_entries", skips{entries: true}, func(t *testing.T) *scene {
			s := newScene(t, 4, 8)
			s.w.Brokers[0].Read = 8
			s.w.Brokers[0].Queues[6] = model.Queue{Messages: make([]model.Message, 2), Shown: 2}
			for n := range s.w.NameServers {
				s.w.Register(0, n)
			}
			s.saved = Progress{}
			for range 5 {
				for _, seed := range s.peek().Step.Seeds {
					s.w.SetOffset(seed.Group, s.w.Index(seed.Broker), seed.Queue, int(seed.Offset))
				}
				s.w.Brokers[1].Read = 8
				for g := range s.w.Groups {
					s.w.Groups[g].Committed[0][6] = model.None
				}
			}
			return s
		}, untouched, func(_ *scene, d Decision) bool { return len(d.Holds) == 0 || d.Holds[0].Reason != ReasonNoEntry }},
		{"R13_readers", skips{readers: true}, func(t *testing.T) *scene {
			s := newScene(t, 4, 8)
			s.until(StageAwaitingReaders)
			return s
		}, untouched, nil},
		{"Q10_orderConfig", skips{orderConf: true}, func(t *testing.T) *scene {
			s := newScene(t, 8, 4)
			s.spec.AllowOrderChange = true
			s.until(StageSettling)
			return s
		}, func(l *snapshot.TopicLook) {
			l.OrderConfig["ns-1"] = same(l.OrderConfig["ns-1"], "broker-a:8;broker-b:4")
		},
			func(_ *scene, d Decision) bool { return d.Step.Kind != StepSetOrderConfig }},
		{"R05_jumps", skips{jumps: true}, func(t *testing.T) *scene {
			s := newScene(t, 4, 2)
			s.until(StageProvingAgain)
			s.jumpBack()
			return s
		}, untouched, func(_ *scene, d Decision) bool { return d.Stage != StageSettling }},
		{"R05_gaps", skips{gap: true, jumps: true}, func(t *testing.T) *scene {
			s := newScene(t, 4, 2)
			s.until(StageProvingAgain)
			s.w.Tick(brisk().MaxGap + time.Second)
			return s
		}, untouched, func(_ *scene, d Decision) bool { return d.Stage != StageSettling }},
		{"R11_lostTail", skips{lostTail: true}, func(t *testing.T) *scene {
			s := watching(t)
			s.w.Brokers[0].Queues[3] = model.Queue{}
			for g := range s.w.Groups {
				s.w.Groups[g].Committed[0][3] = 0
			}
			for s.w.Now.Before(s.saved.Note.Cuts["broker-a"].End.Add(2 * time.Second)) {
				s.w.Tick(time.Second)
				s.saved = s.peek().Next
			}
			return s
		}, untouched, watchEnded},
		{"R10_atWorkAtTheEnd", skips{atWork: true}, func(t *testing.T) *scene {
			s := watching(t)
			for s.w.Now.Before(s.saved.Note.Cuts["broker-a"].End.Add(-time.Second)) {
				s.w.Tick(time.Second)
				s.saved = s.peek().Next
			}
			s.w.Stop(0)
			s.w.Tick(2 * time.Second)
			s.w.Start(0, false)
			return s
		}, untouched, watchEnded},
	}
}

// TestMutations_EachRuleIsNeeded is the second half of the test of the tests:
// each proof holds its scene, and with it left out the planner goes past it.
func TestMutations_EachRuleIsNeeded(t *testing.T) {
	for _, p := range probes() {
		t.Run(p.name, func(t *testing.T) {
			broken := p.broken
			if broken == nil {
				broken = func(_ *scene, d Decision) bool { return len(d.Holds) == 0 }
			}
			s := p.make(t)
			if d := s.with(p.look); broken(s, d) {
				t.Errorf("with the proof in place: stage %s, step %s, holds %v", d.Stage, d.Step.Kind, d.Holds)
			}
			s = p.make(t)
			s.skip = p.skip
			if d := s.with(p.look); !broken(s, d) {
				t.Errorf("leaving the proof out goes unnoticed: stage %s, step %s, holds %v", d.Stage, d.Step.Kind, d.Holds)
			}
		})
	}
}

// TestMutations_CoverEveryProof keeps the two tables complete: whatever can be
// left out has a test that notices.
func TestMutations_CoverEveryProof(t *testing.T) {
	covered := map[string]bool{}
	for _, m := range mutations() {
		leftOut(m.skip, covered)
	}
	for _, p := range probes() {
		leftOut(p.skip, covered)
	}
	for name, has := range leftOut(skips{}, covered) {
		if !has {
			t.Errorf("no test notices that proof %q is left out", name)
		}
	}
}

// leftOut notes, by field name, which proofs are left out.
func leftOut(s skips, covered map[string]bool) map[string]bool {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		covered[name] = covered[name] || v.Field(i).Bool()
	}
	return covered
}
