// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lateMessage is a message that waits: for a delay level, for a timer, or for
// the end of its transaction. It is stamped with the queue it will land on, and
// lands there without any check (rocketmq.md 4.4).
type lateMessage struct {
	msg *Message // what lands
	due time.Time
	at  int64 // offset in the system topic's queue
	id  string
}

// lateStore is what a broker name holds back.
type lateStore struct {
	hold   bool
	levels map[int][]*lateMessage // waiting, in order, by level
	timers []*lateMessage
	unread []*lateMessage // timers the wheel has not taken in yet
	read   bool           // false while the wheel takes nothing in
	halves map[string]*lateMessage
	// settled are halves that were ended or given up; a given-up half can
	// still be committed while it is stored.
	settled map[int64]bool
}

func newLateStore() lateStore {
	return lateStore{
		levels: map[int][]*lateMessage{}, read: true,
		halves: map[string]*lateMessage{}, settled: map[int64]bool{},
	}
}

// delays is the broker's level table (messageDelayLevel).
func (b *Broker) delays() []time.Duration {
	var out []time.Duration
	for _, f := range strings.Fields(b.settings["messageDelayLevel"]) {
		unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
		n, err := strconv.Atoi(f[:len(f)-1])
		if err == nil {
			out = append(out, time.Duration(n)*unit[f[len(f)-1:]])
		}
	}
	return out
}

// Real topic and queue of a message that waits under a system topic.
const (
	propRealTopic = "REAL_TOPIC"
	propRealQueue = "REAL_QID"
	propLevel     = "DELAY"
)

// stamped is the copy of a message that waits in a system topic.
func stamped(m *Message, topic string, queueID int) *Message {
	props := maps.Clone(m.Properties)
	if props == nil {
		props = map[string]string{}
	}
	props[propRealTopic], props[propRealQueue] = m.Topic, strconv.Itoa(m.Queue)
	return &Message{Topic: topic, Queue: queueID, Body: m.Body, Key: m.Key, Tag: m.Tag, Properties: props}
}

// putDelayed stores a message under its delay level; levels above the table
// count as the last one.
func (b *Broker) putDelayed(m *Message, level int) *Message {
	table := b.delays()
	level = min(level, len(table))
	if m.Properties == nil {
		m.Properties = map[string]string{}
	}
	m.Properties[propLevel] = strconv.Itoa(level)
	s := b.put(stamped(m, topicSchedule, level-1))
	b.store.late.levels[level] = append(b.store.late.levels[level],
		&lateMessage{msg: m, due: b.c.now().Add(table[level-1]), at: s.Offset})
	return s
}

// putTimer stores a message for the timer wheel. One that is already due goes
// straight to its queue.
func (b *Broker) putTimer(m *Message, due time.Time) *Message {
	if !due.After(b.c.now()) {
		return b.put(m)
	}
	s := b.put(stamped(m, topicTimer, 0))
	l := &lateMessage{msg: m, due: due, at: s.Offset}
	if b.store.late.read {
		b.store.late.timers = append(b.store.late.timers, l)
	} else {
		b.store.late.unread = append(b.store.late.unread, l)
	}
	return s
}

// putHalf stores a half message; it lands when its transaction is committed.
func (b *Broker) putHalf(m *Message) *Message {
	if b.topics[topicHalf] == nil {
		b.ensureTopic(topicHalf, 1)
	}
	s := b.put(stamped(m, topicHalf, 0))
	b.store.late.halves[s.ID] = &lateMessage{msg: m, due: b.c.now().Add(b.halfLife()), at: s.Offset, id: s.ID}
	b.moveHalfOffset()
	return s
}

// halfLife is after how long check-backs give a half message up.
func (b *Broker) halfLife() time.Duration {
	return time.Duration(b.number("transactionTimeOut")+b.number("transactionCheckMax")*
		b.number("transactionCheckInterval")) * time.Millisecond
}

// endHalf commits or rolls back; false if the half is no longer stored. There
// is no check whether the transaction was ended before (rocketmq.md 4.4).
func (b *Broker) endHalf(id string, commit bool) bool {
	h := b.store.late.halves[id]
	if h == nil {
		return false
	}
	b.store.late.settled[h.at] = true
	b.moveHalfOffset()
	if !commit {
		return true
	}
	m := *h.msg
	m.ID, m.Properties = "", maps.Clone(h.msg.Properties)
	b.land(&m)
	return true
}

// moveHalfOffset sets the offset of the broker's own transaction group to the
// first half message that is open.
func (b *Broker) moveHalfOffset() {
	end := b.store.max(topicHalf, 0)
	first := end
	for _, h := range b.store.late.halves {
		if !b.store.late.settled[h.at] {
			first = min(first, h.at)
		}
	}
	b.commit("CID_RMQ_SYS_TRANS", topicHalf, 0, first)
}

// land stores a message where it was stamped for, by way of a delay if it has
// one.
func (b *Broker) land(m *Message) *Message {
	if level, err := strconv.Atoi(m.Properties[propLevel]); err == nil && level > 0 {
		m.Properties = maps.Clone(m.Properties)
		return b.putDelayed(m, level)
	}
	return b.put(m)
}

// nextLate is the next thing that falls due in the broker's store.
func (b *Broker) nextLate() (due time.Time, do func()) {
	s := &b.store.late
	if s.hold {
		return time.Time{}, nil
	}
	first := func(l *lateMessage, f func()) {
		if due.IsZero() || l.due.Before(due) {
			due, do = l.due, f
		}
	}
	for _, level := range slices.Sorted(maps.Keys(s.levels)) {
		if wait := s.levels[level]; len(wait) > 0 {
			first(wait[0], func() {
				s.levels[level] = wait[1:]
				b.put(arrival(wait[0].msg))
			})
		}
	}
	for i, l := range s.timers {
		first(l, func() {
			s.timers = slices.Delete(s.timers, i, i+1)
			b.put(arrival(l.msg))
		})
	}
	for _, h := range s.halves {
		if !s.settled[h.at] {
			first(h, func() {
				s.settled[h.at] = true
				b.moveHalfOffset()
			})
		}
	}
	return due, do
}

// arrival is a waiting message as it lands: without the mark of its delay.
func arrival(m *Message) *Message {
	m.Properties = maps.Clone(m.Properties)
	delete(m.Properties, propLevel)
	return m
}

// HoldLate stops the delivery of delayed and timed messages, as an overloaded
// broker does; off lets what is due through.
func (b *Broker) HoldLate(on bool) {
	b.c.enter()
	b.store.late.hold = on
	b.c.settle()
	b.c.mu.Unlock()
}

// HoldTimerIntake keeps the timer wheel from taking in new timers: they are in
// no count of call 61, and call 28 shows timerOffsetBehind (rule R15).
func (b *Broker) HoldTimerIntake(on bool) {
	b.c.enter()
	b.store.late.read = !on
	if !on {
		b.store.late.timers = append(b.store.late.timers, b.store.late.unread...)
		b.store.late.unread = nil
	}
	b.c.settle()
	b.c.mu.Unlock()
}

type progress struct{ delivered, max int64 }

// scheduleProgress is how far each level is that was ever used. 4.9 knows a
// level only once it has delivered something of it, so what waits in a level
// that is used for the first time cannot be seen there.
func (b *Broker) scheduleProgress() map[int]progress {
	out := map[int]progress{}
	for level := range b.delays() {
		end := b.store.max(topicSchedule, level)
		delivered := end - int64(len(b.store.late.levels[level+1]))
		if delivered > 0 || end > 0 && b.version.five() {
			out[level+1] = progress{delivered, end}
		}
	}
	return out
}

// timerCounts are the timers in the wheel by topic.
func (s *lateStore) timerCounts() map[string]int64 {
	n := map[string]int64{}
	for _, l := range s.timers {
		n[l.msg.Topic]++
	}
	return n
}

func (s *lateStore) timersUnread() int64 { return int64(len(s.unread)) }

// expireHalves forgets half messages that were stored before the limit.
func (s *lateStore) expireHalves(limit time.Time) {
	maps.DeleteFunc(s.halves, func(_ string, h *lateMessage) bool { return h.msg.Stored.Before(limit) })
}
