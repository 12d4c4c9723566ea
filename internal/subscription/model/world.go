// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"time"
)

// None is no position.
const None = -1

// Names of the one group and topic of a world.
const (
	Group = "CG_MODEL"
	Topic = "TOPIC_MODEL"
)

// World is one RocketMQ with one topic and one group.
type World struct {
	Now     time.Time
	Brokers []Broker
	Members []Member
	// Revision is that of the workload's template; Wanted its replicas.
	Revision string
	Wanted   int
	// Floor is, by broker and queue, where the group was when a member with
	// another filter first joined; nil while all have had the same.
	Floor [][]int
	born  int
}

// Broker is one broker with a slave.
type Broker struct {
	Name   string
	Up     bool
	Booted time.Time
	// Enabled and Slave are consumeEnable on both; Before is what a forgetful
	// restart brings back.
	Enabled, Before, Slave bool
	// Exact says that it carries out resets itself.
	Exact  bool
	Queues []Queue
	// Table is the filter it uses for all members.
	Table string
}

// Queue is one queue. Pending is a reset that waits for the next pull.
type Queue struct {
	Messages  []Message
	Committed int
	Pending   int
	// Local is the owner's own position, None without an owner.
	Local int
	Owner int // index of the member, None
}

// Message is one message.
type Message struct {
	Tag       string
	Landed    time.Time
	Delivered bool
}

// Member is one member, in a pod of its own.
type Member struct {
	ID, Address, Pod string
	Filter           string // "A||B"
	Revision         string
	Alive            bool
	// Seen says that a whole look listed it with its answer. Members that no look
	// ever sees cannot be told from none, so they do not leave before.
	Seen bool
	Pop  bool
}

// New makes a world in which every member has the filter.
func New(now time.Time, brokers, queues, members int, filter string, exact, pop bool) *World {
	w := &World{Now: now, Revision: "r1", Wanted: members}
	for i := range brokers {
		b := Broker{Name: fmt.Sprintf("broker-%c", 'a'+i), Up: true, Booted: now.Add(-time.Hour), Enabled: true, Before: true, Slave: true, Exact: exact, Table: filter}
		for range queues {
			b.Queues = append(b.Queues, Queue{Pending: None, Local: None, Owner: None})
		}
		w.Brokers = append(w.Brokers, b)
	}
	for range members {
		w.Join(filter, "r1", pop)
	}
	return w
}

// Live are the indexes of members that are alive.
func (w *World) Live() []int {
	var out []int
	for i := range w.Members {
		if w.Members[i].Alive {
			out = append(out, i)
		}
	}
	return out
}

// Join starts a member.
func (w *World) Join(filter, revision string, pop bool) {
	for _, i := range w.Live() {
		if w.Members[i].Filter != filter && w.Floor == nil {
			w.mark()
		}
	}
	if len(w.Live()) == 0 && len(w.Members) > 0 && w.Members[len(w.Members)-1].Filter != filter && w.Floor == nil {
		w.mark()
	}
	w.born++
	w.Members = append(w.Members, Member{ID: fmt.Sprintf("10.0.0.%d@1#%d", w.born, w.born), Address: fmt.Sprintf("10.0.0.%d:40", w.born),
		Pod: fmt.Sprintf("pod-%d", w.born), Filter: filter, Revision: revision, Alive: true, Pop: pop})
	w.Rebalance()
}

// mark notes where the group is.
func (w *World) mark() {
	for i := range w.Brokers {
		var floor []int
		for q := range w.Brokers[i].Queues {
			floor = append(floor, w.position(i, q))
		}
		w.Floor = append(w.Floor, floor)
	}
}

func (w *World) position(broker, queue int) int {
	q := w.Brokers[broker].Queues[queue]
	if q.Local != None && q.Pending == None {
		return q.Local
	}
	return q.Committed
}

// Leave stops a member; one that is killed does not write its positions.
func (w *World) Leave(member int, killed bool) {
	m := &w.Members[member]
	if !m.Alive || !m.Seen {
		return
	}
	if !killed {
		w.Persist(member)
	}
	m.Alive = false
	w.Rebalance()
}

// Rebalance shares the queues out anew. Who loses a queue writes its position,
// if it is alive; who gets it begins at the committed offset.
func (w *World) Rebalance() {
	live := w.Live()
	n := 0
	for i := range w.Brokers {
		b := &w.Brokers[i]
		for k := range b.Queues {
			q := &b.Queues[k]
			owner := None
			if len(live) > 0 {
				owner = live[n%len(live)]
			}
			n++
			if owner == q.Owner || !b.Up {
				continue
			}
			if q.Owner != None && w.Members[q.Owner].Alive {
				w.write(q)
			}
			q.Owner, q.Local = owner, None
			if owner != None {
				q.Local = q.Committed
			}
		}
	}
}

func (w *World) write(q *Queue) {
	if q.Local != None && q.Pending == None {
		q.Committed = q.Local
	}
}

// Persist makes a member write its positions, over whatever is there, but for
// resets that wait.
func (w *World) Persist(member int) {
	for i := range w.Brokers {
		for k := range w.Brokers[i].Queues {
			if q := &w.Brokers[i].Queues[k]; q.Owner == member && w.Brokers[i].Up {
				w.write(q)
			}
		}
	}
}

// PickTable makes a broker use one member's filter for all.
func (w *World) PickTable(broker, member int) {
	if w.Brokers[broker].Up && w.Members[member].Alive {
		w.Brokers[broker].Table = w.Members[member].Filter
	}
}

// Send stores a message.
func (w *World) Send(broker, queue int, tag string) {
	if b := &w.Brokers[broker]; b.Up {
		b.Queues[queue].Messages = append(b.Queues[queue].Messages, Message{Tag: tag, Landed: w.Now})
	}
}

// Consume lets the owner of a queue take everything: the broker passes over
// what its table does not take, the member what it does not (rocketmq.md 5.2).
// It reads from the slave where the master refuses.
func (w *World) Consume(broker, queue int) {
	b := &w.Brokers[broker]
	q := &b.Queues[queue]
	if !b.Up || !b.Enabled && !b.Slave || q.Owner == None || !w.Members[q.Owner].Alive {
		return
	}
	if q.Pending != None {
		q.Local, q.Pending = q.Pending, None
	}
	m := w.Members[q.Owner]
	for at := max(0, q.Local); at < len(q.Messages); at++ {
		if Takes(b.Table, q.Messages[at].Tag) && Takes(m.Filter, q.Messages[at].Tag) || m.Pop && Takes(m.Filter, q.Messages[at].Tag) {
			q.Messages[at].Delivered = true
		}
	}
	q.Local = max(q.Local, len(q.Messages))
	if m.Pop {
		q.Committed = q.Local
	}
}

// Takes reports whether a filter takes a tag.
func Takes(filter, tag string) bool {
	return filter == "*" || slices.Contains(split(filter), tag)
}

func split(filter string) []string {
	var out []string
	for filter != "" {
		i := 0
		for i < len(filter) && filter[i] != '|' {
			i++
		}
		out = append(out, filter[:i])
		filter = filter[min(len(filter), i+2):]
	}
	return out
}

// Switch sets consumeEnable on a master, as call 200 does.
func (w *World) Switch(broker int, on bool) {
	if b := &w.Brokers[broker]; b.Up {
		b.Before, b.Enabled = b.Enabled, on
	}
}

// Sync copies the switch to the slave.
func (w *World) Sync(broker int) {
	if b := &w.Brokers[broker]; b.Up {
		b.Slave = b.Enabled
	}
}

// SwitchSlave sets consumeEnable on a slave, until the next sync.
func (w *World) SwitchSlave(broker int, on bool) {
	if b := &w.Brokers[broker]; b.Up {
		b.Slave = on
	}
}

// Stop stops a broker; Start starts it, perhaps without its last config.
func (w *World) Stop(broker int) { w.Brokers[broker].Up = false }

// Start starts a broker as a new process; resets that waited are forgotten.
func (w *World) Start(broker int, forgetful bool) {
	b := &w.Brokers[broker]
	if b.Up {
		return
	}
	b.Up, b.Booted = true, w.Now
	if forgetful {
		b.Enabled = b.Before
	}
	for k := range b.Queues {
		b.Queues[k].Pending = None
	}
	w.Rebalance()
}

// Reset sets a queue back, as call 222 with queueId and offset does.
func (w *World) Reset(broker, queue, offset int) {
	if b := &w.Brokers[broker]; b.Up && b.Exact && offset <= len(b.Queues[queue].Messages) {
		b.Queues[queue].Committed, b.Queues[queue].Pending = offset, offset
	}
}

// ResetTime sets the queues that have an owner back to the first message not
// before a time, as call 222 does through members.
func (w *World) ResetTime(broker int, to time.Time) {
	b := &w.Brokers[broker]
	if !b.Up || b.Exact || len(w.Live()) == 0 {
		return
	}
	for k := range b.Queues {
		q := &b.Queues[k]
		if q.Owner == None || !w.Members[q.Owner].Alive {
			continue
		}
		at := slices.IndexFunc(q.Messages, func(m Message) bool { return !m.Landed.Before(to) })
		if at < 0 {
			at = len(q.Messages)
		}
		q.Local, q.Committed = at, at
	}
}

// SetOffset commits an offset, as call 15 does; a reset that waits swallows it.
func (w *World) SetOffset(broker, queue, offset int) {
	if b := &w.Brokers[broker]; b.Up && b.Queues[queue].Pending == None {
		b.Queues[queue].Committed = offset
	}
}

// Lost names a message that the filter takes, that the group has passed since
// filters began to differ, and that nobody got; empty when there is none.
func (w *World) Lost(filter string) string {
	for i := range w.Floor {
		for k, floor := range w.Floor[i] {
			q := w.Brokers[i].Queues[k]
			for at := floor; at < w.position(i, k); at++ {
				if m := q.Messages[at]; Takes(filter, m.Tag) && !m.Delivered {
					return fmt.Sprintf("message %d (%s) of %s/%d was skipped: the group is at %d", at, m.Tag, w.Brokers[i].Name, k, w.position(i, k))
				}
			}
		}
	}
	return ""
}

// Agree forgets where filters began to differ, once a change is over.
func (w *World) Agree() { w.Floor = nil }

// Fenced reports whether consumption is stopped anywhere.
func (w *World) Fenced() bool {
	return slices.ContainsFunc(w.Brokers, func(b Broker) bool { return !b.Enabled || !b.Slave })
}
