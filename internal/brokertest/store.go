// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"time"
)

// queueKey names a queue of one broker.
type queueKey struct {
	topic string
	id    int
}

// queue is a consume queue: messages from offset base on, readable from min.
type queue struct {
	base, min int64
	msgs      []*Message
	cold      bool // its first message is no longer in memory
}

func (q *queue) max() int64 { return q.base + int64(len(q.msgs)) }

func (q *queue) at(offset int64) *Message {
	if i := offset - q.base; i >= 0 && i < int64(len(q.msgs)) {
		return q.msgs[i]
	}
	return nil
}

// store is what a broker name has on disk; its replicas share it.
type store struct {
	queues map[queueKey]*queue
	tail   int64 // end of the commit log
	// hold keeps new messages out of the queues; pending are those kept out
	// (rule R04).
	hold    bool
	pending []*Message
	late    lateStore
}

func newStore() *store {
	return &store{queues: map[queueKey]*queue{}, late: newLateStore()}
}

func (s *store) get(topic string, id int) *queue { return s.queues[queueKey{topic, id}] }

func (s *store) ensure(topic string, id int) *queue {
	k := queueKey{topic, id}
	if s.queues[k] == nil {
		s.queues[k] = &queue{}
	}
	return s.queues[k]
}

func (s *store) min(topic string, id int) int64 {
	if q := s.get(topic, id); q != nil {
		return q.min
	}
	return 0
}

func (s *store) max(topic string, id int) int64 {
	if q := s.get(topic, id); q != nil {
		return q.max()
	}
	return 0
}

// put stores a message. It becomes visible in its queue at once, or when
// dispatch goes on.
func (b *Broker) put(m *Message) *Message {
	s := b.store
	m.Broker, m.Stored = b.name, b.c.now()
	m.physical = s.tail
	s.tail += int64(len(m.encode(b.addr)))
	if m.ID == "" {
		b.c.nextID++
		m.ID = fmt.Sprintf("m-%d", b.c.nextID)
	}
	m.delivered, m.filtered = map[string]int{}, map[string]bool{}
	if !b.systemTopic(m.Topic) {
		b.c.ledger = append(b.c.ledger, m)
	}
	if s.hold && !b.systemTopic(m.Topic) {
		m.Offset = -1
		s.pending = append(s.pending, m)
		return m
	}
	s.dispatch(m)
	return m
}

func (s *store) dispatch(m *Message) {
	q := s.ensure(m.Topic, m.Queue)
	m.Offset = q.max()
	q.msgs = append(q.msgs, m)
}

// destroy removes the queues of the topics.
func (s *store) destroy(of func(topic string) bool) {
	maps.DeleteFunc(s.queues, func(k queueKey, _ *queue) bool { return of(k.topic) })
}

// HoldDispatch keeps what is stored from now on out of users' queues: max offsets
// do not show it and nobody can read it, while call 28 reports the bytes as
// dispatchBehindBytes (rule R04). Off lets all of it through.
func (b *Broker) HoldDispatch(on bool) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.store.hold = on
	if on {
		return
	}
	for _, m := range b.store.pending {
		b.store.dispatch(m)
	}
	b.store.pending = nil
}

func (s *store) behind() int64 {
	if len(s.pending) == 0 {
		return 0
	}
	return s.tail - s.pending[0].physical
}

// Expire makes the messages of a queue below the offset expire, as old commit
// log files do: its min offset rises.
func (b *Broker) Expire(topic string, queueID int, upTo int64) {
	b.c.enter()
	defer b.c.mu.Unlock()
	q := b.store.ensure(topic, queueID)
	q.min = max(q.min, min(upTo, q.max()))
}

// ExpireOld makes every message expire that is older than the broker's
// retention (fileReservedTime).
func (b *Broker) ExpireOld() {
	b.c.enter()
	defer b.c.mu.Unlock()
	limit := b.c.now().Add(-b.hours("fileReservedTime"))
	for _, q := range b.store.queues {
		for q.min < q.max() && q.at(q.min).Stored.Before(limit) {
			q.min++
		}
	}
	b.store.late.expireHalves(limit)
}

// Truncate removes the messages of a queue from the offset on, as a log that
// lost its tail in a crash does (rule R11). They leave the ledger too: no
// client got an acknowledgement that would have survived.
func (b *Broker) Truncate(topic string, queueID int, from int64) {
	b.c.enter()
	defer b.c.mu.Unlock()
	q := b.store.get(topic, queueID)
	if q == nil || from >= q.max() {
		return
	}
	gone := map[*Message]bool{}
	for o := max(from, q.base); o < q.max(); o++ {
		gone[q.at(o)] = true
	}
	q.msgs = q.msgs[:max(0, from-q.base)]
	kept := b.c.ledger[:0:0]
	for _, m := range b.c.ledger {
		if !gone[m] {
			kept = append(kept, m)
		}
	}
	b.c.ledger = kept
}

// EvictPageCache makes the broker treat the first message of every queue as no
// longer in memory: a group without an entry then starts by its own setting
// instead of at 0 (rocketmq.md 4.3). Queues created later start in memory.
func (b *Broker) EvictPageCache() {
	b.c.enter()
	defer b.c.mu.Unlock()
	for _, q := range b.store.queues {
		q.cold = true
	}
}

// MaxOffset and MinOffset are a queue's bounds, whatever the topic's counts.
func (b *Broker) MaxOffset(topic string, queueID int) int64 {
	b.c.enter()
	defer b.c.mu.Unlock()
	return b.store.max(topic, queueID)
}

// MinOffset is the lowest offset of a queue that still exists.
func (b *Broker) MinOffset(topic string, queueID int) int64 {
	b.c.enter()
	defer b.c.mu.Unlock()
	return b.store.min(topic, queueID)
}

// storeTime is when the message at the offset was stored; 0 if there is none.
func (s *store) storeTime(topic string, id int, offset int64) int64 {
	if q := s.get(topic, id); q != nil {
		if m := q.at(offset); m != nil && offset >= q.min {
			return m.Stored.UnixMilli()
		}
	}
	return 0
}

func (b *Broker) hours(setting string) time.Duration {
	return time.Duration(b.number(setting)) * time.Hour
}
