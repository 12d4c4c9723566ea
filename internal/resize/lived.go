// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Lived is what the running process saw itself. It is never persisted: after a
// start, a restore or a clock jump every window begins again (rule R05). Plan
// returns a new value and leaves the old one as it was.
type Lived struct {
	// Barrier is when the last step was over; looks begun before prove nothing.
	Barrier time.Time

	seq      uint64    // the last look that was planned from
	seen     time.Time // when that look finished
	at       time.Time // the last now
	settled  window    // target shown by all brokers and name servers
	readers  window    // widened reads shown by all name servers
	alike    window    // the same broker processes answered
	clears   int       // looks, far enough apart, that saw nothing pending
	lastOf   time.Time // when the last of these was
	still    map[QueueRef]stillness
	drained  map[string]window // POP groups that were drained, by group
	split    map[string]window // groups whose member lists differ, by group
	fresh    time.Time         // when a fresh look was asked for
	samples  []sample          // unread totals
	greatest int64             // the largest of them in this change
}

// window is a span of time in which every look of the running process showed
// the same thing. It is measured from the end of the first look to the start
// of the last, which is the part that was certainly inside (rule R01).
type window struct {
	since, last, end time.Time
	of               string
}

// saw continues the window by one look, or begins it again when the last look
// is too long ago or something else was looked at.
func (w window) saw(look snapshot.TopicLook, of string, gap time.Duration) window {
	if w.since.IsZero() || w.of != of || look.Started.Sub(w.end) > gap || look.Started.Before(w.last) {
		return window{since: look.Finished, last: look.Finished, end: look.Finished, of: of}
	}
	w.last, w.end = look.Started, look.Finished
	return w
}

// span is the time certainly lived through; zero for no window.
func (w window) span() time.Duration { return max(0, w.last.Sub(w.since)) }

// stillness is how long the end of one queue did not move, seen by one process.
type stillness struct {
	window
	max     int64
	process snapshot.Process
}

func (s stillness) saw(look snapshot.TopicLook, end int64, from snapshot.Process, gap time.Duration) stillness {
	if s.max != end || !s.process.Same(from) {
		s.window = window{}
	}
	return stillness{window: s.window.saw(look, "", gap), max: end, process: from}
}

// sample is an amount left to drain at a moment.
type sample struct {
	at   time.Time
	left int64
}

func (l Lived) clone() Lived {
	l.still = maps.Clone(l.still)
	l.drained = maps.Clone(l.drained)
	l.split = maps.Clone(l.split)
	l.samples = slices.Clone(l.samples)
	return l
}

// reset begins every window again and keeps the barrier.
func (l Lived) reset() Lived { return Lived{Barrier: l.Barrier} }
