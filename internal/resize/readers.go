// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// reader is one group that has to do with the topic.
type reader struct {
	snapshot.GroupOnTopic
	// absent is known: the group has no member.
	absent bool
	// online is known: the group has members.
	online bool
}

// readers lists every group that counts: online, committed or declared, tools
// and built-in groups apart (rule R07). It is unknown when the union is, for a
// group that was left out could not be missed.
func (p *pass) readers() ([]reader, *Hold) {
	known, ok := p.look.Groups.Get()
	if !ok {
		return nil, &Hold{Reason: ReasonUnknown, Queue: NoQueue, Why: "groups of the topic not known: " + p.look.Groups.Why()}
	}
	if !p.skip.moments && p.look.Groups.Origin().Sent.Before(p.look.Started) {
		return nil, &Hold{Reason: ReasonUnknown, Queue: NoQueue, Why: "the groups were not asked for in this look"}
	}
	all := maps.Clone(known)
	if all == nil {
		all = map[string]snapshot.GroupOnTopic{}
	}
	for _, b := range p.brokers {
		committed, _ := b.seen.Committed.Get()
		for name := range committed {
			if _, listed := all[name]; !listed {
				all[name] = snapshot.GroupOnTopic{Name: name, Members: snapshot.Unknown[int]("its members were not asked for")}
			}
		}
	}
	var out []reader
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if toolGroup(name) {
			continue
		}
		r := reader{GroupOnTopic: all[name]}
		r.Name = name
		if n, ok := r.Members.Get(); ok {
			r.absent, r.online = n == 0, n > 0
		}
		out = append(out, r)
	}
	return out, nil
}

// waived reports whether what the group has not read is given up: for this
// target, and only while it is known to have no member (rule R20).
func (p *pass) waived(r reader) bool {
	if !r.absent && !p.skip.waivers {
		return false
	}
	return slices.Contains(p.spec.Waivers, Waiver{Group: r.Name, ToQueues: p.spec.Queues})
}

// offsets are the facts of one broker that a statement about its queues rests
// on: known, of this look, of the broker's own process, and asked for in the
// order of rule R01.
type offsets struct {
	committed map[string]map[int]int64
	queues    map[int]snapshot.QueueOffsets
}

func (p *pass) offsets(b *broker) (offsets, *Hold) {
	var o offsets
	var ok1, ok2 bool
	o.committed, ok1 = b.seen.Committed.Get()
	o.queues, ok2 = b.seen.Queues.Get()
	unknown := func(what, why string) *Hold {
		return &Hold{Reason: ReasonUnknown, Broker: b.name, Queue: NoQueue, Why: what + " not known: " + why}
	}
	switch {
	case !ok1:
		return o, unknown("committed offsets", b.seen.Committed.Why())
	case !ok2:
		return o, unknown("ends of queues", b.seen.Queues.Why())
	}
	c, q := b.seen.Committed.Origin(), b.seen.Queues.Origin()
	switch {
	case p.skip.moments:
	case c.Sent.Before(p.look.Started):
		return o, unknown("offsets", "they were not asked for in this look")
	case q.Sent.Before(c.Sent):
		return o, unknown("offsets", "the ends of queues were asked for before the committed offsets, so a message between the two would be called read")
	case b.seen.Config.Origin().Sent.Before(q.Sent):
		return o, unknown("config", "it was asked for before the ends of queues")
	}
	if !p.skip.process && (!c.From.Same(b.process) || !q.From.Same(b.process)) {
		return o, unknown("offsets", "another process than the one that gave the config answered")
	}
	return o, nil
}

// end returns the bounds of one queue, or why they are not known.
func (o offsets) end(b *broker, queue int) (snapshot.QueueOffsets, *Hold) {
	q, ok := o.queues[queue]
	if !ok {
		return q, &Hold{Reason: ReasonUnknown, Broker: b.name, Queue: queue, Why: fmt.Sprintf("the end of queue %d was not asked for", queue)}
	}
	return q, nil
}
