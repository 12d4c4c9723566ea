// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"time"
)

// Check says what is wrong with the world now: the invariant of counts, and a
// message that a group is owed and that is neither on a readable queue nor on
// a watched one, or that the group has passed by. Empty when all is well.
func (w *World) Check(watched func(broker string, queue int) bool) string {
	if w.Lost != "" {
		return w.Lost
	}
	for i := range w.Brokers {
		b := &w.Brokers[i]
		if b.Present && (b.Write < 1 || b.Read < b.Write) && !b.Foreign {
			return fmt.Sprintf("%s has read %d, write %d", b.Name, b.Read, b.Write)
		}
		for q := range b.Queues {
			for at, m := range b.Queues[q].Messages {
				for g := range w.Groups {
					if !w.owed(g, m) {
						continue
					}
					if next := w.position(g, i, q); next != None && at < next && m.Out&(1<<g) == 0 {
						w.lose(g, i, q, at, "was passed by")
						return w.Lost
					}
					if q >= b.Read && !b.Queues[q].Foreign && !watched(b.Name, q) {
						w.lose(g, i, q, at, "lies where nobody reads or watches")
						return w.Lost
					}
				}
			}
		}
	}
	return ""
}

// Unreadable says which message that a group is owed lies where nobody can read
// it, whoever is to blame. Empty when none does.
func (w *World) Unreadable() string {
	for i := range w.Brokers {
		b := &w.Brokers[i]
		for q := b.Read; q < len(b.Queues); q++ {
			for at, m := range b.Queues[q].Messages {
				for g := range w.Groups {
					if w.owed(g, m) {
						return fmt.Sprintf("message %d of %s/%d is still unread by %s", at, b.Name, q, w.Groups[g].Name)
					}
				}
			}
		}
	}
	return ""
}

// owed reports whether the group still has to get the message. Groups that
// were given up, and broadcast groups, whose offsets no broker has, are judged
// at the cut only.
func (w *World) owed(group int, m Message) bool {
	g := &w.Groups[group]
	return !g.GivenUp && g.Kind != Broadcast && m.Read&(1<<group) == 0
}

// position is from where the group goes on; None when nothing says.
func (w *World) position(group, broker, queue int) int {
	g := &w.Groups[group]
	if at := g.Local[broker][queue]; at != None {
		return at
	}
	return g.Committed[broker][queue]
}

func (w *World) skipped(group, broker, queue, from, to int) {
	for at := from; at < to; at++ {
		if w.Groups[group].Kind == Broadcast { // it begins with what comes after it
			w.Brokers[broker].Queues[queue].Messages[at].Read |= 1 << group
		}
		if w.owed(group, w.Brokers[broker].Queues[queue].Messages[at]) {
			w.lose(group, broker, queue, at, "was skipped: the group had no entry and started at the end")
		}
	}
}

func (w *World) lose(group, broker, queue, at int, how string) {
	if w.Lost == "" {
		w.Lost = fmt.Sprintf("message %d of %s/%d for %s %s", at, w.Brokers[broker].Name, queue, w.Groups[group].Name, how)
	}
}

// SeeLarger notes when a broker or a route shows more than the target.
func (w *World) SeeLarger() {
	for i := range w.Brokers {
		target := w.Target
		if w.Brokers[i].Leaves {
			target = 0
		}
		larger := w.Brokers[i].writable() > target
		for _, n := range w.NameServers {
			larger = larger || n.Up && n.Routes[i].writable() > target
		}
		if larger {
			w.Brokers[i].Larger = w.Now
		}
	}
}

// writable is the number of queues that producers see.
func (c Counts) writable() int {
	if !c.Present || !c.Perm.Writable() {
		return 0
	}
	return c.Write
}

// Cut says what must have been proven before a broker loses queues.
type Cut struct {
	// Age is how old the proof may be when the cut arrives.
	Age time.Duration
	// Asked is when the look behind the cut asked for the ends of queues: all
	// that landed before must have been seen.
	Asked time.Time
	// Larger is what Broker.Larger was at that moment.
	Larger time.Time
	// RouteAge and Still are the windows it must have seen.
	RouteAge, Still time.Duration
}

// CheckCut says which proof was missing for a narrowing of reads to the given
// number on one broker, judged by what really happened. Empty when none was.
func (w *World) CheckCut(broker, to int, c Cut) string {
	b := &w.Brokers[broker]
	proven := w.Now.Add(-c.Age)
	missing := func(what string) string {
		return fmt.Sprintf("reads of %s cut from %d to %d although %s", b.Name, b.Read, to, what)
	}
	if to > 0 && b.Write > to { // 0 is a deletion, after the broker was closed to writers
		return missing("writes are wider")
	}
	if c.Asked.Sub(c.Larger) < c.RouteAge {
		return missing("old routes may still be used")
	}
	if w.Now.Sub(b.Booted) < c.RouteAge+c.Still {
		return missing("the broker was restarted within the windows")
	}
	for q := to; q < b.Read; q++ {
		for at, m := range b.Queues[q].Messages {
			if !m.Landed.Before(proven) && !m.Landed.Before(c.Asked) {
				continue // landed after the proof: the watch has to find it
			}
			if m.Landed.After(w.Now.Add(-c.Still)) && m.Landed.Before(proven) {
				return missing(fmt.Sprintf("queue %d had not stood still", q))
			}
			for g := range w.Groups {
				if w.unread(g, broker, q, at, m) {
					return missing(fmt.Sprintf("message %d of queue %d is unread by %s", at, q, w.Groups[g].Name))
				}
			}
		}
	}
	for _, l := range b.Late {
		if l.Queue >= to && !l.Hidden && l.Since.Before(proven) && c.Asked.Sub(c.Larger) <= w.LongestDelay {
			return missing(fmt.Sprintf("a message for queue %d was seen pending", l.Queue))
		}
	}
	return ""
}

// unread is owed, as judged at a cut: a waived group counts when it is online,
// a broadcast group while it is.
func (w *World) unread(group, broker, queue, at int, m Message) bool {
	g := &w.Groups[group]
	switch {
	case g.Kind == Broadcast:
		// One that came back after the broker was hidden could not be asked.
		return g.Online && g.Local[broker][queue] <= at && m.Read&(1<<group) == 0 && w.Brokers[broker].Perm.Readable()
	case g.GivenUp && !g.Online:
		return false
	}
	return m.Read&(1<<group) == 0
}
