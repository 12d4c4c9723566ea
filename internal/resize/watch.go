// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// reopen runs the drain proof over the retired queues of every cut, with the
// ends noted before the cut as its base (rule R11). Whatever is unread opens
// reads again, seeds first (rule R12). It also keeps the cuts' windows.
func (p *pass) reopen() bool {
	var refs []QueueRef
	for _, b := range p.brokers {
		c, cut := p.next.Note.Cuts[b.name]
		if b.role == leaving && !b.shown.Present {
			delete(p.next.Note.Cuts, b.name) // its queues went with the topic, proven read
		}
		if !cut || b.role == undeclared || !b.shown.Present {
			continue
		}
		if c, cut = p.follow(b, c); !cut {
			delete(p.next.Note.Cuts, b.name)
			continue
		}
		p.next.Note.Cuts[b.name] = c
		for queue := b.shown.Read; queue < c.From; queue++ {
			refs = append(refs, QueueRef{b.name, queue})
		}
	}
	p.leavingWindows()
	if len(refs) == 0 || p.skip.watch {
		p.endWatch(nil, drainage{})
		return false
	}
	d := p.drain(refs)
	p.acceptLostTail(&d)
	switch {
	case len(d.unread) > 0:
		return p.raise(d)
	case len(d.seeds) > 0:
		return p.step(StageWatching, Step{Kind: StepSetOffsets, Seeds: d.seeds, Vacant: d.vacant})
	}
	p.endWatch(refs, d)
	return false
}

// acceptLostTail offers the exit of a watch that cannot end because a log lost
// its tail: with an approval the present ends are what is watched from.
func (p *pass) acceptLostTail(d *drainage) {
	lost := func(h Hold) bool { return h.Reason == ReasonLogLostTail }
	if !slices.ContainsFunc(d.other, lost) {
		return
	}
	if !p.approved(StageWatching, "") {
		p.d.Approval.Proof = "what the log lost cannot be proven read; accepted, the retired queues are watched from their present ends"
		return
	}
	for _, h := range slices.DeleteFunc(slices.Clone(d.other), func(h Hold) bool { return !lost(h) }) {
		c := p.next.Note.Cuts[h.Broker]
		c.Base = slices.Clone(c.Base)
		c.Base[h.Queue-c.To] -= h.Count
		p.next.Note.Cuts[h.Broker] = c
	}
	d.other = slices.DeleteFunc(d.other, lost)
}

// follow carries a cut on by what its broker shows; false when it is over for
// good.
func (p *pass) follow(b *broker, c Cut) (Cut, bool) {
	if b.shown.Write > c.To { // turned round: these ids take writes again
		up := min(b.shown.Write, c.From)
		c.Base = c.Base[min(len(c.Base), up-c.To):]
		c.To = up
	}
	switch settings, known := b.seen.Settings.Get(); {
	case c.To >= c.From:
		return c, false
	case p.spec.Closing && b.shown.Read >= c.From && p.next.Lived.alike.span() > p.t.CutLookAge:
		return c, false // nothing is cut, and no step that an old leader holds can be sent any more
	case b.shown.Read >= c.From: // all open: not cut yet, or opened again
		c.Closed, c.End, c.Keep, c.Over = time.Time{}, time.Time{}, time.Time{}, false
	case c.Closed.IsZero() && known:
		c.Closed = p.now
		if p.skip.closed {
			c.Closed = p.prev.Record.Started
		}
		c.End = c.Closed.Add(p.lateWindow(b, settings))
		c.Keep = c.Closed.Add(max(settings.Retention, p.lateWindow(b, settings)))
	}
	return c, true
}

// lateWindow is how long a message stamped before the door closed may still
// land (rule R10): the user's promise, or the longest that the broker allows;
// never less than retention where half messages are used.
func (p *pass) lateWindow(b *broker, s snapshot.Settings) time.Duration {
	w := p.spec.LongestDelay
	if w <= 0 {
		w = max(s.TimerMaxDelay, s.Retention)
		for _, level := range s.DelayLevels {
			w = max(w, level)
		}
	}
	pending, known := b.seen.Pending.Get()
	halves := p.spec.Transactions || known && pending.Halves > 0 ||
		p.spec.MessageType == "TRANSACTION" || p.spec.MessageType == "MIXED"
	if halves {
		w = max(w, s.Retention)
	}
	return w
}

// leavingWindows starts a leaving broker's late window when all routes show it
// closed, and forgets brokers that are gone. Nothing closes the door of such a
// broker, so what producers still stamp by old routes is waited for as well.
func (p *pass) leavingWindows() {
	if p.spec.Closing {
		clear(p.next.Note.Leaving) // such a broker stays as it is
		return
	}
	routes := p.routeHolds()
	p.d.Proof.Routed = 0
	for _, b := range p.with(leaving, func(b *broker) bool { return true }) {
		l := p.next.Note.Leaving[b.name]
		settings, known := b.seen.Settings.Get()
		switch {
		case !b.shown.Present, b.shown.Perm.Writable():
			delete(p.next.Note.Leaving, b.name)
		case l.End.IsZero() && known && len(routes) == 0:
			l.Closed = p.now
			l.End = p.now.Add(p.spec.routeAge(p.t) + p.lateWindow(b, settings))
			p.next.Note.Leaving[b.name] = l
		}
	}
	for name := range p.next.Note.Leaving {
		if b := p.named(name); b == nil || b.role != leaving {
			delete(p.next.Note.Leaving, name)
		}
	}
}

// endWatch ends late windows that are over with everything proven read in a
// look begun after their end, and drops the cut when retention has passed too.
// A broker that was down at the end may deliver late what fell due meanwhile,
// so its process must have been seen at work for a while.
func (p *pass) endWatch(refs []QueueRef, d drainage) {
	watched := map[string]bool{}
	for _, ref := range refs {
		watched[ref.Broker] = true
	}
	for name, c := range p.next.Note.Cuts {
		if c.End.IsZero() {
			continue
		}
		proven := p.skip.watch || watched[name] && len(d.other) == 0
		atWork := p.skip.atWork || p.next.Lived.alike.span() >= min(p.t.Still, p.t.WatchEvery)
		if !c.Over && proven && atWork && !p.look.Started.Before(c.End) {
			c.Over = true
			p.next.Note.Cuts[name] = c
		}
		if c.Over && proven && !p.look.Started.Before(c.Keep) {
			delete(p.next.Note.Cuts, name)
			r := p.next.Record.Brokers[name]
			r.ProvenLow, r.ProvenHigh = c.To, c.From
			p.next.Record.Brokers[name] = r
		}
	}
	p.d.Findings = append(p.d.Findings, d.other...)
}

// raise opens reads again on the brokers with something unread.
func (p *pass) raise(d drainage) bool {
	var needs []span
	s := Step{Kind: StepReopenReads}
	for _, b := range p.brokers {
		if d.at[b.name] == 0 {
			continue
		}
		c := p.next.Note.Cuts[b.name]
		needs = append(needs, span{b, b.shown.Read, c.From})
		want := b.shown
		want.Read = c.From
		s.Changes = append(s.Changes, b.change(want))
	}
	for _, h := range d.unread {
		h.Reason = FindingLateMessage
		p.d.Findings = append(p.d.Findings, h)
	}
	if !p.skip.lateSeeds && p.seed(StageReopening, needs) {
		return true
	}
	p.next.Record.Reopened++
	return p.step(StageReopening, s)
}

// watch is where a shrink rests until the late windows are over.
func (p *pass) watch() bool {
	open, until := 0, time.Time{}
	for _, b := range p.brokers {
		c, cut := p.next.Note.Cuts[b.name]
		if !cut || c.Over {
			continue
		}
		open += c.From - max(b.shown.Read, c.To)
		if c.End.After(until) {
			until = c.End
		}
	}
	p.d.Proof.Watched, p.d.Proof.WatchUntil = open, until
	if p.spec.Closing && open == 0 && len(p.next.Note.openCuts()) == 0 {
		p.atRest = true
		return true
	}
	if holds := p.routeHolds(); len(holds) > 0 {
		return p.hold(StageRoutes, holds...)
	}
	if open == 0 {
		p.atRest = true
		return true
	}
	if until.After(p.now) {
		p.d.Remaining = until.Sub(p.now)
	}
	p.hold(StageWatching, Hold{Reason: ReasonRetiredWatched, Queue: NoQueue, Of: open, Until: until})
	p.d.LookAgain = p.t.WatchEvery
	return true
}
