// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// drainingScene is a shrink in which everything is proven but what a test
// tampers with.
func drainingScene(t *testing.T) *scene {
	s := newScene(t, 4, 2)
	s.until(StageProvingAgain)
	return s
}

// offsetsOf sets one queue's bounds and one group's committed offset there.
func offsetsOf(group string, queue int, low, high, committed int64) func(*snapshot.TopicOnBroker) {
	return func(b *snapshot.TopicOnBroker) {
		ends, _ := b.Queues.Get()
		table, _ := b.Committed.Get()
		newEnds, newTable := map[int]snapshot.QueueOffsets{}, map[string]map[int]int64{}
		for q, e := range ends {
			newEnds[q] = e
		}
		newEnds[queue] = snapshot.QueueOffsets{Min: low, Max: high}
		for g, entries := range table {
			newTable[g] = map[int]int64{}
			for q, at := range entries {
				newTable[g][q] = at
			}
			if newTable[g][queue] == 0 {
				newTable[g][queue] = high
			}
		}
		if newTable[group] == nil {
			newTable[group] = map[int]int64{}
		}
		newTable[group][queue] = committed
		if committed < 0 {
			delete(newTable[group], queue)
		}
		b.Queues, b.Committed = same(b.Queues, newEnds), same(b.Committed, newTable)
	}
}

// both applies an offset and a group tampering, keeping queues still.
func both(s *scene, offsets func(*snapshot.TopicOnBroker), group func(*snapshot.TopicLook)) Decision {
	tamper := func(l *snapshot.TopicLook) {
		onBroker("broker-b", offsets)(l)
		if group != nil {
			group(l)
		}
	}
	var d Decision
	for range 12 { // until the tampered end has stood still
		d = s.with(tamper)
		s.saved = d.Next
	}
	return d
}

func members(n int) func(*snapshot.GroupOnTopic) {
	return func(g *snapshot.GroupOnTopic) {
		o := g.Members.Origin()
		g.Members, g.Reads = snapshot.Known(n, o), snapshot.Known(n > 0, o)
		if n == 0 {
			g.Broadcast, g.Protocol = snapshot.Unknown[bool]("no member"), snapshot.Unknown[snapshot.Protocol]("no member")
		}
	}
}

func TestR06_UnreadIsWhatIsLeftOfWhatStillExists(t *testing.T) {
	for name, c := range map[string]struct {
		low, high, committed, unread, expired int64
	}{
		"Q01: unread":                   {0, 100, 90, 10, 0},
		"L12: no entry means all of it": {5, 100, -1, 95, 5},
		"the rest expired":              {95, 100, 90, 5, 5},
		"all expired":                   {100, 100, 40, 0, 0},
		"all read":                      {0, 100, 100, 0, 0},
		"never held anything":           {0, 0, -1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := drainingScene(t)
			d := both(s, offsetsOf("CG_POINTS", 3, c.low, c.high, c.committed), nil)
			if c.unread == 0 {
				s.Expect(d.Step.Kind).To(BeElementOf(StepFreshLook, StepNarrowReads))
				return
			}
			s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonUnread}))
			h := d.Holds[0]
			s.Expect(h.Group).To(Equal("CG_POINTS"))
			s.Expect(h.Where).To(Equal([]QueueRef{{"broker-b", 3}}))
			s.Expect(h.Count).To(Equal(c.unread))
			if c.committed >= 0 {
				s.Expect(h.Expired).To(Equal(c.expired))
			}
			s.Expect(d.InForce).To(BeTrue(), "draining takes nothing from an application")
			s.Expect(d.AsDeclared).To(BeFalse())
		})
	}
}

func TestL18_OffsetBeyondTheEndBlocksAndHasAnExit(t *testing.T) {
	s := drainingScene(t)
	beyond := offsetsOf("CG_AUDIT", 2, 0, 12, 900)
	d := both(s, beyond, nil)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonOffsetBeyondEnd}))
	s.Expect(d.Holds[0].Long()).To(ContainSubstring("888 messages beyond the end of 1 queue (broker-b/2)"))
	s.spec.Acknowledged = []Seed{{Group: "CG_AUDIT", Broker: "broker-b", Queue: 2, Offset: 12}}
	d = both(s, beyond, nil)
	s.Expect(d.Step.Changing()).To(BeFalse(), "members are connected")
	d = both(s, beyond, onGroup("CG_AUDIT", members(0)))
	s.Expect(d.Step.Kind).To(Equal(StepSetOffsets))
	s.Expect(d.Step.Seeds).To(Equal(s.spec.Acknowledged))
	s.Expect(d.Step.Vacant).To(Equal([]string{"CG_AUDIT"}))
}

func TestQ21_OfflineGroupBlocksByNameUntilWaivedForThisTarget(t *testing.T) {
	s := drainingScene(t)
	unread := offsetsOf("CG_AUDIT", 3, 210, 1884, 0)
	away := onGroup("CG_AUDIT", func(g *snapshot.GroupOnTopic) {
		members(0)(g)
		g.LastCommit = time.Date(2026, 8, 30, 7, 0, 0, 0, time.UTC)
	})
	d := both(s, unread, away)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonGroupOffline}))
	s.Expect(d.Holds[0].Long()).To(Equal("group CG_AUDIT has no members, last moved 2026-08-30 07:00 and 1,674 messages unread in retiring queues (broker-b/3) (210 more have expired); start it, or add it to spec.resize.waivers to give them up"))

	s.spec.Waivers = []Waiver{{Group: "CG_AUDIT", ToQueues: 3}}
	s.Expect(reasons(both(s, unread, away).Holds)).To(Equal([]Reason{ReasonGroupOffline}), "a waiver for another target")

	s.spec.Waivers = []Waiver{{Group: "CG_AUDIT", ToQueues: 2}}
	d = both(s, unread, nil)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonUnread}), "R20: one that is back blocks again")
	d = both(s, unread, onGroup("CG_AUDIT", func(g *snapshot.GroupOnTopic) { g.Members = snapshot.Unknown[int]("broker-b silent") }))
	s.Expect(d.Step.Changing()).To(BeFalse(), "R20: members that are not known to be gone")
	d = both(s, unread, away)
	for d.Step.Kind == StepFreshLook {
		d = both(s, unread, away)
	}
	s.Expect(d.Step.Kind).To(Equal(StepNarrowReads))
	want := GivenUp{Group: "CG_AUDIT", Broker: "broker-b", Queue: 3, Messages: 1674}
	s.Expect(d.Next.Note.GivenUp).To(ConsistOf(want))
	s.Expect(d.Next.Record.GivenUp).To(ConsistOf(want))
	s.Expect(d.Next.Record.GivenUpTotal).To(BeEquivalentTo(1674))
}

func TestR07_WhoseGroup(t *testing.T) {
	declaredGroup := func(g *snapshot.GroupOnTopic) { g.Declared = true; members(0)(g) }
	o := snapshot.Origin{Sent: epoch.Add(time.Hour)}
	for name, c := range map[string]struct {
		group  string
		tamper func(*snapshot.GroupOnTopic)
		want   []Reason
	}{
		"a tool never holds":           {"TOOLS_CONSUMER", members(0), nil},
		"a built-in group never holds": {"CID_RMQ_SYS_REVIVE_GROUP", members(0), nil},
		"online but reads the topic no more": {"CG_OLD", func(g *snapshot.GroupOnTopic) {
			members(1)(g)
			g.Reads = snapshot.Known(false, o)
			g.Broadcast = snapshot.Known(false, o)
		}, []Reason{ReasonGroupReadsNoMore}},
		"declared and never seen": {"CG_NEW", declaredGroup, []Reason{ReasonGroupOffline}},
	} {
		t.Run(name, func(t *testing.T) {
			s := drainingScene(t)
			d := both(s, offsetsOf(c.group, 3, 0, 7, 1), onGroup(c.group, c.tamper))
			s.Expect(reasons(d.Holds)).To(Equal(c.want))
			if c.want == nil {
				s.Expect(d.Step.Kind).To(BeElementOf(StepFreshLook, StepNarrowReads))
			}
		})
	}
}

func TestR07_PullOnlyReaderIsUnknownUntilDeclaredOrWaived(t *testing.T) {
	s := drainingScene(t)
	pulled := func(b *snapshot.TopicOnBroker) {
		b.Pulled = same(b.Pulled, map[string]struct{}{"CG_PULL": {}, "TOOLS_CONSUMER": {}})
	}
	d := both(s, pulled, nil)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonPullOnlyReader}))
	s.Expect(d.Holds[0].Group).To(Equal("CG_PULL"))
	s.spec.Waivers = []Waiver{{Group: "CG_PULL", ToQueues: 2}}
	s.Expect(both(s, pulled, nil).Holds).To(BeEmpty())
}

func TestR21_BroadcastMembersAreAskedThemselves(t *testing.T) {
	o := snapshot.Origin{Sent: epoch.Add(time.Hour)}
	live := func(at map[string]map[int]int64) func(*snapshot.GroupOnTopic) {
		return func(g *snapshot.GroupOnTopic) {
			members(2)(g)
			g.Broadcast, g.Protocol = snapshot.Known(true, o), snapshot.Known(snapshot.ProtocolClassic, o)
			g.Positions = snapshot.Unknown[map[string]map[int]int64]("client 10.1.2.9 did not answer")
			if at != nil {
				g.Positions = snapshot.Known(at, o)
			}
		}
	}
	read := func(upTo int64) map[string]map[int]int64 {
		return map[string]map[int]int64{"broker-b": {3: upTo}}
	}
	for name, c := range map[string]struct {
		tamper   func(*snapshot.GroupOnTopic)
		want     []Reason
		findings []Reason
	}{
		"one did not answer":            {live(nil), []Reason{ReasonBroadcastUnknown}, nil},
		"one is behind":                 {live(read(6)), []Reason{ReasonUnread}, nil},
		"all have read":                 {live(read(7)), nil, nil},
		"L14: absent ones hold nothing": {func(g *snapshot.GroupOnTopic) { members(0)(g); g.DeclaredBroadcast = true }, nil, []Reason{FindingBroadcastUnproven}},
		"absent, declared, members unsure": {func(g *snapshot.GroupOnTopic) {
			members(0)(g)
			g.DeclaredBroadcast = true
			g.Members = snapshot.Unknown[int]("x")
		}, []Reason{ReasonUnknown, ReasonUnread}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := drainingScene(t)
			d := both(s, offsetsOf("CG_POINTS", 3, 0, 7, 7), onGroup("CG_NEWS", c.tamper))
			s.Expect(reasons(d.Holds)).To(Equal(c.want))
			s.Expect(reasons(d.Findings)).To(Equal(c.findings))
		})
	}
}

func TestDrain_POPGroupsWaitOutInvisibility(t *testing.T) {
	for name, protocol := range map[string]snapshot.Fact[snapshot.Protocol]{
		"POP":     snapshot.Known(snapshot.ProtocolPOP, snapshot.Origin{Sent: epoch}),
		"unknown": snapshot.Unknown[snapshot.Protocol]("member did not answer"),
	} {
		t.Run(name, func(t *testing.T) {
			s := drainingScene(t)
			s.spec.Timings.Invisible = 5 * time.Second
			s.saved.Lived.drained = nil
			tamper := onGroup("CG_POINTS", func(g *snapshot.GroupOnTopic) { g.Protocol = protocol })
			d := s.with(tamper)
			s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonInvisible}))
			s.Expect(d.Holds[0].Wait).To(Equal(5 * time.Second))
			for range 5 {
				s.saved = d.Next
				d = s.with(tamper)
			}
			s.Expect(d.Step.Kind).To(Equal(StepFreshLook))
		})
	}
}

func TestR16_ABusyGroupHoldsAChangeButNoRepair(t *testing.T) {
	s := newScene(t, 4, 2)
	s.spec.Busy = map[string]string{"CG_POINTS": "its subscription is changing"}
	d := s.peek()
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonGroupBusy}))
	s.Expect(d.Holds[0].Long()).To(Equal("group CG_POINTS: its subscription is changing"))
	s.w.Brokers[0].Read = 2
	s.Expect(s.peek().Step.Kind).To(Equal(StepRepairReads))
}
