// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Topic is the name of the only topic of a world.
const Topic = "TOPIC_MODEL"

// None is an offset entry that does not exist.
const None = -1

// World is the whole state. It is copied by Clone and changed by its methods.
type World struct {
	Now         time.Time
	Brokers     []Broker
	NameServers []NameServer
	Groups      []Group
	Producers   []Producer
	// RouteAge is the longest time that a refreshing producer keeps a route.
	RouteAge time.Duration
	// Invisible is how long a member may keep a message that it popped.
	Invisible time.Duration
	// LongestDelay bounds how late a message may land after it was accepted.
	LongestDelay time.Duration
	// Target is the write count the explorer's operator goes to.
	Target int
	// Lost says what was lost, once something was.
	Lost string
}

// Counts is a topic config as far as it matters.
type Counts struct {
	Present     bool
	Read, Write int
	Perm        snapshot.Perm
}

// Broker is one master.
type Broker struct {
	Name   string
	Up     bool
	Booted time.Time
	Counts
	// Before is the config before the last write, which a crash may bring back.
	Before Counts
	Queues []Queue
	Late   []Late
	// Larger is the last moment at which the broker, or a route to it, showed
	// more writes than the target.
	Larger time.Time
	// Leaves says that the explorer's operator takes the topic from the broker.
	Leaves bool
	// Foreign says that somebody else broke the invariant of its counts.
	Foreign bool
}

// Queue is one queue id of the topic on one broker.
type Queue struct {
	Messages []Message
	// Shown is how many of them dispatch has made visible.
	Shown int
	// Foreign says that somebody else took the queue from readers; what lies
	// there is not the operator's fault until it is readable again.
	Foreign bool
}

// Message is one stored message.
type Message struct {
	Landed time.Time
	// Read has a bit for each group that has finished with it.
	Read uint16
	// Out has a bit for each group that popped it and has not finished; Taken
	// is when the last one did.
	Out   uint16
	Taken time.Time
}

// Late is a message that was accepted and will land on its stamped queue.
type Late struct {
	Queue int
	Since time.Time
	Due   time.Time
	// Hidden keeps it out of every count of pending messages.
	Hidden bool
}

// NameServer holds one route per broker.
type NameServer struct {
	Up     bool
	Routes []Counts
}

// Kind is how a group consumes.
type Kind int

// Kinds of groups.
const (
	Classic Kind = iota
	POP
	Broadcast
)

// Group is one consumer group, as one member that owns every readable queue.
type Group struct {
	Name   string
	Kind   Kind
	Online bool
	// Committed is by broker and queue; None where there is no entry.
	Committed [][]int
	// Local is what the member itself holds of queues it owns; None elsewhere.
	Local [][]int
	// GivenUp says that the user waived the group.
	GivenUp bool
}

// Producer sends by a route it may have had for a while.
type Producer struct {
	// Fixed never refreshes: it sends to queues of its own choice.
	Fixed bool
	View  []int
	Since time.Time
	From  int
}

// New makes a world at rest: every broker has the topic with n read and write
// queues and room for up to most, every name server routes it.
func New(now time.Time, brokers, servers, n, most int) *World {
	w := &World{Now: now, Target: n}
	c := Counts{Present: true, Read: n, Write: n, Perm: snapshot.PermReadWrite}
	for i := range brokers {
		w.Brokers = append(w.Brokers, Broker{Name: fmt.Sprintf("broker-%c", 'a'+i), Up: true, Booted: now.Add(-time.Hour),
			Counts: c, Before: c, Queues: make([]Queue, most), Larger: now.Add(-time.Hour)})
	}
	for range servers {
		w.NameServers = append(w.NameServers, NameServer{Up: true, Routes: slices.Repeat([]Counts{c}, brokers)})
	}
	return w
}

// AddGroup adds a group that has consumed everything on the present queues.
func (w *World) AddGroup(name string, kind Kind, online bool) {
	g := Group{Name: name, Kind: kind, Online: online}
	for i := range w.Brokers {
		b := &w.Brokers[i]
		committed := slices.Repeat([]int{None}, len(b.Queues))
		for q := range b.Read {
			if kind != Broadcast {
				committed[q] = b.Queues[q].Shown
			}
		}
		g.Committed = append(g.Committed, committed)
		g.Local = append(g.Local, slices.Repeat([]int{None}, len(b.Queues)))
	}
	w.Groups = append(w.Groups, g)
	if online {
		w.Rebalance(len(w.Groups) - 1)
	}
}

// AddProducer adds a producer with the present route.
func (w *World) AddProducer(fixed bool) {
	p := Producer{Fixed: fixed, Since: w.Now}
	for i := range w.Brokers {
		p.View = append(p.View, w.Brokers[i].Write)
	}
	w.Producers = append(w.Producers, p)
}

// Clone copies the world deeply.
func (w *World) Clone() *World {
	c := *w
	c.Brokers = slices.Clone(w.Brokers)
	for i := range c.Brokers {
		b := &c.Brokers[i]
		b.Late = slices.Clone(b.Late)
		b.Queues = slices.Clone(b.Queues)
		for q := range b.Queues {
			b.Queues[q].Messages = slices.Clone(b.Queues[q].Messages)
		}
	}
	c.NameServers = slices.Clone(w.NameServers)
	for i := range c.NameServers {
		c.NameServers[i].Routes = slices.Clone(w.NameServers[i].Routes)
	}
	c.Groups = slices.Clone(w.Groups)
	for i := range c.Groups {
		c.Groups[i].Committed = cloneTable(w.Groups[i].Committed)
		c.Groups[i].Local = cloneTable(w.Groups[i].Local)
	}
	c.Producers = slices.Clone(w.Producers)
	for i := range c.Producers {
		c.Producers[i].View = slices.Clone(w.Producers[i].View)
	}
	return &c
}

func cloneTable(t [][]int) [][]int {
	c := make([][]int, len(t))
	for i := range t {
		c[i] = slices.Clone(t[i])
	}
	return c
}

// Index finds a broker by name.
func (w *World) Index(broker string) int {
	return slices.IndexFunc(w.Brokers, func(b Broker) bool { return b.Name == broker })
}
