// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"maps"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Progress is what is remembered of a change between two calls of [Plan].
type Progress struct {
	// Record can be seen again or is for people; it lives in status.
	Record Record
	// Note cannot be seen again; it is written outside status before the step it
	// belongs to (rule K10).
	Note Note
	// Lived was seen by the running process and dies with it (rule R05).
	Lived Lived
}

// Acted says that the step of the decision, read-back included, was over at
// the given time, whatever came of it: proofs now need a look begun after it.
func (p Progress) Acted(at time.Time) Progress {
	p.Lived.Barrier = at
	return p
}

// Restarted drops what only the old process lived through.
func (p Progress) Restarted(at time.Time) Progress {
	p.Lived = Lived{Barrier: at}
	return p
}

// Outcome is how the last change ended.
type Outcome string

// Outcomes.
const (
	// Done: all members have the target.
	Done Outcome = "Done"
	// RolledBack: all members are on the subscription they had before (rule R34).
	RolledBack Outcome = "RolledBack"
	// NotStarted: no pod changed within the start timeout.
	NotStarted Outcome = "NotStarted"
	// Elsewhere: all members agree on neither the target nor what they had.
	Elsewhere Outcome = "Elsewhere"
	// Lifted: a fence was lifted, or a rewind dropped, while members were mixed,
	// by the user's choice; what was skipped is lost.
	Lifted Outcome = "Lifted"
	// Abandoned: the object was deleted in the middle.
	Abandoned Outcome = "Abandoned"
)

// Record is the part of the progress that lives in status.
type Record struct {
	// Stage and Since say where the change stands.
	Stage Stage     `json:"stage,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Outcome is how the last change ended, Hash its target, Redelivered about
	// how many messages were set back.
	Outcome     Outcome `json:"outcome,omitempty"`
	Hash        string  `json:"hash,omitempty"`
	Redelivered int64   `json:"redelivered,omitempty"`
	// Rest is the hash of what members were last seen to agree on at rest, so
	// that a change that no operator saw is noticed (rule R30).
	Rest string `json:"rest,omitempty"`
	// Unproven is when members were first seen to differ without an offset to
	// set back to; it stays until a person accepts what may be lost (rule R30).
	Unproven time.Time `json:"unproven,omitzero"`
	// Lifted is when the last fence of ours was seen lifted everywhere: a broker
	// that was started since and shows it again forgot its last config, and only
	// that is not a foreign fence (rule R37).
	Lifted time.Time `json:"lifted,omitzero"`
}

// Note is the part of the progress that cannot be observed again. A change is
// open while Agreed is set.
type Note struct {
	// Agreed are the offsets of the last look in which all members agreed before
	// any other filter was seen (rule R30), Previous what they agreed on.
	Agreed   *Offsets `json:"agreed,omitempty"`
	Previous Set      `json:"previous,omitempty"`
	// Target is what the change goes to, Started since when.
	Target  Set       `json:"target,omitempty"`
	Started time.Time `json:"started,omitzero"`
	// Other says that a member with another filter was seen, or could not be
	// excluded, while the group was not fenced.
	Other bool `json:"other,omitempty"`
	// Moved says that a pod or member that is not as before was seen.
	Moved bool `json:"moved,omitempty"`
	// Fence is set from before the first disable until all replicas are enabled.
	Fence *FenceNote `json:"fence,omitempty"`
	// Ending is how the change ends, once that is decided: what follows is to
	// set back, to enable and to see the group move.
	Ending Outcome `json:"ending,omitempty"`
	// Resets counts resets by time, which go further back each time.
	Resets int `json:"resets,omitempty"`
}

// FenceNote is a fence of ours. Whoever finds it without an operator lifts it
// by consumeEnable=true on each broker named.
type FenceNote struct {
	Since   time.Time `json:"since"`
	Brokers []string  `json:"brokers"`
	// Proven says that it was seen closed on every replica, with offsets still.
	Proven bool `json:"proven,omitempty"`
	// Short says that it is only for setting back.
	Short bool `json:"short,omitempty"`
	// Lifting is set before the first enable.
	Lifting bool `json:"lifting,omitempty"`
	// Final is what all members agreed on when lifting began.
	Final Set `json:"final,omitempty"`
}

// Offsets are committed offsets at a moment.
type Offsets struct {
	// At is when the first of them was asked for.
	At time.Time `json:"at"`
	// Queues are by broker, topic and queue id.
	Queues map[string]map[string]map[int]int64 `json:"queues"`
	// Consumed is, by broker and topic, the store time of the last message
	// consumed on the queue that was furthest behind; absent where none was.
	Consumed map[string]map[string]time.Time `json:"consumed,omitempty"`
}

// Open reports whether a change or a fence is open: a finalizer is held (rule
// R23), and no topic of the group is resized (rule R16).
func (n Note) Open() bool { return n.Agreed != nil || n.Fence != nil }

func (n Note) clone() Note {
	if n.Fence != nil {
		f := *n.Fence
		n.Fence = &f
	}
	return n // offsets and sets are replaced, never changed
}

// lower is per queue the smaller of two (rule R33); what only one has is kept.
func (o *Offsets) lower(p *Offsets) *Offsets {
	out := &Offsets{At: o.At, Queues: map[string]map[string]map[int]int64{}, Consumed: maps.Clone(o.Consumed)}
	if p.At.Before(out.At) {
		out.At, out.Consumed = p.At, maps.Clone(p.Consumed)
	}
	for _, from := range []*Offsets{o, p} {
		for broker, topics := range from.Queues {
			if out.Queues[broker] == nil {
				out.Queues[broker] = map[string]map[int]int64{}
			}
			for topic, queues := range topics {
				if out.Queues[broker][topic] == nil {
					out.Queues[broker][topic] = map[int]int64{}
				}
				for q, at := range queues {
					if have, ok := out.Queues[broker][topic][q]; !ok || at < have {
						out.Queues[broker][topic][q] = at
					}
				}
			}
		}
	}
	return out
}

// Lived is what the running process saw itself. It is never persisted.
type Lived struct {
	// Barrier is when the last step was over; looks begun before prove nothing.
	Barrier time.Time

	seq    uint64
	seen   time.Time
	at     time.Time
	fresh  time.Time // when a fresh look was asked for
	agreed *Offsets  // of the last look in which all agreed
	set    Set       // what they agreed on
	still  stillness
	reset  time.Time // when the last reset was sent
	lifted time.Time // since when all replicas are enabled
	base   *Offsets  // the offsets then
}

// stillness is how long the fence was seen closed with the same offsets, by
// the same processes.
type stillness struct {
	of               string
	since, last, end time.Time
}

func (s stillness) saw(look snapshot.GroupLook, of string, gap time.Duration) stillness {
	if s.since.IsZero() || s.of != of || look.Started.Sub(s.end) > gap || look.Started.Before(s.last) {
		return stillness{of: of, since: look.Finished, last: look.Finished, end: look.Finished}
	}
	s.last, s.end = look.Started, look.Finished
	return s
}

func (s stillness) span() time.Duration { return max(0, s.last.Sub(s.since)) }
