// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// drainage is what is left to read on a set of queues.
type drainage struct {
	// unread are holds of groups with messages to read; other are holds for
	// which opening reads would not help.
	unread, other []Hold
	// counts are the unread messages by group, total over all of them; at is
	// by broker.
	counts []GroupCount
	total  int64
	at     map[string]int64
	// done are the groups with nothing left.
	done []reader
	// givenUp is what waivers give up; seeds are acknowledged offsets.
	givenUp []GivenUp
	seeds   []Seed
	vacant  []string
	// unproven are broadcast groups whose absent members cannot be asked.
	unproven []Hold
	// ends is the sum of the queues' ends.
	ends int64
}

// drain judges what every group that counts has left on the queues (rules R06,
// R07, R20, R21). On a queue that was cut, a group without an entry is followed
// from the end that was noted before (rule R11).
func (p *pass) drain(refs []QueueRef) drainage {
	d := drainage{at: map[string]int64{}}
	groups, unknown := p.readers()
	if unknown != nil {
		d.other = append(d.other, *unknown)
		return d
	}
	byName, tables := map[string]*broker{}, map[string]offsets{}
	for _, ref := range refs {
		if byName[ref.Broker] != nil {
			continue
		}
		b := p.named(ref.Broker)
		byName[ref.Broker] = b
		o, unknown := p.offsets(b)
		if unknown != nil {
			d.other = append(d.other, *unknown)
			continue
		}
		tables[ref.Broker] = o
		d.other = append(d.other, p.pullOnly(b, o, groups)...)
	}
	for _, ref := range refs {
		o, ok := tables[ref.Broker]
		if !ok {
			continue
		}
		end, unknown := o.end(byName[ref.Broker], ref.Queue)
		if unknown != nil {
			d.other = append(d.other, *unknown)
		} else if base, noted := p.baseOf(ref); noted && end.Max < base && !p.skip.lostTail {
			d.other = append(d.other, Hold{Reason: ReasonLogLostTail, Broker: ref.Broker, Queue: ref.Queue, Count: base - end.Max})
		}
		d.ends += end.Max
	}
	d.other = distinct(d.other)
	for _, g := range groups {
		p.drainGroup(&d, g, refs, tables)
	}
	slices.SortStableFunc(d.counts, func(a, b GroupCount) int { return cmp.Compare(b.Count, a.Count) })
	slices.SortStableFunc(d.unread, func(a, b Hold) int { return cmp.Compare(b.Count, a.Count) })
	return d
}

// baseOf is the end that was noted for a queue before readers lost it; false
// for one that is readable, or was never noted.
func (p *pass) baseOf(ref QueueRef) (int64, bool) {
	b := p.named(ref.Broker)
	switch {
	case b == nil:
		return 0, false
	case ref.Queue >= b.shown.Read:
		return p.next.Note.Cuts[ref.Broker].base(ref.Queue)
	case b.shown.Perm.Readable():
		return 0, false
	}
	return Cut{Base: p.next.Note.Leaving[ref.Broker].Base}.base(ref.Queue)
}

// drainGroup judges one group.
func (p *pass) drainGroup(d *drainage, g reader, refs []QueueRef, tables map[string]offsets) {
	broadcast, known := g.Broadcast.Get()
	switch {
	case g.DeclaredBroadcast && g.absent:
		d.unproven = append(d.unproven, Hold{Reason: FindingBroadcastUnproven, Group: g.Name, Queue: NoQueue})
		return
	case known && broadcast && p.skip.broadcast:
		return
	case known && broadcast && !g.absent:
		positions, told := g.Positions.Get()
		if !told || g.Positions.Origin().Sent.Before(p.look.Started) {
			d.other = append(d.other, Hold{Reason: ReasonBroadcastUnknown, Group: g.Name, Queue: NoQueue, Why: g.Positions.Why()})
			return
		}
		p.account(d, g, refs, tables, func(ref QueueRef) (int64, bool) {
			at, has := positions[ref.Broker][ref.Queue]
			return at, has
		})
		return
	case !known && !g.absent:
		d.other = append(d.other, Hold{Reason: ReasonUnknown, Group: g.Name, Queue: NoQueue,
			Why: "whether its members broadcast is not known: " + g.Broadcast.Why()})
	}
	p.account(d, g, refs, tables, func(ref QueueRef) (int64, bool) {
		at, has := tables[ref.Broker].committed[g.Name][ref.Queue]
		return at, has
	})
}

// owes is what one group has left on one queue.
type owes struct {
	ref  QueueRef
	left int64
}

func (p *pass) account(d *drainage, g reader, refs []QueueRef, tables map[string]offsets, position func(QueueRef) (int64, bool)) {
	var left, beyond []owes
	var total, expired int64
	for _, ref := range refs {
		end, asked := tables[ref.Broker].queues[ref.Queue]
		if !asked {
			continue
		}
		at, entry := position(ref)
		if base, noted := p.baseOf(ref); !entry && noted {
			at = base
			if p.skip.base {
				at = end.Max
			}
		}
		if at > end.Max {
			beyond = append(beyond, owes{ref, at - end.Max})
			continue
		}
		if n := end.Max - max(at, end.Min); n > 0 {
			left = append(left, owes{ref, n})
			total += n
			expired += max(0, end.Min-at)
		}
	}
	if total == 0 && len(beyond) == 0 {
		d.done = append(d.done, g)
		return
	}
	if p.waived(g) {
		for _, o := range left {
			d.givenUp = append(d.givenUp, GivenUp{Group: g.Name, Broker: o.ref.Broker, Queue: o.ref.Queue, Messages: o.left})
		}
		return
	}
	if len(beyond) > 0 {
		p.beyond(d, g, beyond)
	}
	if total == 0 {
		return
	}
	h := Hold{Reason: p.reasonOf(g), Group: g.Name, Queue: NoQueue, Count: total, Expired: expired, Of: len(refs), Since: g.LastCommit, Why: g.Members.Why()}
	h.Where, h.More = worst(left)
	if p.skip.offline && h.Reason == ReasonGroupOffline {
		return
	}
	d.unread = append(d.unread, h)
	d.counts = append(d.counts, GroupCount{Group: g.Name, Count: total, Queues: len(left)})
	d.total += total
	for _, o := range left {
		d.at[o.ref.Broker] += o.left
	}
}

func (p *pass) reasonOf(g reader) Reason {
	reads, known := g.Reads.Get()
	switch {
	case g.absent:
		return ReasonGroupOffline
	case g.online && known && !reads:
		return ReasonGroupReadsNoMore
	}
	return ReasonUnread
}

// beyond holds for offsets past a queue's end; the exit is the value that the
// user names, set while the group has no member (rule R06).
func (p *pass) beyond(d *drainage, g reader, past []owes) {
	ahead := int64(0)
	for _, o := range past {
		ahead += o.left
	}
	if p.skip.beyond {
		return
	}
	where, more := worst(past)
	d.other = append(d.other, Hold{Reason: ReasonOffsetBeyondEnd, Group: g.Name, Queue: NoQueue, Count: ahead, Where: where, More: more})
	if !g.absent {
		return
	}
	for _, s := range p.spec.Acknowledged {
		if s.Group == g.Name && slices.ContainsFunc(past, func(o owes) bool { return o.ref == QueueRef{s.Broker, s.Queue} }) {
			d.seeds = append(d.seeds, s)
			if !slices.Contains(d.vacant, g.Name) {
				d.vacant = append(d.vacant, g.Name)
			}
		}
	}
}

// pullOnly names groups that pull without committing: where they stand is
// unknown until they are declared or waived (rule R07).
func (p *pass) pullOnly(b *broker, o offsets, groups []reader) []Hold {
	pulled, known := b.seen.Pulled.Get()
	if !known {
		return []Hold{{Reason: ReasonUnknown, Broker: b.name, Queue: NoQueue, Why: "pull offsets not known: " + b.seen.Pulled.Why()}}
	}
	var holds []Hold
	for name := range pulled {
		g := reader{GroupOnTopic: snapshot.GroupOnTopic{Name: name}, absent: true}
		for _, r := range groups {
			if r.Name == name {
				g = r
			}
		}
		if _, commits := o.committed[name]; !commits && !toolGroup(name) && !g.Declared && !p.waived(g) && !p.skip.pullOnly {
			holds = append(holds, Hold{Reason: ReasonPullOnlyReader, Broker: b.name, Group: name, Queue: NoQueue})
		}
	}
	slices.SortFunc(holds, func(a, b Hold) int { return cmp.Compare(a.Group, b.Group) })
	return holds
}

// worst lists the queues with most first, at most MaxOdd.
func worst(all []owes) ([]QueueRef, int) {
	slices.SortStableFunc(all, func(a, b owes) int { return cmp.Compare(b.left, a.left) })
	var where []QueueRef
	for _, o := range all[:min(len(all), MaxOdd)] {
		where = append(where, o.ref)
	}
	return where, len(all) - len(where)
}

func (p *pass) named(name string) *broker {
	for _, b := range p.brokers {
		if b.name == name {
			return b
		}
	}
	return nil
}
