// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Registrations counts how often the process, over all its starts, sent topic
// configs to the name servers.
func (b *Broker) Registrations() int {
	b.c.enter()
	defer b.c.mu.Unlock()
	return b.registrations
}

// TopicDataVersion is the counter of the topic table's data version.
func (b *Broker) TopicDataVersion() int64 {
	b.c.enter()
	defer b.c.mu.Unlock()
	return b.topicVersion.counter
}

// permission is brokerPermission: what the route's permission is masked with.
func (b *Broker) permission() int {
	n, err := strconv.Atoi(b.settings["brokerPermission"])
	if err != nil {
		return 6
	}
	return n
}

// registerAll sends the whole table to every name server.
func (b *Broker) registerAll() {
	table := make([]*TopicConfig, 0, len(b.topics))
	for _, name := range slices.Sorted(maps.Keys(b.topics)) {
		table = append(table, b.topics[name])
	}
	b.register(table)
}

// register sends topic configs to every name server and returns those that
// hang, for which a real broker would wait.
func (b *Broker) register(table []*TopicConfig) (hung []*NameServer) {
	b.registrations++
	var order map[string]string
	for _, s := range b.c.ns {
		switch {
		case s.hears():
			if kv := s.register(b, table); order == nil {
				order = kv
			}
		case s.up && s.hung && !s.deaf:
			hung = append(hung, s)
		}
	}
	b.takeOrder(order)
	return hung
}

// takeOrder sets the order flag from the name server's order configuration; a
// 4.9 broker also takes it back (rocketmq.md 3.4).
func (b *Broker) takeOrder(order map[string]string) {
	if order == nil {
		return
	}
	changed := false
	for name, t := range b.topics {
		_, listed := order[name]
		if listed && !t.Order || !listed && t.Order && !b.version.five() {
			t.Order, changed = listed, true
		}
	}
	if changed {
		b.topicVersion.next(b.c.now())
	}
}

// awaitHung makes a reply wait for hung name servers as long as the broker
// would. The registration that it waits for is lost.
func (b *Broker) awaitHung(r *reply, hung []*NameServer) *reply {
	if len(hung) == 0 {
		return r
	}
	timeout := b.c.clock.After(time.Duration(b.version.registerTimeoutSeconds()) * time.Second)
	resumed := make([]chan struct{}, 0, len(hung))
	for _, s := range hung {
		resumed = append(resumed, s.resume)
	}
	r.wait = func() *reply {
		for _, ch := range resumed {
			select {
			case <-ch:
			case <-timeout:
				return r
			case <-b.c.done:
				return nil
			}
		}
		return r
	}
	return r
}

// syncFromMaster copies the master's tables, as a slave does now and then. A
// slave of 5.3.3 first drops all topics and then chokes on the first that has
// attributes, so that it and those after it are missing (case O23).
func (b *Broker) syncFromMaster() {
	m := b.c.replica(b.name, 0)
	if b.id == 0 || m == nil || !m.up || m.hung {
		return
	}
	b.topics, b.topicVersion = cloneTopics(m.topics), m.topicVersion
	if b.version == V533 {
		names := slices.Sorted(maps.Keys(b.topics))
		if i := slices.IndexFunc(names, func(n string) bool { return len(b.topics[n].Attributes) > 0 }); i >= 0 {
			for _, name := range names[i:] {
				delete(b.topics, name)
			}
		}
	}
	b.groups, b.groupVersion = cloneGroups(m.groups), m.groupVersion
	b.offsets, b.offsetVersion = cloneOffsets(m.offsets), m.offsetVersion
	b.store = m.store // replication of messages is not modelled as late
}
