// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
	"github.com/lockstep-dev/lockstep/internal/subscription/model"
)

// run is a world with the operator that works on it and the workload that
// replaces its members.
type run struct {
	w    *model.World
	spec Spec
	skip skips

	// template is the filter of new pods; last is the filter before.
	template string
	pop      bool
	saved    Progress
	looker   *model.Looker
	next     *Decision
	at       int
	tamper   func(*Ask)

	silent, deaf bool // of the next look
	lostWrite    bool // the next write reports success and is lost
	bad          string
	last         Decision
	ends         map[Outcome]int
	fenced       int // looks in which consumption was stopped
	forgave      bool
	rewound      int
	sent         int
}

func newRun(strategy Strategy, door bool, brokers, queues, members int, exact, pop bool) *run {
	r := &run{w: model.New(epoch, brokers, queues, members, "P", exact, pop), template: "P", pop: pop, ends: map[Outcome]int{}}
	r.spec = Spec{Group: model.Group, Generation: 1, Target: filterSet("P"), Strategy: strategy, Door: door,
		StartTimeout: 60 * time.Second, MaxPause: 120 * time.Second, Timings: brisk()}
	r.cycle()
	r.cycle()
	return r
}

func brisk() Timings {
	s := time.Second
	return Timings{Still: 3 * s, Retry: 4 * s, Movement: 10 * s, CutLookAge: 4 * s, MaxGap: 6 * s, LookEvery: s, IdleEvery: s}
}

func filterSet(filter string) Set { return Set{model.Topic: readTags(filter)} }

// ask is the whole ask about a look of the world.
func (r *run) ask(look snapshot.GroupLook) Ask {
	var pods []Pod
	rolling := false
	for _, m := range r.w.Members {
		if !m.Alive {
			continue
		}
		pods = append(pods, Pod{Namespace: "shop", Name: m.Pod, IPs: []string{m.Address[:len(m.Address)-3]}, Owner: points, Revision: m.Revision, Ready: true})
		rolling = rolling || m.Revision != r.w.Revision
	}
	a := Ask{Look: look, Pods: snapshot.Known(pods, snapshot.Origin{Sent: r.w.Now}),
		Workloads: []Workload{{Ref: points, Known: true, Revision: r.w.Revision, Replicas: r.w.Wanted, Rolling: rolling}}}
	if r.tamper != nil {
		r.tamper(&a)
	}
	return a
}

// advance makes one move of the operator: one part of a look, one decision, or
// one call.
func (r *run) advance() {
	switch {
	case r.next != nil:
		r.send()
	case r.looker == nil:
		r.looker = &model.Looker{Silent: r.silent, Deaf: r.deaf}
		r.silent, r.deaf = false, false
		r.looker.Next(r.w)
	default:
		for !r.looker.Next(r.w) {
		}
		l := r.looker
		r.looker = nil
		r.decide(l)
	}
}

func (r *run) decide(l *model.Looker) {
	a := r.ask(l.Look())
	d := plan(r.spec, r.saved, a, r.w.Now, r.skip)
	lifting := r.saved.Note.Fence != nil && r.saved.Note.Fence.Lifting
	unknown := l.Silent && len(r.w.Live()) > 0 || l.Deaf
	opened := r.saved.Note.Agreed == nil && d.Next.Note.Agreed != nil && !d.Next.Note.Other
	rewinds := d.Step.Kind == StepRewindQueues || d.Step.Kind == StepRewindTopics || d.Step.Kind == StepSetOffsets
	// A fence that could not be closed, or is over its time, is lifted whatever
	// is known; what ends as Done or RolledBack is not.
	ended := d.Step.Kind == StepUnfence && !lifting && (d.Next.Note.Ending == Done || d.Next.Note.Ending == RolledBack || d.Next.Note.Ending == Elsewhere)
	if rewinds {
		r.rewound++
	}
	if unknown && (opened || rewinds || ended) {
		r.violate(fmt.Sprintf("%s rests on a look with unknown answers (silent %v, deaf %v, opened %v)", d.Step.Kind, l.Silent, l.Deaf, opened))
	}
	if d.Step.Kind != "" && len(d.Holds) > 0 {
		r.violate("a step and holds at once")
	}
	for _, h := range d.Holds {
		r.forgave = r.forgave || h.Reason == HoldNoOffsets // what was lost before is announced
	}
	r.last, r.saved = d, d.Next
	if d.Ended != "" {
		r.ends[d.Ended]++
		switch d.Ended {
		case Done, RolledBack, NotStarted, Elsewhere:
			r.ended(d)
		default:
			r.forgave = true
		}
	}
	if !d.Fenced.IsZero() {
		r.fenced++
	}
	r.persist()
	switch d.Step.Kind {
	case "", StepFreshLook:
	case StepPublish:
		r.spec.Published = d.Step.Hash
		r.saved = r.saved.Acted(r.w.Now)
	default:
		r.next, r.at = &d, 0
	}
}

// ended judges the end of a change by what really happened: all live members
// have one filter, and of it nothing was skipped.
func (r *run) ended(d Decision) {
	if r.forgave {
		r.forgave = false
		r.w.Agree()
		return
	}
	for _, i := range r.w.Live() {
		if lost := r.w.Lost(r.w.Members[i].Filter); lost != "" {
			r.violate(fmt.Sprintf("ended as %s: %s", d.Ended, lost))
		}
	}
	if r.alike() {
		r.w.Agree()
	}
}

func (r *run) alike() bool {
	live := r.w.Live()
	for _, i := range live {
		if r.w.Members[i].Filter != r.w.Members[live[0]].Filter {
			return false
		}
	}
	return true
}

// persist takes record and note through JSON, as an API object would.
func (r *run) persist() {
	raw, err := json.Marshal(struct {
		Record Record
		Note   Note
	}{r.saved.Record, r.saved.Note})
	var back struct {
		Record Record
		Note   Note
	}
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	if err != nil {
		r.violate("progress cannot be persisted: " + err.Error())
	}
	r.saved.Record, r.saved.Note = back.Record, back.Note
}

// crash drops everything that was not persisted.
func (r *run) crash() {
	if !r.saved.Note.Open() && r.w.Floor != nil {
		r.forgave = true // what only the old process saw of a change that was not begun
	}
	r.saved.Lived = Lived{}
	r.looker, r.next = nil, nil
}

// send makes one call of the present step, as an actor must.
func (r *run) send() {
	s := r.next.Step
	i := r.at
	r.at++
	late := !s.NotAfter.IsZero() && r.w.Now.After(s.NotAfter)
	lost := r.lostWrite
	r.lostWrite = false
	n := 0
	switch s.Kind {
	case StepFence, StepUnfence:
		n = len(s.Switches)
		if i < n && !late && !lost {
			r.turn(s.Switches[i], s.Kind == StepUnfence)
		}
	case StepRewindQueues, StepSetOffsets:
		n = len(s.Queues)
		if i < n && !late && !lost {
			q := s.Queues[i]
			b := r.broker(q.Broker)
			switch {
			case !r.w.Brokers[b].Booted.Equal(q.Process.Booted):
			case s.Kind == StepRewindQueues:
				r.w.Reset(b, q.Queue, int(q.To))
			case len(r.w.Live()) == 0:
				r.w.SetOffset(b, q.Queue, int(q.To))
			}
		}
	case StepRewindTopics:
		n = len(s.Topics)
		if i < n && !late && !lost {
			r.w.ResetTime(r.broker(s.Topics[i].Broker), s.Topics[i].To)
		}
	}
	if r.at >= n {
		r.next = nil
		r.saved = r.saved.Acted(r.w.Now)
	}
}

func (r *run) turn(s Switch, on bool) {
	b := r.broker(s.Broker)
	switch {
	case s.Slave:
		r.w.SwitchSlave(b, on)
	case r.w.Brokers[b].Booted.Equal(s.Process.Booted):
		r.w.Switch(b, on)
	}
}

func (r *run) broker(name string) int { return int(name[len(name)-1] - 'a') }

func (r *run) violate(what string) {
	if r.bad == "" && what != "" {
		r.bad = what
	}
}

// cycle lets the operator make a whole look and everything it decides on.
func (r *run) cycle() {
	for started := false; !started || r.looker != nil || r.next != nil; started = true {
		r.advance()
	}
}

// work lets all clients consume, commit and hear of tables.
func (r *run) work() {
	for b := range r.w.Brokers {
		r.w.Sync(b)
		for q := range r.w.Brokers[b].Queues {
			r.w.Consume(b, q)
		}
		live := r.w.Live()
		if len(live) > 0 {
			r.w.PickTable(b, live[len(live)-1])
		}
	}
	for _, m := range r.w.Live() {
		r.w.Persist(m)
	}
}

// second lets a second pass in which everybody works and the operator looks.
func (r *run) second() {
	r.w.Now = r.w.Now.Add(time.Second)
	r.work()
	r.cycle()
}

// seconds does so for a while, with messages of both tags.
func (r *run) seconds(n int) {
	for range n {
		for b := range r.w.Brokers {
			for q := range r.w.Brokers[b].Queues {
				r.w.Send(b, q, []string{"P", "R"}[(r.sent+q)%2])
			}
		}
		r.sent++
		r.second()
	}
}

// target edits the manifest.
func (r *run) target(filter string) {
	r.spec.Target = filterSet(filter)
	r.spec.Generation++
}

// deploy changes the workload's template.
func (r *run) deploy(filter string) {
	if r.template != filter {
		r.template = filter
		r.w.Revision = "r-" + filter
	}
}

// replace replaces one pod that is not of the template, new one first.
func (r *run) replace(surge, killed bool) bool {
	for _, i := range r.w.Live() {
		if m := r.w.Members[i]; m.Revision != r.w.Revision && m.Seen {
			if surge {
				r.w.Join(r.template, r.w.Revision, r.pop)
				r.w.Leave(i, killed)
			} else {
				r.w.Leave(i, killed)
				r.w.Join(r.template, r.w.Revision, r.pop)
			}
			return true
		}
	}
	for len(r.w.Live()) < r.w.Wanted {
		r.w.Join(r.template, r.w.Revision, r.pop)
		return true
	}
	return false
}

// until runs, replacing one pod every fifth second once it may, until the
// change has the stage or no change is open.
func (r *run) roll(n int) {
	for i := range n {
		r.seconds(1)
		if i%5 == 4 {
			r.replace(true, false)
		}
	}
}

// settleDown lets faults stop, and asks for the end: the rollout is finished,
// nothing is fenced, no change is open.
func (r *run) settleDown() string {
	r.silent, r.deaf, r.lostWrite = false, false, false
	for b := range r.w.Brokers {
		r.w.Start(b, false)
	}
	// Nobody chose to give anything up, so a fence whose members are mixed waits
	// for them; now they become alike.
	rested := 0
	for range 400 {
		moved := r.replace(true, false)
		r.seconds(1)
		if r.bad != "" {
			return r.bad
		}
		done := !moved && !r.saved.Note.Open() && !r.w.Fenced() && r.next == nil && r.alike()
		for _, i := range r.w.Live() {
			done = done && r.w.Members[i].Revision == r.w.Revision
		}
		if done && r.last.Step.Kind == "" {
			rested++
		} else {
			rested = 0
		}
		if rested >= 15 { // it stays so
			said := !r.saved.Record.Unproven.IsZero() || r.forgave
			for _, h := range r.last.Holds {
				said = said || h.Reason == HoldNoOffsets
			}
			if live := r.w.Live(); !said && len(live) > 0 {
				return r.w.Lost(r.w.Members[live[0]].Filter)
			}
			return ""
		}
	}
	return fmt.Sprintf("no end: stage %s, holds %v, note %+v", r.last.Stage, r.last.Holds, r.saved.Note)
}
