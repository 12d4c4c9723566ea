// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// permHidden keeps producers and consumers away: clients skip what a route
// lists with neither the read nor the write bit (rocketmq.md 4.1).
const permHidden = snapshot.PermInherit

// hidden reports whether no client uses what has the permission.
func hidden(perm snapshot.Perm) bool { return !perm.Readable() && !perm.Writable() }

// remembered are the brokers that the topic was declared on, or that have
// something open.
func (p *pass) remembered() []string {
	return slices.Concat(p.prev.Record.Placed,
		slices.Sorted(maps.Keys(p.prev.Note.Cuts)), slices.Sorted(maps.Keys(p.prev.Note.Leaving)))
}

// missing holds for brokers that left the spec and have no master any more.
// Such a broker may be gone for good, so there is an exit: with an approval it
// is forgotten, and left alone should it come back.
func (p *pass) missing(gone []Hold) []Hold {
	if len(gone) == 0 {
		return nil
	}
	names := make([]string, 0, len(gone))
	for _, h := range gone {
		names = append(names, h.Broker)
	}
	if p.approved("", "") {
		for _, name := range names {
			delete(p.next.Record.Brokers, name)
			delete(p.next.Note.Cuts, name)
			delete(p.next.Note.Leaving, name)
			p.next.Record.Placed = slices.DeleteFunc(p.next.Record.Placed, func(n string) bool { return n == name })
		}
		return nil
	}
	p.d.Approval.Proof = fmt.Sprintf("%s left the spec and has no master; it is forgotten with what is unread there, and left alone if it comes back",
		strings.Join(names, ", "))
	return gone
}

// leave takes the topic from brokers that left the spec: after the late window,
// with reads open all the while, and after a fresh proof. Routes outlive a
// deletion, and no call takes away one broker's part of them (rocketmq.md 3.6),
// so the broker is first hidden by its permission: what is left in routes then
// leads no client anywhere (rule R14, case O35).
func (p *pass) leave(d drainage) bool {
	var holds []Hold
	bases := map[string]Leaving{}
	hide := Step{Kind: StepSetPermission, NotAfter: p.look.Started.Add(p.t.CutLookAge)}
	s := Step{Kind: StepDeleteFromBroker, NotAfter: hide.NotAfter}
	for _, b := range p.with(leaving, func(b *broker) bool { return b.shown.Present }) {
		l := p.next.Note.Leaving[b.name]
		if !p.skip.leaveWindow && (l.End.IsZero() || p.look.Started.Before(l.End)) {
			holds = append(holds, Hold{Reason: ReasonLateWindow, Broker: b.name, Queue: NoQueue, Until: l.End})
			p.d.Remaining = max(p.d.Remaining, l.End.Sub(p.now))
		}
		if !hidden(b.shown.Perm) && !p.skip.hide {
			want := b.shown
			want.Perm = permHidden
			hide.Changes = append(hide.Changes, b.change(want))
			l.Base = b.ends()
			bases[b.name] = l
		}
		s.Changes = append(s.Changes, BrokerChange{Broker: b.name, Expect: b.shown, Process: b.process})
	}
	if p.hold(StageClosingBroker, holds...) {
		p.d.LookAgain = p.t.WatchEvery
		return true
	}
	proof := fmt.Sprintf("the topic is deleted from %s: drained, late window over; %s that can be read again now are deleted with it",
		brokers(len(s.Changes)), exactly(p.d.Proof.History))
	if !p.mayCut(StageClosingBroker, StepDeleteFromBroker, proof) || !p.provenAgain() {
		return true
	}
	p.giveUp(d.givenUp)
	if len(hide.Changes) > 0 {
		maps.Copy(p.next.Note.Leaving, bases)
		return p.step(StageClosingBroker, hide)
	}
	return p.step(StageClosingBroker, s)
}

// ends are the ends of the broker's readable queues, from queue 0 on.
func (b *broker) ends() []int64 {
	queues, _ := b.seen.Queues.Get()
	out := make([]int64, b.shown.Read)
	for queue := range out {
		out[queue] = queues[queue].Max
	}
	return out
}

// unhide opens leaving brokers to readers again where something arrived after
// they were hidden, sent by a producer with a queue list of its own.
func (p *pass) unhide(d drainage) bool {
	s := Step{Kind: StepSetPermission}
	for _, b := range p.with(leaving, func(b *broker) bool { return b.shown.Present && !b.shown.Perm.Readable() }) {
		if d.at[b.name] == 0 {
			continue
		}
		want := b.shown
		want.Perm = closed(b.shown.Perm)
		s.Changes = append(s.Changes, b.change(want))
	}
	return len(s.Changes) > 0 && p.step(StageClosingBroker, s)
}
