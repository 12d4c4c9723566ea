// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"strconv"
	"strings"
)

// parseOrder reads "broker-a:4;broker-b:4".
func parseOrder(conf string) map[string]int {
	out := map[string]int{}
	for _, part := range strings.Split(conf, ";") {
		if broker, n, ok := strings.Cut(part, ":"); ok {
			if v, err := strconv.Atoi(n); err == nil {
				out[broker] = v
			}
		}
	}
	return out
}

// Consume lets a clustering group read up to n messages of a topic (all of them
// if n < 0) from every queue its members can reach now, and commit. It stands
// for the group's clients as a whole; the group need not have members.
//
// It reads only readable queues of brokers that answer, begins where the
// group's entries say, and where there is none as a client does: at 0 while the
// queue's start is in memory, else at the end (rocketmq.md 4.3). A disabled
// group reads nothing.
func (c *Cluster) Consume(group, topic string, n int) []*Message {
	c.enter()
	defer c.mu.Unlock()
	var got []*Message
	for _, p := range c.readable(topic) {
		got = append(got, c.consumeQueue(group, p, n-len(got), n < 0)...)
	}
	return got
}

// ConsumeQueue lets a group read up to n messages of one queue (all if n < 0).
func (c *Cluster) ConsumeQueue(group, topic, broker string, queueID, n int) []*Message {
	c.enter()
	defer c.mu.Unlock()
	for _, p := range c.readable(topic) {
		if p.broker == broker && p.id == queueID {
			return c.consumeQueue(group, p, n, n < 0)
		}
	}
	return nil
}

func (c *Cluster) consumeQueue(group string, p queuePlace, n int, all bool) []*Message {
	b := c.replica(p.broker, 0)
	if b.hung {
		return nil
	}
	if g := b.groups[group]; g != nil && !g.ConsumeEnable {
		return nil
	}
	b.findGroup(group)
	at := c.startOf(group, b, p)
	filter := b.filterOf(group, p.topic)
	var got []*Message
	high := b.store.max(p.topic, p.id)
	for at < high && (all || len(got) < n) {
		got = c.handle(got, b.store.get(p.topic, p.id).at(at), group, filter)
		at++
	}
	delete(b.resets[offsetKey(p.topic, group)], p.id)
	b.commit(group, p.topic, p.id, at)
	return got
}

// startOf is where the group's client begins to read a queue.
func (c *Cluster) startOf(group string, b *Broker, p queuePlace) int64 {
	low, high := b.store.min(p.topic, p.id), b.store.max(p.topic, p.id)
	at := b.committed(group, p.topic, p.id)
	switch {
	case at < 0 && b.atStart(p.topic, p.id):
		at = 0
	case at < 0 && b.startsFirst(group):
		at = low
	case at < 0:
		at = high
	}
	switch {
	case at < low:
		return low
	case at > high:
		return high // everything up to the end is skipped (rocketmq.md 4.3)
	}
	return at
}

// startsFirst reports whether the group's members begin at the first offset.
func (b *Broker) startsFirst(group string) bool {
	g := b.consumers[group]
	return g != nil && g.from == "CONSUME_FROM_FIRST_OFFSET"
}

// filterOf is what the group's table lets pass; everything if it is offline.
func (b *Broker) filterOf(group, topic string) Subscription {
	if g := b.consumers[group]; g != nil && g.table[topic] != nil {
		return *g.table[topic]
	}
	return Subscription{Topic: topic, Expression: "*", Type: "TAG"}
}

// Commit stores a group's offset on one broker, without a recorded call.
func (c *Cluster) Commit(group, topic, broker string, queueID int, offset int64) {
	b := c.Broker(broker)
	c.enter()
	defer c.mu.Unlock()
	b.findGroup(group)
	b.commit(group, topic, queueID, offset)
}

// Committed is a group's entry for a queue; false if there is none.
func (c *Cluster) Committed(group, topic, broker string, queueID int) (int64, bool) {
	b := c.Broker(broker)
	c.enter()
	defer c.mu.Unlock()
	v := b.committed(group, topic, queueID)
	return v, v >= 0
}

// Read lets a broadcast member read everything it can reach; its offsets stay
// with it (rocketmq.md 4.5).
func (m *Member) Read(topic string) []*Message {
	m.c.enter()
	defer m.c.mu.Unlock()
	var got []*Message
	for _, p := range m.c.readable(topic) {
		b := m.c.replica(p.broker, 0)
		at, has := m.positions[p]
		if !has {
			at = b.store.min(p.topic, p.id)
		}
		for high := b.store.max(p.topic, p.id); at < high; at++ {
			msg := b.store.get(p.topic, p.id).at(at)
			msg.delivered[m.spec.Group]++
			got = append(got, msg)
		}
		m.positions[p] = at
	}
	return got
}
