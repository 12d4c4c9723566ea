// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// anyGroup is a group in any state: known or not, of any members.
func anyGroup(t *rapid.T) Group {
	var topics []Topic
	for i := range rapid.IntRange(0, 3).Draw(t, "topics") {
		x := topic(fmt.Sprintf("T%d", i), rapid.SliceOfN(rapid.Int64Range(0, 9), 0, 4).Draw(t, "queues")...)
		brokers, _ := x.Brokers.Get()
		for b := range brokers {
			switch rapid.IntRange(0, 9).Draw(t, "broker") {
			case 0:
				brokers[b].Queues = unknown[int64]("no answer")
			case 1:
				brokers[b].Pop = unknown[bool]("no answer")
			case 2, 3, 4:
				brokers[b].Pop = known(true)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "split") == 0 {
			x.Brokers = unknown[[]Broker]("name servers differ")
		}
		if rapid.Bool().Draw(t, "no object") {
			x.Object = nil
		}
		topics = append(topics, x)
	}
	var members []Member
	members = append(members, classic(rapid.IntRange(0, 2).Draw(t, "classic"))...)
	members = append(members, grpc(rapid.IntRange(0, 2).Draw(t, "grpc"))...)
	members = append(members, popping(rapid.IntRange(0, 1).Draw(t, "popping"))...)
	for i := range members {
		members[i].Broadcast = anyFact(t, "broadcast", members[i].Broadcast)
		members[i].FIFO = anyFact(t, "fifo", members[i].FIFO)
		members[i].Pops = anyFact(t, "pops", members[i].Pops)
		members[i].Strategy = rapid.SampledFrom([]string{"", members[i].Strategy, "AVG", "CONFIG"}).Draw(t, "strategy")
	}
	g := group(members, topics...)
	g.Protocol = rapid.SampledFrom([]ClientProtocol{"", Remoting, GRPC}).Draw(t, "protocol")
	g.Broadcast, g.Ordered = rapid.IntRange(0, 5).Draw(t, "casts") == 0, rapid.Bool().Draw(t, "ordered")
	g.Orderly = anyFact(t, "orderly", g.Orderly)
	g.Role = rapid.SampledFrom([]Role{"", Consumer, Consumer, Mixed}).Draw(t, "role")
	g.MembersPerPod = rapid.Int64Range(-1, 3).Draw(t, "per pod")
	g.Idle = IdleReplicas{rapid.Int64Range(-2, 4).Draw(t, "idle"), rapid.SampledFrom([]string{"", "rehearsal"}).Draw(t, "reason")}
	g.Strategy = rapid.SampledFrom([]allocation.Strategy{nil, allocation.Averagely{}, allocation.AveragelyByCircle{},
		allocation.ConsistentHash{VirtualNodes: 10}, allocation.ByConfig{}}).Draw(t, "declared")
	for i := range rapid.IntRange(0, 2).Draw(t, "others") {
		g.Others = append(g.Others, other(fmt.Sprint(i), rapid.Int64Range(0, 6).Draw(t, "other"), rapid.Int64Range(0, 2).Draw(t, "its")))
	}
	if rapid.IntRange(0, 9).Draw(t, "members lost") == 0 {
		g.Members = unknown[[]Member]("no answer")
	}
	return g
}

func anyFact(t *rapid.T, name string, usual snapshot.Fact[bool]) snapshot.Fact[bool] {
	switch rapid.IntRange(0, 9).Draw(t, name) {
	case 0:
		return unknown[bool]("no answer")
	case 1:
		return known(true)
	case 2:
		return known(false)
	}
	return usual
}

func anyAsk(t *rapid.T) Ask {
	var groups []Group
	for i := range rapid.IntRange(0, 3).Draw(t, "groups") {
		groups = append(groups, named(fmt.Sprintf("G%d", i), anyGroup(t)))
	}
	return scale(rapid.Int64Range(0, 20).Draw(t, "current"), rapid.Int64Range(0, 40).Draw(t, "asked"), groups...)
}

// TestK20_K29_WhatIsNeverRefused: a decrease, the present count, the cap itself, one
// replica, and whatever is not known.
func TestK20_K29_WhatIsNeverRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := anyAsk(t)
		v := Judge(ask)
		m := v.Maximum
		if v.Outcome == Refused {
			if ask.Asked <= ask.Current || m.Kind != Bounded || m.Role == Mixed || ask.Asked <= 1 {
				t.Fatalf("refused: %+v", v)
			}
			if ask.Asked <= m.Replicas || v.Passed >= ask.Asked || v.Passed < ask.Current {
				t.Fatalf("refused %d with maximum %d and passed on %d", ask.Asked, m.Replicas, v.Passed)
			}
			again := ask
			again.Asked = v.Passed
			if a := Judge(again); a.Outcome != Allowed {
				t.Fatalf("what is passed on is refused: %+v", a)
			}
		} else if v.Passed != ask.Asked {
			t.Fatalf("%s, but %d of %d passed on", v.Outcome, v.Passed, ask.Asked)
		}
		if m.Kind == Bounded {
			if m.Useful < 1 || m.Replicas < m.Useful {
				t.Fatalf("maximum %d, useful %d", m.Replicas, m.Useful)
			}
			ask.Asked = m.Replicas
			if Judge(ask).Outcome != Allowed {
				t.Fatalf("the cap itself is refused: %+v", Judge(ask))
			}
		}
		if (m.Kind == UnknownMaximum) && (v.Outcome != AllowedUnknown) && ask.Asked > ask.Current {
			t.Fatalf("unknown, but %s", v.Outcome)
		}
	})
}

// TestMoreQueuesNeverLowerTheMaximum, and never refuse what was allowed.
func TestMoreQueuesNeverLowerTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := anyAsk(t)
		before := Judge(ask)
		for i := range ask.Groups {
			ask.Groups[i].Topics = slices.Clone(ask.Groups[i].Topics)
			for j, x := range ask.Groups[i].Topics {
				brokers, routed := x.Brokers.Get()
				if !routed {
					continue
				}
				brokers = slices.Clone(brokers)
				for b := range brokers {
					if n, ok := brokers[b].Queues.Get(); ok {
						brokers[b].Queues = known(n + rapid.Int64Range(0, 5).Draw(t, "more"))
					}
				}
				ask.Groups[i].Topics[j].Brokers = known(brokers)
			}
		}
		after := Judge(ask)
		if after.Maximum.Kind != before.Maximum.Kind || after.Maximum.Replicas < before.Maximum.Replicas || after.Maximum.Useful < before.Maximum.Useful {
			t.Fatalf("%+v became %+v", before.Maximum, after.Maximum)
		}
		if before.Outcome == Allowed && after.Outcome != Allowed {
			t.Fatalf("%s became %s", before.Outcome, after.Outcome)
		}
	})
}

// TestOrderOfInputDoesNotMatter: of groups, topics, brokers and members.
func TestOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := anyAsk(t)
		before := Judge(ask)
		slices.Reverse(ask.Groups)
		for i := range ask.Groups {
			slices.Reverse(ask.Groups[i].Topics)
			for _, x := range ask.Groups[i].Topics {
				brokers, _ := x.Brokers.Get()
				slices.Reverse(brokers)
			}
		}
		after := Judge(ask)
		if after.Outcome != before.Outcome || after.Reason != before.Reason || after.Passed != before.Passed || after.Maximum.Group != before.Maximum.Group {
			t.Fatalf("%+v became %+v", before, after)
		}
		if before.Maximum.Kind == Bounded && before.Sentence != after.Sentence {
			t.Fatalf("%q became %q", before.Sentence, after.Sentence)
		}
	})
}

// TestIdleMembersAtTheCapAndPastIt: by the clients' own algorithms no member is idle
// at the maximum, and one at least is when there is one more.
func TestIdleMembersAtTheCapAndPastIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var topics []Topic
		for i := range rapid.IntRange(1, 3).Draw(t, "topics") {
			topics = append(topics, topic(fmt.Sprintf("T%d", i), rapid.SliceOfN(rapid.Int64Range(1, 6), 1, 3).Draw(t, "queues")...))
		}
		s := rapid.SampledFrom([]allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{},
			allocation.ConsistentHash{VirtualNodes: 10}, allocation.ByMachineRoom{Rooms: []string{"idcA"}},
			allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: allocation.RoomsByPrefix("-")},
		}).Draw(t, "strategy")
		if _, rooms := s.(allocation.ByMachineRoom); rooms {
			for _, x := range topics {
				brokers, _ := x.Brokers.Get()
				for b := range brokers {
					brokers[b].Name = []string{"idcA@", "idcB@"}[b%2] + brokers[b].Name
				}
			}
		}
		g := group(nil, topics...)
		g.Strategy = s
		g.MembersPerPod = rapid.Int64Range(1, 3).Draw(t, "per pod")
		if rapid.Bool().Draw(t, "shared") {
			g.Others = []Other{other("b", rapid.Int64Range(0, 4).Draw(t, "other"), 1)}
		}
		m := MaximumOf(scale(0, 0, g))
		queues, _ := queuesOf(g)
		idle := func(pods int64) int {
			n := pods * g.MembersPerPod
			for _, o := range g.Others {
				r, _ := o.Replicas.Get()
				n += r
			}
			var clients []string
			for i := range n {
				clients = append(clients, fmt.Sprintf("%s10.0.0.%d@1#7", []string{"broker-", "idcA-"}[i%2], i))
			}
			sim, err := allocation.Simulate(s, queues, clients)
			if err != nil {
				t.Fatal(err)
			}
			return len(sim.Idle())
		}
		c, err := allocation.CapacityOf(s, queues)
		if err != nil {
			t.Fatal(err)
		}
		if past := idle(m.Useful + 1); past < 1 {
			t.Fatalf("%s: none is idle at %d, past the maximum", s.Name(), m.Useful+1)
		}
		floored := c.Members < (m.Useful*g.MembersPerPod)+usedBy(g)
		if at := idle(m.Useful); at > 0 && c.Certainty == allocation.Exact && !floored {
			t.Fatalf("%s: %d are idle at the maximum %d", s.Name(), at, m.Useful)
		}
	})
}

func usedBy(g Group) int64 {
	n := int64(0)
	for _, o := range g.Others {
		r, _ := o.Replicas.Get()
		n += r * max(1, o.MembersPerPod)
	}
	return n
}

// TestA02_WhatIsOfferedWorks: after the patch that is offered, the count that was
// refused is allowed.
func TestA02_WhatIsOfferedWorks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := anyAsk(t)
		v := Judge(ask)
		if v.Outcome != Refused {
			return
		}
		top := rank(ask).top
		r, ok := top.raiseFor(ask.Asked)
		if !ok {
			return
		}
		brokers, _ := r.topic.Brokers.Get()
		smaller := false
		for _, less := range []int64{1, 0} { // first one less, which must not do
			for i := range brokers {
				n, _ := brokers[i].Queues.Get()
				if slices.Contains(r.topic.Object.Brokers, brokers[i].Name) {
					brokers[i].Queues = known(max(n, r.perBroker-less))
				}
			}
			outcome := Judge(ask).Outcome
			if less == 1 {
				smaller = outcome == Allowed && r.perBroker > 1
			} else if outcome != Allowed {
				t.Fatalf("%q does not help", v.Helps)
			}
		}
		// Idle replicas may make less enough, which the offer does not count on.
		if smaller && v.Maximum.Idle == 0 {
			t.Fatalf("%q is more than is needed", v.Helps)
		}
		if r.reaches < ask.Asked {
			t.Fatalf("reaches %d of %d", r.reaches, ask.Asked)
		}
	})
}
