// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// epoch is when every world begins; it has no monotonic reading.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// run is a world with the operator that works on it: what it has persisted,
// what its process lived through, and where in its cycle it is.
type run struct {
	w    *model.World
	spec Spec
	skip skips

	// saved is persisted progress; its Lived is dropped by a crash.
	saved  Progress
	looker *model.Looker
	next   *Decision // decided and persisted, calls still to be sent
	at     int       // of these, how many were sent
	basis  basis     // what the present look rests on
	frozen *leader   // an old leader that may wake
	last   snapshot.TopicLook

	fault     model.Fault // of the next look
	lostWrite bool        // the next write reports success and is lost
	strict    bool        // round-trip persisted progress through JSON
	foreign   bool        // an old state or an old leader may have come back
	stopped   bool        // the last decision was held by a foreign change
	strand    bool        // the last decision was held by stranded messages
	ended     bool        // the last decision found the topic as declared
	offered   *Approval   // what the last decision waits for a person for
	granted   StepKind    // what a person approved in the present change
	bad       string      // the first violation
	cuts      int
	seen      map[Stage]int
}

// leader is an operator process that stopped in the middle of a step.
type leader struct {
	decision Decision
	at       int
	basis    basis
}

// basis is what was true when a look asked for the ends of queues.
type basis struct {
	asked  time.Time
	larger []time.Time // by broker, see model.Broker.Larger
}

// advance makes one move of the operator: one part of a look, one decision,
// or one call.
func (r *run) advance() {
	switch {
	case r.next != nil:
		r.send(&r.next.Step, &r.at, r.basis)
		if r.at >= calls(r.next.Step) {
			r.saved = r.saved.Acted(r.w.Now)
			r.next = nil
		}
	case r.looker == nil:
		r.looker = &model.Looker{Fault: r.fault, Old: r.last}
		r.fault = model.NoFault
		r.looker.Next(r.w)
	case !r.looker.Next(r.w):
		if r.looker.Part() == 2 {
			r.basis = basis{asked: r.w.Now}
			for i := range r.w.Brokers {
				r.basis.larger = append(r.basis.larger, r.w.Brokers[i].Larger)
			}
		}
	default:
		r.decide(r.looker.Look())
		r.looker = nil
	}
	r.check()
}

func (r *run) decide(look snapshot.TopicLook) {
	d := plan(r.spec, r.saved, look, r.w.Now, r.skip)
	r.last = look
	if r.seen != nil {
		r.seen[d.Stage]++
	}
	r.trace("decide", &d)
	r.saved = d.Next
	if r.strict {
		r.persist()
	}
	r.ended = d.AsDeclared && !d.Open && d.Next.Note.Empty()
	if r.spec.Closing {
		r.ended = !d.Open && calls(d.Step) == 0
	}
	r.offered = d.Approval
	r.judgeStep(d, look)
	r.stopped = len(d.Holds) > 0 && d.Holds[0].Reason == ReasonForeignChange
	r.strand = len(d.Holds) > 0 && d.Holds[0].Reason == FindingStranded
	if calls(d.Step) > 0 {
		r.next, r.at = &d, 0
	}
}

// persist takes record and note through JSON, as an API object would.
func (r *run) persist() {
	for _, part := range []any{&r.saved.Record, &r.saved.Note} {
		text, err := json.Marshal(part)
		if err != nil {
			r.violate("progress cannot be persisted: " + err.Error())
			return
		}
		switch into := part.(type) {
		case *Record:
			*into = Record{}
		case *Note:
			*into = Note{}
		}
		if err := json.Unmarshal(text, part); err != nil {
			r.violate("progress cannot be read back: " + err.Error())
		}
	}
}

// crash drops everything that was not persisted.
func (r *run) crash() {
	r.saved.Lived = Lived{}
	r.looker, r.next = nil, nil
}

// freeze leaves the present step behind in a process that may wake later, and
// starts another.
func (r *run) freeze() {
	if r.next != nil && r.frozen == nil {
		r.frozen = &leader{decision: *r.next, at: r.at, basis: r.basis}
		r.crash()
	}
}

// wake lets the old leader send its next call.
func (r *run) wake() {
	if r.frozen == nil {
		return
	}
	r.send(&r.frozen.decision.Step, &r.frozen.at, r.frozen.basis)
	if r.frozen.at >= calls(r.frozen.decision.Step) {
		r.frozen = nil
	}
	r.check()
}

func calls(s Step) int {
	if !s.Changing() {
		return 0
	}
	return len(s.Seeds) + len(s.Changes)
}

// send carries out one call of a step as an actor must: within its time, to
// the process that was looked at, and only on what it expects to find.
func (r *run) send(s *Step, at *int, on basis) {
	i := *at
	*at++
	if !s.NotAfter.IsZero() && r.w.Now.After(s.NotAfter) && !r.skip.fresh {
		return
	}
	if i < len(s.Seeds) {
		seed := s.Seeds[i]
		r.w.SetOffset(seed.Group, r.w.Index(seed.Broker), seed.Queue, int(seed.Offset))
		return
	}
	c := s.Changes[i-len(s.Seeds)]
	n := r.w.Index(c.Broker)
	b := &r.w.Brokers[n]
	if !b.Up || shown(b.Counts) != c.Expect || !b.Booted.Equal(c.Process.Booted) {
		return
	}
	if c.Want.Present && (c.Want.Write < 1 || c.Want.Read < c.Want.Write) {
		r.violate(fmt.Sprintf("%s asks %s for %s", s.Kind, c.Broker, c.Want))
	}
	if r.lostWrite {
		r.lostWrite = false
		return
	}
	hides := c.Want.Present && hidden(c.Want.Perm)
	if s.Cuts() || hides {
		t := r.spec.Timings.orDefaults()
		r.cuts++
		to := c.Want.Read
		if hides {
			to = 0
		}
		r.violate(r.w.CheckCut(n, to, model.Cut{Asked: on.asked, Larger: on.larger[n], Age: t.CutLookAge, RouteAge: r.spec.routeAge(t), Still: t.Still}))
	}
	r.w.Write(n, model.Counts{Present: c.Want.Present, Read: c.Want.Read, Write: c.Want.Write, Perm: c.Want.Perm})
}

func shown(c model.Counts) Shown {
	if !c.Present {
		return Shown{}
	}
	return Shown{Present: true, Read: c.Read, Write: c.Write, Perm: c.Perm}
}

// check asks the world whether anything was lost, given what is watched.
func (r *run) check() {
	r.violate(r.w.Check(func(broker string, queue int) bool {
		c, cut := r.saved.Note.Cuts[broker]
		return cut && !c.Over && queue >= c.To && queue < c.From
	}))
}

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

// target edits the spec.
func (r *run) target(n int) {
	r.spec.Queues, r.ended, r.granted = n, false, ""
	r.spec.Generation++
	r.w.Target = n
	r.w.SeeLarger()
}

// rested reports whether the topic is as declared and nothing is open.
func (r *run) rested() bool {
	look := &model.Looker{}
	for !look.Next(r.w) {
	}
	d := plan(r.spec, r.saved, look.Look(), r.w.Now, r.skip)
	if r.spec.Closing {
		return !d.Open && calls(d.Step) == 0
	}
	return d.AsDeclared && !d.Open && calls(d.Step) == 0
}
