// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"
)

// clear counts the looks that saw nothing pending, far enough apart (rule
// R15). They count from when old routes have aged, for until then a producer
// may still stamp a message with a retiring id without moving its queue.
func (p *pass) clear(l *Lived) {
	if p.aged() <= 0 {
		l.clears = 0
		return
	}
	if l.marks == nil {
		p.mark(l)
	}
	switch {
	case len(p.pending()) > 0:
		l.clears = 0
	case l.clears == 0:
		l.clears, l.lastOf = 1, p.look.Finished
	case p.look.Started.Sub(l.lastOf) >= p.t.Apart:
		l.clears, l.lastOf = l.clears+1, p.look.Finished
	}
}

// mark notes how far the schedule of each delay level reaches once old routes
// have aged. All topics of a broker share it, so it may never be level; but
// whatever was stamped with a retiring id lies before the mark.
func (p *pass) mark(l *Lived) {
	marks := map[string]map[int]int64{}
	for _, b := range p.brokers {
		seen, known := b.seen.Pending.Get()
		if b.role == undeclared || !b.shown.Present {
			continue
		}
		if !known {
			return
		}
		marks[b.name] = map[int]int64{}
		for level, progress := range seen.Delay {
			marks[b.name][level] = progress.Max
		}
	}
	l.marks = marks
}

// pending says what is still seen that may land on retiring queues. A promise
// of the longest delay, lived through since old routes aged, stands in for
// what cannot be seen or never ends; nothing here shortens the watch.
func (p *pass) pending() []Hold {
	if p.skip.pending {
		return nil
	}
	outlived := p.spec.LongestDelay > 0 && p.aged() > p.spec.LongestDelay
	var holds []Hold
	for _, b := range p.brokers {
		if b.role == undeclared || !b.shown.Present || outlived {
			continue
		}
		at := func(r Reason, n int64, why string) {
			holds = append(holds, Hold{Reason: r, Broker: b.name, Queue: NoQueue, Count: n, Why: why})
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
		case settings.TimerOutsideWheel || settings.TransOutsideTopic:
			at(ReasonPendingNotVisible, 0, "keeps timers or half messages where they cannot be counted (timerRocksDBEnable, transRocksDBEnable); set spec.resize.longestDelaySeconds to wait them out instead")
			continue
		}
		for _, level := range slices.Sorted(maps.Keys(seen.Delay)) {
			progress := seen.Delay[level]
			end := progress.Max
			if mark, noted := p.next.Lived.marks[b.name][level]; noted {
				end = min(end, mark)
			}
			if left := end - progress.Delivered; left > 0 {
				at(ReasonLatePending, left, fmt.Sprintf("%s delayed at level %d are not delivered yet", exactly(left), level))
			}
		}
		if seen.TimersBehind > 0 {
			at(ReasonLatePending, seen.TimersBehind, "the timer wheel is behind in reading")
		}
		if seen.Timers > 0 {
			at(ReasonLatePending, seen.Timers, fmt.Sprintf("%s of the topic wait in the timer wheel", exactly(seen.Timers)))
		}
		if seen.Halves > 0 {
			at(ReasonLatePending, seen.Halves, fmt.Sprintf("%s are half committed", exactly(seen.Halves)))
		}
	}
	return holds
}
