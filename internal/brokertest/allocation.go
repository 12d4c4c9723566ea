// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
)

// owned are the queues the member reads now: its share of the readable queues
// of its topics by equal parts, or all of them for a broadcast member.
func (m *Member) owned() []queuePlace {
	var out []queuePlace
	for _, s := range m.subscriptions() {
		all := m.c.readable(s.Topic)
		if m.spec.Broadcast || m.spec.POP {
			out = append(out, all...)
			continue
		}
		var ids []string
		for _, o := range m.c.members {
			if o.alive && o.spec.Group == m.spec.Group && slices.ContainsFunc(o.subscriptions(),
				func(x Subscription) bool { return x.Topic == s.Topic }) {
				ids = append(ids, o.spec.ClientID)
			}
		}
		slices.Sort(ids)
		out = append(out, averagely(all, slices.Compact(ids), m.spec.ClientID)...)
	}
	return out
}

// averagely is RocketMQ's default allocation: contiguous parts, the first ones
// larger by one.
func averagely(all []queuePlace, ids []string, id string) []queuePlace {
	i, n := slices.Index(ids, id), len(ids)
	if i < 0 || n == 0 {
		return nil
	}
	size, rest := len(all)/n, len(all)%n
	from := i*size + min(i, rest)
	if i < rest {
		size++
	}
	return all[from : from+size]
}

// readable lists the queues of a topic that consumers can read, in order.
func (c *Cluster) readable(topic string) []queuePlace {
	var out []queuePlace
	for _, b := range c.masters() {
		t := b.topics[topic]
		if !b.up || t == nil || t.Perm&b.permission()&4 == 0 {
			continue
		}
		for id := range max(0, t.Read) {
			out = append(out, queuePlace{topic, b.name, id})
		}
	}
	return out
}

// position is what the member would commit for a queue; -1 before it has one.
func (m *Member) position(p queuePlace) int64 {
	if m.spec.Broadcast {
		if v, has := m.positions[p]; has {
			return v
		}
		return -1
	}
	b := m.c.replica(p.broker, 0)
	if v := b.committed(m.spec.Group, p.topic, p.id); v >= 0 {
		return v
	}
	return -1
}

// Positions are a broadcast member's own offsets by broker and queue id.
func (m *Member) Positions(topic string) map[string]map[int]int64 {
	m.c.enter()
	defer m.c.mu.Unlock()
	out := map[string]map[int]int64{}
	for p, v := range maps.All(m.positions) {
		if p.topic == topic {
			if out[p.broker] == nil {
				out[p.broker] = map[int]int64{}
			}
			out[p.broker][p.id] = v
		}
	}
	return out
}
