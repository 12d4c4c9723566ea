// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"time"
)

// narrowWrites begins a shrink: writes go down everywhere, reads stay, so
// nothing stops being readable.
func (p *pass) narrowWrites() bool {
	wide := p.with(declared, func(b *broker) bool { return b.shown.Present && b.shown.Write > p.spec.Queues })
	if len(wide) == 0 {
		return false
	}
	if !p.mayShrink(StageNarrowingWrites) || !p.mayCut(StageNarrowingWrites, StepNarrowWrites, p.writeProof(wide)) {
		return true
	}
	s := Step{Kind: StepNarrowWrites}
	for _, b := range wide {
		want := b.shown
		want.Write = p.spec.Queues
		s.Changes = append(s.Changes, b.change(want))
	}
	return p.step(StageNarrowingWrites, s)
}

func (p *pass) writeProof(wide []*broker) string {
	return fmt.Sprintf("writes go to %d queues on %s; reads stay until everything is drained, so nothing is taken from readers",
		p.spec.Queues, brokers(len(wide)))
}

// widenReads begins a growth: seeds first, for nobody owns the new queues yet.
func (p *pass) widenReads() bool {
	var needs []span
	s := Step{Kind: StepWidenReads}
	for _, b := range p.with(declared, func(b *broker) bool { return b.shown.Present && b.shown.Read < p.spec.Queues }) {
		needs = append(needs, span{b, b.shown.Read, p.spec.Queues})
		want := b.shown
		want.Read = p.spec.Queues
		s.Changes = append(s.Changes, b.change(want))
	}
	if len(needs) == 0 {
		return false
	}
	if !p.mayMove(StageWideningReads) || p.seed(StageWideningReads, needs) {
		return true
	}
	return p.step(StageWideningReads, s)
}

// widenWrites ends a growth. Queues that were writable when this change began
// and were never cut are a turn-round: they are widened at once. Others wait
// for the routes, for every known group's entry, and for a bounded time for
// readers to own them (rule R13).
func (p *pass) widenWrites() bool {
	narrow := p.with(declared, func(b *broker) bool { return b.shown.Present && b.shown.Write < p.spec.Queues })
	if len(narrow) == 0 {
		return false
	}
	if !p.mayMove(StageWideningWrites) {
		return true
	}
	var needs []span
	s := Step{Kind: StepWidenWrites}
	for _, b := range narrow {
		if !p.turnRound(b) {
			needs = append(needs, span{b, b.shown.Write, p.spec.Queues})
		}
		want := b.shown
		want.Write = p.spec.Queues
		s.Changes = append(s.Changes, b.change(want))
	}
	if len(needs) > 0 && (p.seed(StageWideningWrites, needs) || p.awaitReaders(StageAwaitingReaders)) {
		return true
	}
	return p.step(StageWideningWrites, s)
}

func (p *pass) turnRound(b *broker) bool {
	_, cut := p.next.Note.Cuts[b.name]
	return !cut && p.prev.Record.Stage != StageSteady && p.next.Record.Brokers[b.name].From.Write >= p.spec.Queues
}

// persisted is longer than brokers take to write positions down: every 5 s
// (flushConsumerOffsetInterval, rocketmq.md 9.4). Younger ones are gone after a
// crash of the broker's process.
const persisted = 10 * time.Second

// awaitReaders waits until all routes show the new reads and, while any group
// is online, the bounded time in which its members take them. Nobody but the
// broker knows the positions that absent groups were given, so writes also wait
// until these would survive its crash (rule R12).
func (p *pass) awaitReaders(stage Stage) bool {
	if holds := p.routeHolds(); len(holds) > 0 {
		return p.hold(stage, holds...)
	}
	l := &p.next.Lived
	of := p.processes()
	for _, b := range p.brokers {
		of += fmt.Sprint(b.shown)
	}
	l.readers = l.readers.saw(p.look, of, p.t.MaxGap)
	groups, unknown := p.readers()
	if unknown != nil {
		return p.hold(stage, *unknown)
	}
	need, what := time.Duration(0), ""
	for _, g := range groups {
		switch {
		case !g.absent:
			need, what = p.t.Rebalance, "readers are given %s to take them"
		case need == 0:
			need, what = min(p.t.Rebalance, persisted), "brokers are given %s to write down the positions of groups without members"
		}
	}
	left := need - l.readers.span()
	if left <= 0 || p.skip.readers {
		return false
	}
	p.d.Remaining = left
	return p.hold(stage, Hold{Reason: ReasonReaders, Queue: NoQueue, Wait: left,
		Why: "the new queues are readable and seeded; " + fmt.Sprintf(what, roughly(need))})
}

func brokers(n int) string {
	if n == 1 {
		return "1 broker"
	}
	return fmt.Sprintf("%d brokers", n)
}
