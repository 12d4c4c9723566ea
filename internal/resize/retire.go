// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// mayShrink holds what takes queues away: where mayMove holds, and on stores
// whose queues behave otherwise at a recovery (rule R04).
func (p *pass) mayShrink(stage Stage) bool {
	if !p.mayMove(stage) {
		return false
	}
	var holds []Hold
	for _, b := range p.brokers {
		if b.role == undeclared || !b.shown.Present {
			continue
		}
		settings, known := b.seen.Settings.Get()
		switch {
		case !known:
			holds = append(holds, Hold{Reason: ReasonUnknown, Broker: b.name, Queue: NoQueue, Why: "settings not known: " + b.seen.Settings.Why()})
		case settings.StoreType != "default" && !p.skip.store:
			holds = append(holds, Hold{Reason: ReasonUnsupportedStore, Broker: b.name, Queue: NoQueue,
				Why: fmt.Sprintf("stores messages as %q; only storeType=default may be shrunk", settings.StoreType)})
		}
	}
	return !p.hold(stage, holds...)
}

// retire takes the retiring queues away once nothing can be lost by it. Each
// proof names its own stage; all of them must hold in one look of its own.
func (p *pass) retire() bool {
	if len(p.retiring) == 0 {
		return false
	}
	if p.spec.FirstSight && !p.mayCut(StageDraining, StepNarrowReads, "") || !p.mayShrink(StageDraining) {
		return true
	}
	d := p.drain(p.retiring)
	p.d.Findings = append(p.d.Findings, d.unproven...)
	p.measure(d)
	p.handedOut(d)
	if p.unhide(d) || p.seedAgain() || p.settling() || p.late() || p.dispatching() || p.draining(d) || p.invisible() || p.history() {
		return true
	}
	cuts := p.with(declared, func(b *broker) bool { return b.shown.Read > p.spec.Queues })
	if len(cuts) == 0 {
		return p.leave(d)
	}
	if !p.mayCut(StageDraining, StepNarrowReads, p.readProof(cuts)) || !p.provenAgain() {
		return true
	}
	return p.cut(cuts, d)
}

// settling holds until every route shows the target, the oldest route that a
// producer may still use has passed, and no retiring queue moves.
func (p *pass) settling() bool {
	routes := p.routeHolds()
	p.d.Proof.Settled = p.next.Lived.settled.span()
	if len(routes) > 0 && !p.skip.routes {
		return p.hold(StageRoutes, routes...)
	}
	if left := -p.aged(); left >= 0 {
		p.d.Remaining = left + p.t.Still
		return p.hold(StageSettling, Hold{Reason: ReasonRouteAge, Queue: NoQueue, Wait: max(left, time.Second),
			Count: int64(p.spec.routeAge(p.t) / time.Second)})
	}
	moving, left := p.moving()
	p.d.Proof.Still = len(p.retiring) - len(moving)
	if len(moving) == 0 || p.skip.still {
		return false
	}
	p.d.Remaining = left
	h := Hold{Reason: ReasonSettling, Queue: NoQueue, Wait: left, Count: int64(len(moving)), Of: len(p.retiring), Why: roughly(p.t.Still)}
	aged := p.next.Lived.settled.since.Add(p.spec.routeAge(p.t))
	for _, ref := range moving {
		s := p.next.Lived.still[ref]
		if s.since.Before(aged) {
			continue
		}
		if h.Reason = ReasonStillGrowing; len(h.Where) < MaxOdd {
			h.Where = append(h.Where, ref)
		} else {
			h.More++
		}
	}
	if h.Reason == ReasonStillGrowing {
		h.Wait, h.Broker, h.Queue = p.t.Still, h.Where[0].Broker, h.Where[0].Queue
	}
	return p.hold(StageSettling, h)
}

// late holds until two looks apart saw nothing pending.
func (p *pass) late() bool {
	l := p.next.Lived
	p.d.Proof.ClearLooks = l.clears
	if p.skip.pending || l.clears >= clearLooks {
		return false
	}
	if seen := p.pending(); len(seen) > 0 {
		for _, h := range seen {
			p.d.Remaining = max(p.d.Remaining, h.Wait)
		}
		return p.hold(StageLateMessages, seen...)
	}
	left := max(time.Second, p.t.Apart-p.now.Sub(l.lastOf))
	p.d.Remaining = left
	return p.hold(StageLateMessages, Hold{Reason: ReasonLatePending, Queue: NoQueue, Wait: left,
		Why: "nothing is seen pending; a second look is due to see the same"})
}

// dispatching holds while a broker's queues do not show yet what its log
// holds, and while that is not known in the order of rule R04.
func (p *pass) dispatching() bool {
	var holds []Hold
	for _, b := range p.brokers {
		if b.role == undeclared || !b.shown.Present || p.skip.dispatch {
			continue
		}
		runtime, known := b.seen.Runtime.Get()
		origin := b.seen.Runtime.Origin()
		h := Hold{Reason: ReasonUnknown, Broker: b.name, Queue: NoQueue}
		switch {
		case !known:
			h.Why = "dispatch progress not known: " + b.seen.Runtime.Why()
		case !p.skip.moments && (origin.Sent.Before(p.look.Started) || b.seen.Queues.Origin().Sent.Before(origin.Sent)):
			h.Why = "dispatch progress was not asked for in this look before the ends of queues"
		case !origin.From.Same(b.process):
			h.Why = "another process than the one that gave the config told of dispatch"
		case runtime.DispatchBehind > 0:
			h.Reason, h.Count = ReasonDispatchBehind, runtime.DispatchBehind
			h.Why = fmt.Sprintf("%d bytes of its log are not in the queues yet", runtime.DispatchBehind)
		default:
			continue
		}
		holds = append(holds, h)
	}
	return p.hold(StageDraining, holds...)
}

// draining holds while any group has something left to read.
func (p *pass) draining(d drainage) bool {
	if len(d.seeds) > 0 {
		return p.step(StageDraining, Step{Kind: StepSetOffsets, Seeds: d.seeds, Vacant: d.vacant})
	}
	if p.skip.drain {
		return false
	}
	return p.hold(StageDraining, append(d.other, d.unread...)...)
}

// seedAgain gives groups without members back the positions that they were
// given before late messages were made readable: a broker that crashes within
// seconds of a commit forgets it, and the group would begin at the end.
func (p *pass) seedAgain() bool {
	groups, unknown := p.readers()
	if unknown != nil || p.reopened() == 0 {
		return false // said by the drain proof
	}
	s := Step{Kind: StepSetOffsets}
	for _, b := range p.with(declared, func(b *broker) bool { return b.shown.Present }) {
		o, unknown := p.offsets(b)
		c := p.next.Note.Cuts[b.name]
		if unknown != nil || b.shown.Read < c.From {
			continue
		}
		for queue := c.To; queue < c.From; queue++ {
			for _, g := range groups {
				clusters, _ := g.clustering()
				if _, has := o.committed[g.Name][queue]; !has && g.absent && clusters && o.queues[queue].Max > 0 {
					s.Seeds = append(s.Seeds, Seed{Group: g.Name, Broker: b.name, Queue: queue,
						Offset: p.seedAt(b, queue, o.queues[queue].Min, o.queues[queue].Max, o)})
				}
			}
		}
	}
	return len(s.Seeds) > 0 && p.step(StageReopening, s)
}

// handedOut follows for how long each group that may pop has had nothing left.
// A group without members counts as one: what was handed out before they left
// comes back all the same. A queue that moves begins the window again.
func (p *pass) handedOut(d drainage) {
	windows := map[string]window{}
	of := p.processes() + fmt.Sprint(d.ends)
	for _, g := range d.done {
		if protocol, known := g.Protocol.Get(); known && protocol == snapshot.ProtocolClassic {
			continue
		}
		windows[g.Name] = p.prev.Lived.drained[g.Name].saw(p.look, of, p.t.MaxGap)
	}
	p.next.Lived.drained = windows
}

// invisible holds until what was handed out to POP members has come back or
// not: their offset moves when a message is handed out (rocketmq.md 4.5).
func (p *pass) invisible() bool {
	var holds []Hold
	for _, name := range slices.Sorted(maps.Keys(p.next.Lived.drained)) {
		left := p.t.Invisible - p.next.Lived.drained[name].span()
		if left <= 0 || p.skip.invisible {
			continue
		}
		holds = append(holds, Hold{Reason: ReasonInvisible, Group: name, Queue: NoQueue, Wait: left, Count: int64(p.t.Invisible / time.Second)})
		p.d.Remaining = max(p.d.Remaining, left)
	}
	return p.hold(StageDraining, holds...)
}

// history counts what the cut takes from those who read again, and holds when
// the spec keeps it (rule R22).
func (p *pass) history() bool {
	var all []owes
	for _, ref := range p.retiring {
		ends, _ := p.named(ref.Broker).seen.Queues.Get()
		if n := ends[ref.Queue].Max - ends[ref.Queue].Min; n > 0 {
			all = append(all, owes{ref, n})
			p.d.Proof.History += n
		}
	}
	if !p.spec.KeepHistory || p.skip.history || p.d.Proof.History == 0 {
		return false
	}
	where, more := worst(all)
	return p.hold(StageDraining, Hold{Reason: ReasonHistory, Queue: NoQueue, Count: p.d.Proof.History, Where: where, More: more})
}
