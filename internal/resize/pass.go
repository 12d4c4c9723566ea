// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// pass is one call of Plan: its arguments, what was made of them so far, and
// the decision as it grows.
type pass struct {
	spec Spec
	t    Timings
	look snapshot.TopicLook
	now  time.Time
	skip skips
	prev Progress

	next     Progress
	d        Decision
	done     bool // a step or a hold was decided
	atRest   bool // nothing is left to be done
	brokers  []*broker
	servers  []string // name server addresses in order
	settled  bool     // in this look, all show the target
	retiring []QueueRef
}

// role is what the spec says of a broker.
type role int

const (
	declared   role = iota
	leaving         // was declared once
	undeclared      // never was: named, never edited
)

// broker is one broker of the cluster as this look shows it; its config is
// known.
type broker struct {
	name    string
	role    role
	seen    snapshot.TopicOnBroker
	shown   Shown
	config  snapshot.TopicConfig
	process snapshot.Process
}

func newPass(spec Spec, progress Progress, look snapshot.TopicLook, now time.Time, skip skips) *pass {
	p := &pass{spec: spec, t: spec.Timings.orDefaults(), look: look, now: now, skip: skip, prev: progress}
	p.next = Progress{Record: progress.Record.clone(), Note: progress.Note.clone(), Lived: progress.Lived.clone()}
	if skip.gap {
		p.t.MaxGap = time.Hour
	}
	p.next.Lived.fresh = time.Time{} // good for the next pass only
	if p.next.Record.Brokers == nil {
		p.next.Record.Brokers = map[string]BrokerRecord{}
	}
	if p.next.Note.Cuts == nil {
		p.next.Note.Cuts = map[string]Cut{}
	}
	if p.next.Note.Leaving == nil {
		p.next.Note.Leaving = map[string]Leaving{}
	}
	for address := range look.Routes {
		p.servers = append(p.servers, address)
	}
	slices.Sort(p.servers)
	p.d.Proof.Target = spec.Queues
	p.d.Proof.NameServers = len(p.servers)
	p.d.Proof.RouteAge = spec.routeAge(p.t)
	return p
}

// hold ends the pass without a step when there is a hold.
func (p *pass) hold(stage Stage, holds ...Hold) bool {
	if len(holds) == 0 {
		return false
	}
	p.d.Stage, p.d.Holds, p.done = stage, holds, true
	p.d.LookAgain = p.t.LookEvery
	return true
}

// step ends the pass with a step, and records what the brokers will show.
func (p *pass) step(stage Stage, s Step) bool {
	p.d.Stage, p.d.Step, p.done = stage, s, true
	p.d.LookAgain = p.t.LookEvery
	for _, c := range s.Changes {
		r := p.next.Record.Brokers[c.Broker]
		r.Sent = c.Want
		p.next.Record.Brokers[c.Broker] = r
	}
	return true
}

// freshLook asks for a look of this topic's own.
func (p *pass) freshLook(stage Stage) bool {
	p.next.Lived.fresh = p.now
	return p.step(stage, Step{Kind: StepFreshLook})
}

// stage is the stage to show while the look cannot tell.
func (p *pass) lastStage() Stage { return p.prev.Record.Stage }

// with lists the brokers of a role that satisfy the test.
func (p *pass) with(r role, test func(*broker) bool) []*broker {
	var out []*broker
	for _, b := range p.brokers {
		if b.role == r && test(b) {
			out = append(out, b)
		}
	}
	return out
}

// change is a config write on b from what it shows.
func (b *broker) change(want Shown) BrokerChange {
	want.Present = true
	return BrokerChange{Broker: b.name, Expect: b.shown, Want: want, Process: b.process}
}

// highest is the number of queues for which the broker takes sends or reads.
func (b *broker) highest() int { return max(b.shown.Read, b.shown.Write) }
