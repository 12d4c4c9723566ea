// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// key encodes everything on which the future of a run depends.
func (r *run) key(key []byte) []byte {
	now := r.w.Now
	key = r.w.AppendKey(key)
	key = model.AppendInts(key, r.spec.Queues, int(r.spec.Generation), int(r.fault), len(r.spec.Waivers), r.at)
	key = model.AppendTime(fmt.Appendf(key, "%v", r.lostWrite), r.basis.asked, now)
	for _, t := range r.basis.larger {
		key = model.AppendTime(key, t, now)
	}
	if r.spec.Mode == ModeApprove {
		key = model.AppendTime(append(append(key, r.spec.Approved...), r.granted...), r.saved.Record.Started, now)
	}
	key = fmt.Appendf(key, "%v%v%v", r.spec.Placement, r.spec.Closing, r.spec.Rescue)
	key = appendRecord(key, r.saved, now)
	key = appendLived(key, r.saved.Lived, now)
	if r.looker != nil {
		key = model.AppendInts(key, r.looker.Part(), int(r.looker.Fault))
		key = appendLook(key, r.looker.Partial(), now)
	}
	if r.next != nil {
		key = appendStep(key, r.next.Step, now)
	}
	if r.frozen != nil {
		key = appendStep(model.AppendInts(key, r.frozen.at), r.frozen.decision.Step, now)
	}
	return key
}

func appendShown(key []byte, s Shown) []byte {
	return model.AppendInts(key, s.Read, s.Write, int(s.Perm))
}

func appendRecord(key []byte, p Progress, now time.Time) []byte {
	key = append(key, p.Record.Stage...)
	key = model.AppendInts(key, int(p.Record.Generation), p.Record.Reopened)
	for _, name := range slices.Sorted(maps.Keys(p.Record.Brokers)) {
		b := p.Record.Brokers[name]
		for _, s := range []Shown{b.From, b.Last, b.Before, b.Sent} {
			key = appendShown(key, s)
		}
		key = model.AppendInts(key, b.ProvenLow, b.ProvenHigh)
	}
	key = fmt.Appendf(key, "%v", p.Record.Placed)
	for _, name := range slices.Sorted(maps.Keys(p.Note.Leaving)) {
		key = fmt.Appendf(append(key, name...), "%v", p.Note.Leaving[name].Base)
		key = model.AppendTime(key, p.Note.Leaving[name].End, now)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Note.Cuts)) {
		c := p.Note.Cuts[name]
		key = fmt.Appendf(key, "%s%v%v", name, c.Base, c.Over)
		key = model.AppendInts(key, c.To, c.From)
		for _, t := range []time.Time{c.Closed, c.End, c.Keep} {
			key = model.AppendTime(key, t, now)
		}
	}
	return key
}

func appendLived(key []byte, l Lived, now time.Time) []byte {
	add := func(w window) {
		key = append(key, w.of...)
		for _, t := range []time.Time{w.since, w.last, w.end} {
			key = model.AppendTime(key, t, now)
		}
	}
	for _, t := range []time.Time{l.Barrier, l.seen, l.at, l.lastOf, l.fresh} {
		key = model.AppendTime(key, t, now)
	}
	key = model.AppendInts(key, l.clears)
	add(l.settled)
	add(l.readers)
	add(l.alike)
	refs := slices.SortedFunc(maps.Keys(l.still), func(a, b QueueRef) int {
		return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Queue, b.Queue))
	})
	for _, ref := range refs {
		s := l.still[ref]
		key = model.AppendInts(append(key, ref.Broker...), ref.Queue, int(s.max))
		key = model.AppendTime(key, s.process.Booted, now)
		add(s.window)
	}
	for _, name := range slices.Sorted(maps.Keys(l.drained)) {
		key = append(key, name...)
		add(l.drained[name])
	}
	return key
}

func appendLook(key []byte, l snapshot.TopicLook, now time.Time) []byte {
	key = model.AppendTime(key, l.Started, now)
	for _, name := range slices.Sorted(maps.Keys(l.Brokers)) {
		b := l.Brokers[name]
		committed, ok1 := b.Committed.Get()
		queues, ok2 := b.Queues.Get()
		config, ok3 := b.Config.Get()
		pending, ok4 := b.Pending.Get()
		behind, ok5 := b.Runtime.Get()
		key = fmt.Appendf(key, "%s%v%v%v%v%v%v%v%v%v%d", name, committed, ok1, queues, ok2,
			config.Config.ReadQueues, config.Config.WriteQueues, ok3, ok4, ok5, behind.DispatchBehind)
		key = fmt.Appendf(key, "%v", pending.Delay)
		key = model.AppendTime(key, b.Committed.Origin().Sent, now)
		key = model.AppendTime(key, b.Queues.Origin().Sent, now)
		key = model.AppendTime(key, b.Config.Origin().Sent, now)
	}
	return key
}

func appendStep(key []byte, s Step, now time.Time) []byte {
	key = model.AppendTime(append(key, s.Kind...), s.NotAfter, now)
	for _, c := range s.Changes {
		key = append(key, c.Broker...)
		key = model.AppendTime(appendShown(appendShown(key, c.Expect), c.Want), c.Process.Booted, now)
	}
	return fmt.Appendf(key, "%v", s.Seeds)
}

// clone copies a run; progress and decisions are never changed in place.
func (r *run) clone() *run {
	c := *r
	c.w = r.w.Clone()
	if r.looker != nil {
		c.looker = r.looker.Clone()
	}
	if r.frozen != nil {
		f := *r.frozen
		c.frozen = &f
	}
	return &c
}
