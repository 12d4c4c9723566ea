// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// clearLooks is how many looks, far enough apart, must see nothing pending.
const clearLooks = 2

// clear counts the looks that saw nothing pending, far enough apart (rule
// R15). They count from when old routes have aged, for until then a producer
// may still stamp a message with a retiring id without moving its queue.
func (p *pass) clear(l *Lived) {
	if p.aged() <= 0 {
		l.clears = 0
		return
	}
	switch {
	case len(p.pending()) > 0:
		l.clears = 0
	case l.clears == 0:
		l.clears, l.lastOf = 1, p.look.Finished
	case p.look.Started.Sub(l.lastOf) >= p.t.Apart:
		l.clears, l.lastOf = min(l.clears+1, clearLooks), p.look.Finished
	}
}

// pending says what is still seen that may land on retiring queues. All topics
// of a broker share its delay levels and half messages, so they may never be
// empty; having lived through a whole late window since old routes aged stands
// in for that, and for what cannot be seen. Nothing here shortens the watch.
func (p *pass) pending() []Hold {
	if p.skip.pending {
		return nil
	}
	var holds []Hold
	for _, b := range p.brokers {
		if b.role == undeclared || !b.shown.Present {
			continue
		}
		at := func(r Reason, n int64, why string) {
			holds = append(holds, Hold{Reason: r, Broker: b.name, Queue: NoQueue, Count: n, Why: why})
		}
		wait := func(n int64, why string) {
			if n > 0 {
				at(ReasonLatePending, n, why)
				holds[len(holds)-1].Wait = p.lateWindow(b, b.settings()) - p.aged()
			}
		}
		seen, known := b.seen.Pending.Get()
		settings, set := b.seen.Settings.Get()
		origin := b.seen.Pending.Origin()
		switch {
		case !known:
			at(ReasonUnknown, 0, "late messages not known: "+b.seen.Pending.Why())
			continue
		case !set:
			at(ReasonUnknown, 0, "settings not known: "+b.seen.Settings.Why())
			continue
		case !p.skip.moments && (origin.Sent.Before(p.look.Started) || b.seen.Queues.Origin().Sent.Before(origin.Sent)):
			at(ReasonUnknown, 0, "late messages were not asked for in this look before the ends of queues")
			continue
		case !p.skip.process && !origin.From.Same(b.process):
			at(ReasonUnknown, 0, "another process than the one that gave the config told of late messages")
			continue
		case p.aged() > p.lateWindow(b, settings):
			continue
		case settings.TimerOutsideWheel || settings.TransOutsideTopic:
			at(ReasonPendingNotVisible, 0, "keeps timers or half messages where they cannot be counted (timerRocksDBEnable, transRocksDBEnable); they are waited out instead, at the latest for the longest delay")
			holds[len(holds)-1].Wait = p.lateWindow(b, settings) - p.aged()
			continue
		}
		from := p.spec.Queues // what is stamped with a queue that stays is no danger
		if b.role == leaving {
			from = 0
		}
		for _, level := range slices.Sorted(maps.Keys(seen.Delay)) {
			left := seen.Left(level, from)
			wait(left, fmt.Sprintf("%s delayed at level %d are not delivered yet", exactly(left), level))
		}
		wait(seen.TimersBehind, "the timer wheel is behind in reading")
		wait(seen.Timers, fmt.Sprintf("%s of the topic wait in the timer wheel", exactly(seen.Timers)))
		halves := seen.LeftHalves(from)
		wait(halves, fmt.Sprintf("%s are half committed", exactly(halves)))
	}
	return holds
}

// settings are the broker's own; zero while they are not known.
func (b *broker) settings() snapshot.Settings {
	s, _ := b.seen.Settings.Get()
	return s
}
