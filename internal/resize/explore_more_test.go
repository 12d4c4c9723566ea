// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// atRest is a small world in which nothing is to be done.
func atRest(queues int, second model.Kind) *run {
	r := small(queues, queues, 2*time.Second, second)
	r.w.Invisible = ticking().Invisible
	r.cycle()
	return r
}

// shrunk leaves broker-b: the topic is to be on broker-a only.
func shrunk() *run {
	r := atRest(1, model.Classic)
	r.place("broker-a")
	return r
}

// single has the topic on broker-a only; group 1 is offline.
func single() *run {
	r := atRest(1, model.POP)
	b := &r.w.Brokers[1]
	b.Counts, b.Before = model.Counts{}, model.Counts{}
	for g := range r.w.Groups {
		r.w.Groups[g].Committed[1][0], r.w.Groups[g].Local[1][0] = model.None, model.None
	}
	for n := range r.w.NameServers {
		r.w.NameServers[n].Routes[1] = model.Counts{}
	}
	for p := range r.w.Producers {
		r.w.Refresh(p, 0)
	}
	r.saved = Progress{}
	r.place("broker-a")
	r.w.Leave(1)
	return r
}

// widened asks for the second broker.
func widened() *run {
	r := single()
	r.cycle()
	r.place("broker-a", "broker-b")
	return r
}

// stale is widened, and broker-b kept the offsets of a topic that it had.
func stale() *run {
	r := widened()
	for g := range r.w.Groups {
		r.w.Groups[g].Committed[1][0] = 1
	}
	return r
}

// stranded has messages of an earlier one-step shrink on queue 2 of broker-a.
func stranded() *run {
	r := atRest(2, model.Classic)
	r.w.Brokers[0].Queues[2] = model.Queue{Messages: []model.Message{{}, {Read: 1}}, Shown: 2, Foreign: true}
	r.w.Groups[0].Committed[0][2] = 0
	r.saved = Progress{}
	r.spec.Rescue, r.ended = true, false
	r.cycle()
	return r
}

// meddled has read 1 below write 2 on broker-a, and group 1 has no entry there.
func meddled() *run {
	r := atRest(2, model.POP)
	r.w.Leave(1)
	r.w.Groups[1].Committed[0][1] = model.None
	meddle(0, 1, 2).do(r)
	r.ended = false
	return r
}

// approving shrinks by approvals.
func approving() *run {
	r := small(2, 1, 2*time.Second, model.Classic)
	r.spec.Mode = ModeApprove
	return r
}

// popping has a group that pops, and a shrink in which members take their time.
func popping() *run {
	r := small(2, 1, 2*time.Second, model.POP)
	r.w.Invisible = 3 * time.Second
	r.spec.Timings.Invisible = 3 * time.Second
	return r
}

func place(names ...string) move {
	return move{"place " + names[len(names)-1], 1, func(r *run) {
		if !slices.Equal(r.spec.Placement, names) {
			r.place(names...)
		}
	}}
}

// pop hands out without an acknowledgement.
func pop(g int) move {
	return move{"group pops", 0, func(r *run) { r.w.Rebalance(g); r.w.Consume(g) }}
}

// meddle is somebody's own updateTopic.
func meddle(b, read, write int) move {
	return move{"somebody writes", 1, func(r *run) {
		r.foreign = true
		r.w.Meddle(b, model.Counts{Present: true, Read: read, Write: write, Perm: snapshot.PermReadWrite})
	}}
}

var (
	approve = move{"approve", 0, (*run).approve}
	remove  = move{"object deleted", 1, func(r *run) { r.spec.Closing, r.ended = true, false }}
)

// TestModel_ExhaustiveWider explores what a plain resize does not: placement,
// repair, rescue, approval, deletion of the object, and members that pop.
func TestModel_ExhaustiveWider(t *testing.T) {
	operator := []move{{"operate", 0, operateWhole}, actAll}
	finely := []move{{"operate", 0, operate}, actAll}
	for _, c := range []struct {
		name   string
		make   func() *run
		budget int
		moves  []move
	}{
		{"a broker leaves", shrunk, 2, slices.Concat(operator, []move{crash, freeze, wake, lost, send(0, 1, 0, false), late(0, 1, 0, true),
			away(1), restart(1, true), hang(1), faulty(model.Partial), place("broker-a", "broker-b")})},
		{"a broker leaves, events within looks", shrunk, 2, slices.Concat(finely, []move{send(0, 1, 0, true), late(0, 1, 0, false), crash, away(0)})},
		{"a broker comes", widened, 2, slices.Concat(operator, []move{crash, freeze, wake, lost, send(0, 1, 0, false), send(0, 0, 0, false),
			away(1), restart(1, true), server(1), faulty(model.Carried), place("broker-a")})},
		{"a broker comes with old offsets", stale, 2, slices.Concat(operator, []move{crash, send(0, 1, 0, false), away(0), away(1), lost})},
		{"a broker comes and leaves", widened, 3, slices.Concat(operator, []move{place("broker-a"), place("broker-a", "broker-b"), send(0, 1, 0, false)})},
		{"write above read is repaired", meddled, 2, slices.Concat(operator, []move{meddle(1, 1, 3),
			send(0, 0, 1, false), send(0, 0, 0, false), away(1), crash, lost, freeze, wake, retarget(1)})},
		{"write above read within a shrink", func() *run { return small(3, 1, 2*time.Second, model.Classic) }, 2, slices.Concat(operator, []move{
			meddle(0, 1, 2), meddle(1, 2, 3), send(0, 0, 2, false), away(1), crash})},
		{"rescue", stranded, 2, slices.Concat(operator, []move{crash, freeze, wake, lost, away(0), away(1), send(0, 0, 1, false), restart(0, true), retarget(1)})},
		{"approval", approving, 2, slices.Concat(operator, []move{approve, crash, freeze, wake, retarget(2), retarget(1), late(0, 0, 1, true)})},
		{"deletion of the object", func() *run { return small(3, 1, 2*time.Second, model.Classic) }, 3, slices.Concat(operator, []move{remove, late(0, 0, 2, true), crash, freeze, wake})},
		{"deletion while a broker leaves", shrunk, 3, slices.Concat(operator, []move{remove, late(0, 1, 0, true), crash, send(0, 1, 0, false)})},
		{"members that pop", popping, 2, []move{{"operate", 0, operateWhole}, pop(1), act(0), act(1), away(1), send(0, 0, 1, false), late(0, 0, 1, true), crash}},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			e := explore(c.make(), c.budget+moreEvents(t), statesAllowed(t), false, c.moves)
			t.Logf("%s: %v, %.1f s", c.name, e, time.Since(began).Seconds())
			if e.found != "" {
				t.Error(e.found)
			}
			if e.ends == 0 {
				t.Error("no end was reached")
			}
		})
	}
}
