// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
)

// brisk are timings of a few seconds, so that runs are short.
func brisk() Timings {
	s := time.Second
	return Timings{RouteAge: 3 * s, Still: 4 * s, Apart: 3 * s, Rebalance: 2 * s, Invisible: 2 * s,
		CutLookAge: 2 * s, MaxGap: 4 * s, LookEvery: s, WatchEvery: s, IdleEvery: s, KeepEvery: s}
}

// randomRun draws a world.
func randomRun(t *rapid.T, skip skips) *run {
	most := 2 + pick(t, 4, "most")
	start := 1 + pick(t, most, "start")
	w := model.New(epoch, 1+pick(t, 3, "brokers"), 1+pick(t, 2, "servers"), start, most)
	w.RouteAge, w.Invisible = brisk().RouteAge, brisk().Invisible
	w.LongestDelay = time.Duration(9+21*pick(t, 2, "delay")) * time.Second
	for g := range 1 + pick(t, 3, "groups") {
		kind := []model.Kind{model.Classic, model.Classic, model.POP, model.Broadcast}[pick(t, 4, "kind")]
		w.AddGroup(fmt.Sprintf("CG_%d", g), kind, pick(t, 3, "online") > 0)
	}
	for range 1 + pick(t, 2, "producers") {
		w.AddProducer(pick(t, 3, "fixed") == 0)
	}
	r := &run{w: w, skip: skip, strict: true, seen: map[Stage]int{}}
	r.spec = Spec{Topic: model.Topic, Generation: 1, Queues: start, LongestDelay: w.LongestDelay, Timings: brisk()}
	if pick(t, 5, "mode") == 0 {
		r.spec.Mode = ModeApprove
	}
	return r
}

// event is one thing that may happen.
type event struct {
	name   string
	weight int
	do     func(*rapid.T, *run)
}

// pick draws evenly; rapid's own ranges prefer small values, which would make
// nearly every event the first one.
func pick(t *rapid.T, n int, what string) int {
	x := uint32(rapid.IntRange(0, 1<<24).Draw(t, what))
	return int(x*2654435761>>12) % n
}

func events() []event {
	queue := func(t *rapid.T, r *run) (int, int, int) {
		p, b := pick(t, len(r.w.Producers), "producer"), pick(t, len(r.w.Brokers), "broker")
		return p, b, pick(t, len(r.w.Brokers[b].Queues), "queue")
	}
	group := func(t *rapid.T, r *run) int { return pick(t, len(r.w.Groups), "group") }
	broker := func(t *rapid.T, r *run) int { return pick(t, len(r.w.Brokers), "broker") }
	server := func(t *rapid.T, r *run) int { return pick(t, len(r.w.NameServers), "server") }
	return []event{
		{"tick", 8, func(_ *rapid.T, r *run) { r.w.Tick(time.Second) }},
		{"cycle", 8, func(_ *rapid.T, r *run) { r.w.Tick(time.Second); r.cycle() }},
		{"advance", 12, func(_ *rapid.T, r *run) { r.advance() }},
		{"send", 4, func(t *rapid.T, r *run) {
			p, b, q := queue(t, r)
			r.w.Send(p, b, q, pick(t, 6, "undispatched") == 0)
		}},
		{"late", 2, func(t *rapid.T, r *run) {
			p, b, q := queue(t, r)
			r.w.SendLate(p, b, q, pick(t, 2, "hidden") == 0)
		}},
		{"clients", 8, func(_ *rapid.T, r *run) { clients(r.w) }},
		{"dispatch", 2, func(t *rapid.T, r *run) { r.w.Dispatch(broker(t, r)) }},
		{"refresh", 2, func(t *rapid.T, r *run) { r.w.Refresh(pick(t, len(r.w.Producers), "producer"), server(t, r)) }},
		{"rebalance", 2, func(t *rapid.T, r *run) { r.w.Rebalance(group(t, r)) }},
		{"consume", 3, func(t *rapid.T, r *run) { r.w.Consume(group(t, r)) }},
		{"commit", 3, func(t *rapid.T, r *run) { r.w.Commit(group(t, r)) }},
		{"leave", 1, func(t *rapid.T, r *run) { r.w.Leave(group(t, r)) }},
		{"join", 2, func(t *rapid.T, r *run) { r.w.Join(group(t, r)) }},
		{"stop", 1, func(t *rapid.T, r *run) { r.w.Stop(broker(t, r)) }},
		{"start", 3, func(t *rapid.T, r *run) {
			forgetful := pick(t, 2, "forgetful") == 0
			r.foreign = r.foreign || forgetful
			r.w.Start(broker(t, r), forgetful)
		}},
		{"stop server", 1, func(t *rapid.T, r *run) { r.w.StopServer(server(t, r)) }},
		{"start server", 3, func(t *rapid.T, r *run) { r.w.StartServer(server(t, r)) }},
		{"register", 3, func(t *rapid.T, r *run) { r.w.Register(broker(t, r), server(t, r)) }},
		{"crash", 1, func(_ *rapid.T, r *run) { r.crash() }},
		{"freeze", 1, func(_ *rapid.T, r *run) { r.freeze() }},
		{"wake", 1, func(_ *rapid.T, r *run) { r.foreign = r.foreign || r.frozen != nil; r.wake() }},
		{"lost write", 1, func(_ *rapid.T, r *run) { r.lostWrite = true }},
		{"bad look", 2, func(t *rapid.T, r *run) { r.fault = model.Fault(1 + pick(t, 4, "fault")) }},
		{"target", 1, func(t *rapid.T, r *run) { r.target(1 + pick(t, len(r.w.Brokers[0].Queues), "target")) }},
		{"waive", 1, func(t *rapid.T, r *run) { r.waive(group(t, r)) }},
		{"jump back", 1, func(_ *rapid.T, r *run) { r.jumpBack() }},
		{"approve", 3, func(_ *rapid.T, r *run) { r.approve() }},
		{"place", 1, func(t *rapid.T, r *run) { r.placeAnywhere(pick(t, 7, "brokers")) }},
		{"meddle", 1, func(t *rapid.T, r *run) {
			b := broker(t, r) // lowers reads, or writes, or both: a raise without seeds is its own loss
			r.foreign = true
			c := r.w.Brokers[b].Counts
			c.Read, c.Write = 1+pick(t, max(1, c.Read), "read"), 1+pick(t, max(1, c.Write), "write")
			r.w.Meddle(b, c)
		}},
	}
}

// placeAnywhere edits the placement by the bits of a number. A producer with a
// queue list of its own may send to a broker until the topic is gone from it,
// and nothing but such a producer's owner can help that.
func (r *run) placeAnywhere(bits int) {
	var names []string
	for i := range r.w.Brokers {
		if (bits+1)&(1<<i) != 0 {
			names = append(names, r.w.Brokers[i].Name)
		}
	}
	fixed := slices.ContainsFunc(r.w.Producers, func(p model.Producer) bool { return p.Fixed })
	if len(names) > 0 && !fixed {
		r.place(names...)
	}
}

// jumpBack makes the last decision of the process lie in the future.
func (r *run) jumpBack() {
	if at := r.saved.Lived.at; !at.IsZero() {
		r.saved.Lived.at = at.Add(3 * time.Second)
	}
}

// waive gives a group up for the present target.
func (r *run) waive(group int) {
	g := &r.w.Groups[group]
	g.GivenUp = true
	r.spec.Waivers = append(slices.Clone(r.spec.Waivers), Waiver{Group: g.Name, ToQueues: r.spec.Queues})
	r.spec.Generation++
}

// clients lets every member take its queues, finish everything and commit.
func clients(w *model.World) {
	for g := range w.Groups {
		w.Rebalance(g)
		w.Consume(g)
		w.Commit(g)
	}
}

// heal ends all faults and brings every group back.
func (r *run) heal() {
	r.lostWrite, r.fault, r.frozen = false, model.NoFault, nil
	for i := range r.w.Brokers {
		r.w.Start(i, false)
	}
	for s := range r.w.NameServers {
		r.w.StartServer(s)
		for i := range r.w.Brokers {
			r.w.Register(i, s)
		}
	}
	for g := range r.w.Groups {
		r.w.Join(g)
	}
}

// settleDown runs without faults until the topic is as declared.
func (r *run) settleDown() string {
	r.heal()
	const enough = 300
	for range enough {
		r.w.Tick(time.Second)
		for i := range r.w.Brokers {
			r.w.Dispatch(i)
		}
		clients(r.w)
		r.cycle()
		if r.bad != "" {
			return r.bad
		}
		if r.rested() {
			return ""
		}
		if r.foreign && r.stopped {
			r.spec.Generation++ // a person looked, and goes on from there
		}
		r.approve()
		r.spec.Rescue = r.spec.Rescue || r.strand
	}
	look := &model.Looker{}
	for !look.Next(r.w) {
	}
	d := plan(r.spec, r.saved, look.Look(), r.w.Now, r.skip)
	return fmt.Sprintf("faults stopped and the end was not reached: stage %q, step %q, holds %v, findings %v", d.Stage, d.Step.Kind, d.Holds, d.Findings)
}

// wander makes a random run and returns the first violation.
func wander(t *rapid.T, skip skips, length int) (*run, string) {
	r := randomRun(t, skip)
	var bag []event
	for _, e := range events() {
		bag = append(bag, slices.Repeat([]event{e}, e.weight)...)
	}
	var trail []string
	for range length {
		e := bag[pick(t, len(bag), "event")]
		trail = append(trail, e.name)
		e.do(t, r)
		if r.check(); r.bad != "" {
			return r, r.bad + "\n" + strings.Join(trail, ", ")
		}
	}
	r.spec.Closing = pick(t, 6, "deleted") == 0
	if bad := r.settleDown(); bad != "" {
		return r, bad + "\n" + strings.Join(trail, ", ")
	}
	return r, ""
}

// TestModel_RandomRuns makes long random runs in random worlds: nothing is
// lost on the way, and once faults stop the end is reached.
func TestModel_RandomRuns(t *testing.T) {
	runs, cuts := 0, 0
	stages := map[Stage]int{}
	const batches = 30 // of 100 runs each, unless -rapid.checks says otherwise
	for range batches {
		rapid.Check(t, func(t *rapid.T) {
			r, bad := wander(t, skips{}, 100+pick(t, 400, "length"))
			if bad != "" {
				t.Fatal(bad)
			}
			runs++
			cuts += r.cuts
			for s, n := range r.seen {
				stages[s] += n
			}
		})
	}
	t.Logf("random runs: %d, cuts judged: %d, decisions by stage: %v", runs, cuts, stages)
}
