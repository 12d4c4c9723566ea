// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
	"github.com/lockstep-dev/lockstep/internal/subscription/model"
)

// changing is a group of three members on two brokers whose manifest asks for
// another filter.
func changing(t *testing.T, strategy Strategy, door bool) (*run, *WithT) {
	r := newRun(strategy, door, 2, 2, 3, true, false)
	r.seconds(5)
	g := NewWithT(t)
	g.Expect(r.last.Open).To(BeFalse())
	r.target("P||R")
	return r, g
}

// follow rolls the workload out until the change has ended.
func follow(r *run, g *WithT, filter string) {
	if filter != "" {
		r.deploy(filter)
	}
	r.roll(60)
	g.Expect(r.bad).To(BeEmpty())
	g.Expect(r.saved.Note.Open()).To(BeFalse(), "%s: %v", r.last.Stage, r.last.Holds)
	g.Expect(r.w.Fenced()).To(BeFalse())
}

func holds(d Decision) []Reason {
	var out []Reason
	for _, h := range d.Holds {
		out = append(out, h.Reason)
	}
	return out
}

func TestFence_WholeChange(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.second()
	g.Expect(r.last.Stage).To(Equal(StageFencing))
	g.Expect(r.last.Step.Kind).To(Equal(StepFence))
	g.Expect(r.last.Step.Switches).To(HaveLen(4), "R31: every replica of every broker, slaves included")
	g.Expect(r.last.Open).To(BeTrue(), "R16, R23")
	r.seconds(2)
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldStill}))
	g.Expect(r.spec.Published).To(Equal(Hash(filterSet("P"))), "nothing is published before offsets stand still")
	for range 10 {
		r.seconds(1)
	}
	g.Expect(r.spec.Published).To(Equal(Hash(filterSet("P||R"))))
	g.Expect(r.last.Fenced).NotTo(BeZero(), "R36: scale-ups are held")
	g.Expect(r.last.NothingSkipped).To(BeTrue(), "R30")
	follow(r, g, "P||R")
	g.Expect(r.ends).To(Equal(map[Outcome]int{Done: 1}))
	g.Expect(r.rewound).To(BeZero(), "a clean fence sets nothing back")
	g.Expect(r.w.Lost("P||R")).To(BeEmpty())
}

func TestK30_FenceIsNotOfferedWithoutADoor(t *testing.T) {
	r, g := changing(t, ByFence, false)
	r.second()
	g.Expect(r.last.Findings[0].Reason).To(Equal(FindingNoDoor))
	g.Expect(r.saved.Note.Fence).To(BeNil())
	follow(r, g, "P||R")
	g.Expect(r.rewound).To(BeNumerically(">", 0))
	g.Expect(r.ends[Done]).To(Equal(1))
}

func TestR30_PodsBeforeTheFenceEndAsARewind(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.target("P") // one commit: pods change before the operator sees the manifest
	r.deploy("P||R")
	r.replace(true, false)
	r.seconds(3)
	g.Expect(r.saved.Note.Other).To(BeTrue())
	g.Expect(r.last.NothingSkipped).To(BeFalse())
	g.Expect(r.saved.Note.Previous).To(Equal(filterSet("P")))
	r.target("P||R")
	follow(r, g, "")
	g.Expect(r.rewound).To(BeNumerically(">", 0))
	g.Expect(r.saved.Record.Redelivered).To(BeNumerically(">", 0), "said before it is done")
}

func TestR30_AChangeThatNoOperatorSawIsSaid(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.target("P")
	r.second()
	r.crash()
	r.deploy("P||R")
	for r.replace(true, false) {
		r.w.Now = r.w.Now.Add(time.Second)
		for i := range r.w.Members {
			r.w.Members[i].Seen = true
		}
		r.work()
	}
	r.target("P||R")
	r.second()
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldNoOffsets}))
	g.Expect(r.last.Choice.ID).To(Equal("no-rewind-" + Hash(filterSet("P||R"))))
	r.spec.Accepted = r.last.Choice.ID
	r.seconds(2)
	g.Expect(r.last.Holds).To(BeEmpty())
}

func TestR31_AnOpenedFenceIsClosedAgainAndEndsAsARewind(t *testing.T) {
	for name, open := range map[string]func(*model.World){
		"a slave":            func(w *model.World) { w.SwitchSlave(1, true) },
		"a forgetful broker": func(w *model.World) { w.Stop(0); w.Brokers[0].Before = true; w.Start(0, true) },
	} {
		t.Run(name, func(t *testing.T) {
			r, g := changing(t, ByFence, true)
			r.seconds(10)
			g.Expect(r.saved.Note.Fence.Proven).To(BeTrue())
			open(r.w)
			r.w.Now = r.w.Now.Add(time.Second)
			r.cycle()
			g.Expect(r.last.Step.Kind).To(Equal(StepFence))
			g.Expect(r.saved.Note.Other).To(BeTrue())
			follow(r, g, "P||R")
			g.Expect(r.ends[Done]).To(Equal(1))
		})
	}
}

func TestR32_OnlyWhatCanEndIsBegun(t *testing.T) {
	down := func(a *Ask) {
		b := a.Look.Brokers["broker-b"]
		b.Members = snapshot.Unknown[snapshot.Membership]("broker-b did not answer")
		a.Look.Brokers["broker-b"] = b
	}
	for name, c := range map[string]struct {
		tamper func(*Ask)
		want   Reason
	}{
		"a member in no pod": {func(a *Ask) { a.Pods = snapshot.Known([]Pod{}, snapshot.Origin{}) }, HoldNotMapped},
		"pods not known":     {func(a *Ask) { a.Pods = snapshot.Unknown[[]Pod]("no right to list them") }, HoldNotMapped},
		"a rollout that cannot be read": {func(a *Ask) {
			a.Workloads[0].Known, a.Workloads[0].Why = false, "Argo Rollouts are not installed"
		}, HoldWorkload},
		"a broker that is silent": {down, HoldMembers},
		"a replica not asked": {func(a *Ask) {
			b := a.Look.Brokers["broker-b"]
			b.Replicas["broker-b:2"] = snapshot.Unknown[snapshot.StoredGroup]("timeout")
		}, HoldUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			r, g := changing(t, ByFence, true)
			r.tamper = c.tamper
			r.seconds(3)
			g.Expect(holds(r.last)).To(ContainElement(c.want))
			g.Expect(r.saved.Note.Open()).To(BeFalse())
			g.Expect(r.w.Fenced()).To(BeFalse())
		})
	}
}

func TestR32_TheEndNeedsEveryOldPodGoneAndEveryTable(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.seconds(10)
	r.deploy("P||R")
	for r.replace(true, false) {
		r.seconds(1)
	}
	stale := func(a *Ask) {
		pods, _ := a.Pods.Get()
		pods = append(pods, Pod{Namespace: "shop", Name: "points-old", Owner: points, Revision: "r1", Terminating: true})
		a.Pods = snapshot.Known(pods, a.Pods.Origin())
	}
	r.tamper = stale
	r.seconds(5)
	g.Expect(holds(r.last)).To(ContainElement(HoldOldPods))
	g.Expect(r.w.Fenced()).To(BeTrue())
	r.tamper = func(a *Ask) {
		b := a.Look.Brokers["broker-a"]
		m, _ := b.Members.Get()
		m.Table = map[string]snapshot.Subscription{model.Topic: {Topic: model.Topic, ExpressionType: "TAG", Expression: "P", Tags: []string{"P"}}}
		b.Members = snapshot.Known(m, b.Members.Origin())
		a.Look.Brokers["broker-a"] = b
	}
	r.seconds(5)
	g.Expect(holds(r.last)).To(ContainElement(HoldTables))
	r.tamper = nil
	follow(r, g, "")
}

func TestR33_ChangeOfMindKeepsNoteAndFence(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.seconds(10)
	noted, since := r.saved.Note.Agreed.Queues, r.saved.Note.Fence.Since
	r.deploy("P||R")
	r.replace(true, false)
	r.target("P||S")
	r.seconds(3)
	g.Expect(r.saved.Note.Agreed.Queues).To(Equal(noted))
	g.Expect(r.saved.Note.Fence.Since).To(Equal(since))
	g.Expect(r.saved.Note.Target).To(Equal(filterSet("P||S")))
	g.Expect(r.spec.Published).To(Equal(Hash(filterSet("P||S"))))
	follow(r, g, "P||S")
	g.Expect(r.ends).To(Equal(map[Outcome]int{Done: 1}))
}

func TestR33_LowerIsPerQueueTheSmaller(t *testing.T) {
	o := func(at int, q ...int64) *Offsets {
		return &Offsets{At: epoch.Add(time.Duration(at) * time.Second), Queues: map[string]map[string]map[int]int64{"a": {"T": {0: q[0], 1: q[1]}}}}
	}
	g := NewWithT(t)
	l := o(2, 5, 9).lower(o(1, 7, 3))
	g.Expect(l.Queues).To(Equal(map[string]map[string]map[int]int64{"a": {"T": {0: 5, 1: 3}}}))
	g.Expect(l.At).To(Equal(epoch.Add(time.Second)))
}

func TestR34_RollBackLiftsAndSaysSo(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.seconds(10)
	r.deploy("P||R")
	r.replace(true, false)
	r.seconds(3)
	g.Expect(holds(r.last)).To(ContainElement(HoldMixed))
	follow(r, g, "P")
	g.Expect(r.ends).To(Equal(map[Outcome]int{RolledBack: 1}))
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldEnded}), "not begun again before an edit")
}

func TestR34_MixedAtTheDeadline(t *testing.T) {
	mixed := func(t *testing.T, on OnTimeout) (*run, *WithT) {
		r, g := changing(t, ByFence, true)
		r.spec.OnTimeout = on
		r.seconds(10)
		r.deploy("P||R")
		r.replace(true, false)
		r.seconds(125)
		return r, g
	}
	t.Run("stays fenced and says so", func(t *testing.T) {
		r, g := mixed(t, HoldFence)
		g.Expect(r.last.Stage).To(Equal(StageStalled))
		g.Expect(r.last.Holds[0].Sentence).To(MatchRegexp(`has been stopped for \d+ s, longer than the 120 s that it may, with about \d+ messages waiting`))
		g.Expect(r.w.Fenced()).To(BeTrue())
		r.spec.Accepted = r.last.Choice.ID
		r.seconds(6)
		g.Expect(r.w.Fenced()).To(BeFalse())
		g.Expect(r.ends).To(Equal(map[Outcome]int{Lifted: 1}))
		g.Expect(r.saved.Record.Outcome).To(Equal(Lifted), "counted as loss")
	})
	t.Run("goes on as a rewind", func(t *testing.T) {
		r, g := mixed(t, LiftAndRewind)
		g.Expect(r.w.Fenced()).To(BeFalse())
		g.Expect(r.saved.Note.Open()).To(BeTrue())
		follow(r, g, "")
		g.Expect(r.rewound).To(BeNumerically(">", 0))
		g.Expect(r.ends).To(Equal(map[Outcome]int{Done: 1}))
	})
	t.Run("is lifted", func(t *testing.T) {
		r, g := mixed(t, LiftFence)
		g.Expect(r.w.Fenced()).To(BeFalse())
		g.Expect(r.ends).To(Equal(map[Outcome]int{Lifted: 1}))
	})
}

func TestR34_NothingBeganWithinTheStartTimeout(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.seconds(90)
	g.Expect(r.ends).To(Equal(map[Outcome]int{NotStarted: 1}))
	g.Expect(r.w.Fenced()).To(BeFalse())
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldEnded}))
}

func TestR35_EveryQueueNeedsAnEntry(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.tamper = func(a *Ask) {
		b := a.Look.Brokers["broker-b"]
		b.Committed = snapshot.Known(map[string]map[int]int64{model.Topic: {0: 1}}, b.Committed.Origin())
		a.Look.Brokers["broker-b"] = b
	}
	r.second()
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldNoEntry}))
	g.Expect(r.last.Holds[0].Sentence).To(HavePrefix("the group has no offset on queue 1 of TOPIC_MODEL on broker-b"))
	g.Expect(r.saved.Note.Open()).To(BeFalse())
}

func TestR37_AForeignFenceIsNamedNeverLifted(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.w.Switch(1, false)
	r.w.Sync(1)
	r.seconds(30)
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldForeignFence}))
	g.Expect(r.w.Brokers[1].Enabled).To(BeFalse())
	r.w.Switch(1, true)
	r.seconds(12)
	g.Expect(r.saved.Note.Fence).NotTo(BeNil(), "it begins once the other is gone")
}

func TestR16_ATopicThatIsResizedHolds(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.spec.Busy = map[string]string{model.Topic: "it is being resized"}
	r.seconds(3)
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldTopicBusy}))
	g.Expect(r.last.Open).To(BeFalse())
	r.spec.Busy = nil
	r.seconds(2)
	g.Expect(r.last.Open).To(BeTrue())
}

func TestR21_BroadcastIsNeitherFencedNorSetBack(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.tamper = func(a *Ask) {
		for _, b := range a.Look.Brokers {
			for id, f := range b.Reports {
				m, _ := f.Get()
				m.Properties = map[string]string{"messageModel": "BROADCASTING"}
				b.Reports[id] = snapshot.Known(m, f.Origin())
			}
		}
	}
	r.seconds(2)
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldBroadcast}))
}

func TestR23_DeletionLiftsAndEnds(t *testing.T) {
	for name, seconds := range map[string]int{"closing": 1, "proven": 10} {
		t.Run(name, func(t *testing.T) {
			r, g := changing(t, ByFence, true)
			r.seconds(seconds)
			g.Expect(r.w.Fenced()).To(BeTrue())
			r.spec.Deleting = true
			r.seconds(5)
			g.Expect(r.w.Fenced()).To(BeFalse())
			g.Expect(r.last.Open).To(BeFalse())
			g.Expect(r.ends).To(Equal(map[Outcome]int{Abandoned: 1}))
		})
	}
}

func TestR02_ALateUnfenceIsNotSent(t *testing.T) {
	r, g := changing(t, ByFence, true)
	r.seconds(10)
	r.deploy("P||R")
	for range 60 {
		r.replace(true, false)
		r.w.Now = r.w.Now.Add(time.Second)
		r.work()
		for started := false; !started || r.looker != nil; started = true {
			r.advance()
		}
		if r.next != nil && r.last.Step.Kind == StepUnfence {
			break
		}
		for r.next != nil {
			r.advance()
		}
	}
	g.Expect(r.last.Step.Kind).To(Equal(StepUnfence))
	r.w.Now = r.w.Now.Add(20 * time.Second) // the leader was frozen
	for r.next != nil {
		r.advance()
	}
	g.Expect(r.w.Brokers[0].Enabled).To(BeFalse())
	follow(r, g, "")
}

func TestRewind_OldClientsOnNewBrokersAreHeldAndHaveAWayOut(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.tamper = func(a *Ask) {
		for name, b := range a.Look.Brokers {
			m, _ := b.Members.Get()
			for i := range m.Members {
				m.Members[i].Version = 317 // as every Go client says
			}
			b.Members = snapshot.Known(m, b.Members.Origin())
			a.Look.Brokers[name] = b
		}
	}
	r.seconds(2)
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldOldClients, HoldOldClients}[:len(r.last.Holds)]))
	g.Expect(r.last.Holds[0].Sentence).To(ContainSubstring("scale the workload to 0"))
	r.deploy("P||R") // it rolls out all the same
	for r.replace(true, false) {
		r.seconds(2)
	}
	r.seconds(10)
	g.Expect(r.last.Stage).To(Equal(StageRewinding))
	g.Expect(holds(r.last)).To(Equal([]Reason{HoldOldClients}))
	g.Expect(r.w.Fenced()).To(BeFalse(), "not fenced for what cannot be done")
	r.w.Wanted = 0
	for _, i := range r.w.Live() {
		r.w.Leave(i, false)
	}
	r.seconds(4)
	g.Expect(r.bad).To(BeEmpty())
	g.Expect(r.ends[Done]).To(Equal(1))
	g.Expect(r.w.Lost("P||R")).To(BeEmpty())
}

func TestReport_ChangesNothing(t *testing.T) {
	r, g := changing(t, ReportOnly, false)
	r.deploy("P||R")
	for range 40 {
		r.seconds(1)
		r.replace(true, false)
		g.Expect(r.last.Step.Changing()).To(BeFalse())
		g.Expect(r.last.Open).To(BeFalse())
	}
	g.Expect(r.spec.Published).To(Equal(Hash(filterSet("P||R"))))
	g.Expect(r.w.Lost("P||R")).NotTo(BeEmpty(), "that is what the other strategies are for")
}

func TestPlan_AtRestNothingIsAskedFor(t *testing.T) {
	r, g := changing(t, ByRewind, false)
	r.target("P")
	r.seconds(2)
	before := r.saved
	r.seconds(20)
	g.Expect(r.last.Step.Kind).To(BeEmpty())
	g.Expect(r.last.Holds).To(BeEmpty())
	g.Expect(r.saved.Record).To(Equal(before.Record), "no write at rest")
	g.Expect(r.saved.Note).To(Equal(before.Note))
}
