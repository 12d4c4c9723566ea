// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Tick lets time pass. Producers that refresh do so when they must; late
// messages land when they are due; running brokers dispatch what they store.
func (w *World) Tick(d time.Duration) {
	w.Now = w.Now.Add(d)
	for i := range w.Brokers {
		b := &w.Brokers[i]
		if !b.Up {
			continue
		}
		kept := b.Late[:0:0]
		for _, l := range b.Late {
			if l.Due.After(w.Now) {
				kept = append(kept, l)
				continue
			}
			w.land(i, l.Queue, false)
		}
		b.Late = kept
		w.revive(i)
	}
	w.SeeLarger()
	for i := range w.Producers {
		if p := &w.Producers[i]; !p.Fixed && w.Now.Sub(p.Since) >= w.RouteAge {
			w.refreshAny(i)
		}
	}
}

// land stores a message; undispatched keeps it out of the visible end.
func (w *World) land(broker, queue int, undispatched bool) {
	q := &w.Brokers[broker].Queues[queue]
	if !w.Brokers[broker].Present {
		for g := range w.Groups {
			if w.owed(g, Message{}) {
				w.lose(g, broker, queue, len(q.Messages), "came after the topic was deleted")
			}
		}
		return
	}
	q.Messages = append(q.Messages, Message{Landed: w.Now})
	if !undispatched {
		q.Shown = len(q.Messages)
	}
}

// revive gives messages that were popped and not finished in time to the retry
// topic of their group, as the broker does by itself: from then on they do not
// depend on their queue (rocketmq.md 4.4).
func (w *World) revive(broker int) {
	for q := range w.Brokers[broker].Queues {
		for at := range w.Brokers[broker].Queues[q].Messages {
			m := &w.Brokers[broker].Queues[q].Messages[at]
			if m.Out != 0 && w.Now.Sub(m.Taken) >= w.Invisible {
				m.Read, m.Out = m.Read|m.Out, 0
			}
		}
	}
}

// Accepts reports whether a broker takes a send to a queue id: any id below
// the larger of its counts (rocketmq.md 4.1).
func (w *World) Accepts(broker, queue int) bool {
	b := &w.Brokers[broker]
	return b.Up && b.Present && queue < max(b.Read, b.Write)
}

// Send sends to a queue that the producer's view has, if the broker takes it.
func (w *World) Send(producer, broker, queue int, undispatched bool) bool {
	if queue >= w.Producers[producer].View[broker] || !w.Accepts(broker, queue) {
		return false
	}
	w.land(broker, queue, undispatched)
	return true
}

// SendLate sends a message that lands after the longest delay.
func (w *World) SendLate(producer, broker, queue int, hidden bool) bool {
	if queue >= w.Producers[producer].View[broker] || !w.Accepts(broker, queue) {
		return false
	}
	b := &w.Brokers[broker]
	b.Late = append(b.Late, Late{Queue: queue, Since: w.Now, Due: w.Now.Add(w.LongestDelay), Hidden: hidden})
	return true
}

// Dispatch makes everything stored on a broker visible.
func (w *World) Dispatch(broker int) {
	b := &w.Brokers[broker]
	if b.Up {
		for q := range b.Queues {
			b.Queues[q].Shown = len(b.Queues[q].Messages)
		}
	}
}

// Refresh gives a producer the route of a name server, if it answers.
func (w *World) Refresh(producer, server int) {
	p := &w.Producers[producer]
	n := &w.NameServers[server]
	if p.Fixed || !n.Up {
		return
	}
	p.From, p.Since = server, w.Now
	for i, r := range n.Routes {
		p.View[i] = 0
		if r.Present && r.Perm.Writable() {
			p.View[i] = r.Write
		}
	}
}

// refreshAny asks name servers in turn, the producer's own first.
func (w *World) refreshAny(producer int) {
	from := w.Producers[producer].From
	for i := range w.NameServers {
		if s := (from + i) % len(w.NameServers); w.NameServers[s].Up {
			w.Refresh(producer, s)
			return
		}
	}
}

// Register tells a name server what a broker has, as the periodic
// registration does.
func (w *World) Register(broker, server int) {
	if b := &w.Brokers[broker]; b.Up && w.NameServers[server].Up {
		w.NameServers[server].Routes[broker] = b.Counts
	}
}

// Write stores a config on a broker and registers it at every name server
// that answers (rocketmq.md 3.4).
func (w *World) Write(broker int, c Counts) {
	b := &w.Brokers[broker]
	if !b.Up {
		return
	}
	b.Before, b.Counts = b.Counts, c
	w.settleForeign(broker)
	if !c.Present {
		for q := range b.Queues {
			for at, m := range b.Queues[q].Messages {
				for g := range w.Groups {
					if w.owed(g, m) {
						w.lose(g, broker, q, at, "was deleted with the topic")
					}
				}
			}
			b.Queues[q] = Queue{}
		}
	}
	for s := range w.NameServers {
		w.Register(broker, s)
	}
	w.SeeLarger()
}

// Meddle is a write by somebody else, who may break the invariant.
func (w *World) Meddle(broker int, c Counts) {
	b := &w.Brokers[broker]
	if !b.Up || !b.Present {
		return
	}
	for q := c.Read; q < b.Read; q++ {
		b.Queues[q].Foreign = true
	}
	b.Foreign = true
	w.Write(broker, c)
}

// settleForeign ends what somebody else is to blame for.
func (w *World) settleForeign(broker int) {
	b := &w.Brokers[broker]
	b.Foreign = b.Foreign && b.Read < b.Write
	for q := range b.Queues {
		b.Queues[q].Foreign = b.Queues[q].Foreign && q >= b.Read
	}
}

// Stop stops a broker; its clients cannot reach it.
func (w *World) Stop(broker int) { w.Brokers[broker].Up = false }

// Start starts a broker as a new process. With forgetful its last config write
// was not on disk yet.
func (w *World) Start(broker int, forgetful bool) {
	b := &w.Brokers[broker]
	if b.Up {
		return
	}
	b.Up, b.Booted = true, w.Now
	if forgetful && b.Before.Present {
		for q := b.Before.Read; q < b.Read; q++ {
			b.Queues[q].Foreign = true // the broker lost a write that it had answered
		}
		b.Counts = b.Before
		b.Foreign = b.Read < b.Write
		w.settleForeign(broker)
	}
	w.Dispatch(broker)
	w.SeeLarger()
	for s := range w.NameServers {
		w.Register(broker, s)
	}
}

// Rebalance makes an online member own what the first reachable name server
// says is readable. A queue without an entry starts at its end.
func (w *World) Rebalance(group int) {
	g := &w.Groups[group]
	if !g.Online {
		return
	}
	for _, n := range w.NameServers {
		if !n.Up {
			continue
		}
		for i, r := range n.Routes {
			for q := range g.Local[i] {
				owned := r.Present && r.Perm&snapshot.PermRead != 0 && q < r.Read
				switch {
				case !owned:
					g.Local[i][q] = None
				case g.Local[i][q] != None || !w.Brokers[i].Up:
				case g.Committed[i][q] > w.Brokers[i].Queues[q].Shown:
					// Beyond the end it jumps to the end (rocketmq.md 4.3).
					g.Local[i][q] = w.Brokers[i].Queues[q].Shown
					w.skipped(group, i, q, 0, g.Local[i][q])
				case g.Committed[i][q] != None:
					g.Local[i][q] = g.Committed[i][q]
				default:
					g.Local[i][q] = w.Brokers[i].Queues[q].Shown
					w.skipped(group, i, q, 0, g.Local[i][q])
				}
			}
		}
		return
	}
}

// Consume finishes everything readable on the queues the member owns. A POP
// member is only handed it: the committed offset moves at once (rocketmq.md
// 4.5), and it finishes when it commits.
func (w *World) Consume(group int) {
	g := &w.Groups[group]
	for i := range w.Brokers {
		b := &w.Brokers[i]
		for q := range b.Queues {
			if !g.Online || !b.Up || g.Local[i][q] == None || q >= b.Read || !b.Perm.Readable() {
				continue
			}
			for at := g.Local[i][q]; at < b.Queues[q].Shown; at++ {
				if m := &b.Queues[q].Messages[at]; g.Kind == POP {
					m.Out, m.Taken = m.Out|1<<group, w.Now
				} else {
					m.Read |= 1 << group
				}
			}
			g.Local[i][q] = max(g.Local[i][q], b.Queues[q].Shown)
			if g.Kind == POP {
				g.Committed[i][q] = g.Local[i][q]
			}
		}
	}
}

// Commit tells brokers the member's own positions, over whatever was there. A
// POP member acknowledges what it was handed.
func (w *World) Commit(group int) {
	g := &w.Groups[group]
	if g.Kind == POP {
		w.acknowledge(group)
		return
	}
	for i := range g.Local {
		for q, at := range g.Local[i] {
			if at != None && w.Brokers[i].Up && g.Kind != Broadcast {
				g.Committed[i][q] = at
			}
		}
	}
}

func (w *World) acknowledge(group int) {
	for i := range w.Brokers {
		for q := range w.Brokers[i].Queues {
			for at := range w.Brokers[i].Queues[q].Messages {
				m := &w.Brokers[i].Queues[q].Messages[at]
				if bit := uint16(1) << group; m.Out&bit != 0 && w.Groups[group].Online && w.Brokers[i].Up {
					m.Read, m.Out = m.Read|bit, m.Out&^bit
				}
			}
		}
	}
}

// Leave takes the member offline; Join brings it back.
func (w *World) Leave(group int) {
	g := &w.Groups[group]
	g.Online = false
	for i := range g.Local {
		for q := range g.Local[i] {
			g.Local[i][q] = None
		}
	}
}

// Join brings the member back.
func (w *World) Join(group int) {
	w.Groups[group].Online = true
	w.Rebalance(group)
}

// StopServer stops a name server; StartServer starts it again, knowing nothing.
func (w *World) StopServer(server int) { w.NameServers[server].Up = false }

// StartServer starts a name server that knows nothing until brokers register.
func (w *World) StartServer(server int) {
	n := &w.NameServers[server]
	if !n.Up {
		n.Up = true
		n.Routes = make([]Counts, len(w.Brokers))
	}
}

// SetOffset commits an offset from outside.
func (w *World) SetOffset(group string, broker, queue, offset int) {
	for i := range w.Groups {
		if w.Groups[i].Name == group && w.Brokers[broker].Up {
			w.Groups[i].Committed[broker][queue] = offset
		}
	}
}
