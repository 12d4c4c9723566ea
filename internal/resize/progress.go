// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"maps"
	"slices"
	"time"
)

// Progress is what is remembered of a change between two calls of [Plan].
type Progress struct {
	// Record can be seen again at some cost of time; it lives in status.
	Record Record
	// Note cannot be seen again; it is written elsewhere before the act it
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

// Restarted drops what only the old process lived through. Callers need it
// after a restore or a change of the BrokerCluster; a new process has no Lived
// to begin with.
func (p Progress) Restarted(at time.Time) Progress {
	p.Lived = Lived{Barrier: at}
	return p
}

// Record is the part of the progress that lives in status. It stays small: one
// entry per broker and nothing per queue or group.
type Record struct {
	// Generation is the spec's generation that was last planned for.
	Generation int64 `json:"generation,omitempty"`
	// Target is the number of queues the present change goes to.
	Target int `json:"target,omitempty"`
	// Stage and Since say where the change stands; Started when it began.
	Stage   Stage     `json:"stage,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Started time.Time `json:"started,omitzero"`
	// Brokers holds one entry per broker that takes part (at most 64).
	Brokers map[string]BrokerRecord `json:"brokers,omitempty"`
	// Placed are the brokers that the topic was declared on (at most 64), so
	// that one that leaves the spec is told from one that never was in it.
	Placed []string `json:"placed,omitempty"`
	// Reopened counts how often late messages opened reads again.
	Reopened int `json:"reopened,omitempty"`
	// GivenUp is what waivers gave up in this change (rule R20): the total,
	// and at most MaxOdd queues. The note has every queue.
	GivenUp      []GivenUp `json:"givenUp,omitempty"`
	GivenUpTotal int64     `json:"givenUpTotal,omitempty"`
}

// BrokerRecord is what is remembered of one broker in a change.
type BrokerRecord struct {
	// From is what the broker showed when the change began.
	From Shown `json:"from,omitzero"`
	// Last is the last read-back, Before the one before it, Sent what the last
	// step asked for; anything else is a foreign change (rule R18).
	Last   Shown `json:"last,omitzero"`
	Before Shown `json:"before,omitzero"`
	Sent   Shown `json:"sent,omitzero"`
	// Proven are retired ids [Low, High) that were drained, cut and watched to
	// the end by Lockstep; regrowing one seeds the present end (rule R12).
	ProvenLow  int `json:"provenLow,omitempty"`
	ProvenHigh int `json:"provenHigh,omitempty"`
}

// GivenUp is what a waiver gave up on one queue.
type GivenUp struct {
	Group    string `json:"group"`
	Broker   string `json:"broker"`
	Queue    int    `json:"queue"`
	Messages int64  `json:"messages"`
}

// Note is the part of the progress that cannot be observed again.
type Note struct {
	// Cuts are by broker: queues whose reads were, or were about to be, cut.
	Cuts map[string]Cut `json:"cuts,omitempty"`
	// Leaving are brokers that the topic is being taken from, by name.
	Leaving map[string]Leaving `json:"leaving,omitempty"`
	// GivenUp is every queue that a waiver gave up in this change.
	GivenUp []GivenUp `json:"givenUp,omitempty"`
}

// Empty reports whether there is nothing to keep.
func (n Note) Empty() bool {
	return len(n.Cuts) == 0 && len(n.Leaving) == 0 && len(n.GivenUp) == 0
}

// openCuts are the brokers whose late window is not over.
func (n Note) openCuts() []string {
	var out []string
	for name, c := range n.Cuts {
		if !c.Over {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Cut is one broker's retired queues [To, From).
type Cut struct {
	To   int `json:"to"`
	From int `json:"from"`
	// Base are the queues' ends before the cut, from queue To on (rule R11).
	Base []int64 `json:"base"`
	// Closed is when the last narrowing of reads was read back, End when the
	// late window is over, Keep when retention is. They are zero until then.
	Closed time.Time `json:"closed,omitzero"`
	End    time.Time `json:"end,omitzero"`
	Keep   time.Time `json:"keep,omitzero"`
	// Over says that the late window ended with everything proven read.
	Over bool `json:"over,omitempty"`
}

// base is the end of the queue before the cut; false when it was not noted.
func (c Cut) base(queue int) (int64, bool) {
	i := queue - c.To
	if i < 0 || i >= len(c.Base) {
		return 0, false
	}
	return c.Base[i], true
}

// Leaving is a broker that was closed to writers for removal.
type Leaving struct {
	// Closed is when all routes were seen to be closed, End when the late
	// window is over.
	Closed time.Time `json:"closed,omitzero"`
	End    time.Time `json:"end,omitzero"`
	// Base are the queues' ends, from queue 0 on, before the broker was hidden
	// from readers: who keeps no entry there has read as far as that.
	Base []int64 `json:"base,omitempty"`
}

func (r Record) clone() Record {
	r.Brokers = maps.Clone(r.Brokers)
	r.Placed = slices.Clone(r.Placed)
	r.GivenUp = slices.Clone(r.GivenUp)
	return r
}

func (n Note) clone() Note {
	n.Cuts = maps.Clone(n.Cuts)
	n.Leaving = maps.Clone(n.Leaving)
	n.GivenUp = slices.Clone(n.GivenUp)
	return n
}
