// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "time"

// persistPeriod is how often classic clients commit the positions they hold
// (persistConsumerOffsetInterval, rocketmq.md 7).
const persistPeriod = 5 * time.Second

// Poll lets a classic member read up to n messages (all if n < 0) of the queues
// it owns now. Like a real client it keeps its positions itself and commits
// them every five seconds on the clock, or with Persist: whatever else was
// committed for its queues meanwhile is overwritten (rule R12, R35).
func (m *Member) Poll(topic string, n int) []*Message {
	m.c.enter()
	defer m.c.mu.Unlock()
	if m.spec.Broadcast || m.spec.POP {
		panic("brokertest: Poll is for clustering members that own queues; use Read or Pop")
	}
	m.rebalance()
	var got []*Message
	for _, p := range m.owned() {
		b := m.c.replica(p.broker, 0)
		if p.topic != topic || b.hung || !m.alive {
			continue
		}
		if g := b.groups[m.spec.Group]; g != nil && !g.ConsumeEnable {
			continue
		}
		filter := b.filterOf(m.spec.Group, topic)
		at := m.positionIn(b, p)
		for high := b.store.max(p.topic, p.id); at < high && (n < 0 || len(got) < n); at++ {
			got = m.c.handle(got, b.store.get(p.topic, p.id).at(at), m.spec.Group, filter)
		}
		m.positions[p] = at
	}
	return got
}

// handle delivers a message, or passes over one that the filter does not want.
func (c *Cluster) handle(got []*Message, msg *Message, group string, filter Subscription) []*Message {
	if !filter.wants(msg.Tag) {
		msg.filtered[group] = true
		return got
	}
	msg.delivered[group]++
	return append(got, msg)
}

// positionIn is where the member reads a queue on from. A reset that waits on
// the broker is taken by this pull.
func (m *Member) positionIn(b *Broker, p queuePlace) int64 {
	key := offsetKey(p.topic, m.spec.Group)
	if to, pending := b.resets[key][p.id]; pending {
		delete(b.resets[key], p.id)
		return to
	}
	at, has := m.positions[p]
	if !has {
		return m.c.startOf(m.spec.Group, b, p)
	}
	return min(max(at, b.store.min(p.topic, p.id)), b.store.max(p.topic, p.id))
}

// rebalance commits and drops the positions of queues the member lost.
func (m *Member) rebalance() {
	owned := map[queuePlace]bool{}
	for _, p := range m.owned() {
		owned[p] = true
	}
	for p, at := range m.positions {
		if !owned[p] {
			m.commit(p, at)
			delete(m.positions, p)
		}
	}
}

// Persist commits the member's positions now.
func (m *Member) Persist() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.persist()
}

func (m *Member) persist() {
	if m.spec.Broadcast {
		return
	}
	m.rebalance()
	for p, at := range m.positions {
		m.commit(p, at)
	}
}

func (m *Member) commit(p queuePlace, at int64) {
	b := m.c.replica(p.broker, 0)
	if b == nil || !b.up || b.hung || b.topics[p.topic] == nil {
		return
	}
	if _, pending := b.resets[offsetKey(p.topic, m.spec.Group)][p.id]; pending {
		return // the broker answers "Offset has been previously reset"
	}
	b.commit(m.spec.Group, p.topic, p.id, at)
}
