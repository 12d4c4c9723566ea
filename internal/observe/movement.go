// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// movementMemory is how long the movement of a topic's groups is remembered
// after its last look; only topics in change are looked at.
const movementMemory = time.Hour

// movement remembers when each group's offsets on a topic were last seen to
// move, for the sentence that says how long a group has stood still. Brokers do
// not keep it, so it begins anew with each process.
type movement struct {
	mu     sync.Mutex
	topics map[string]*topicMovement
}

type topicMovement struct {
	looked time.Time
	groups map[string]*groupMovement
}

type groupMovement struct {
	committed map[string]map[int]int64 // by broker and queue
	moved     time.Time
}

func newMovement() *movement { return &movement{topics: map[string]*topicMovement{}} }

// note takes in a look and fills in LastCommit of its groups.
func (m *movement) note(topic string, look snapshot.TopicLook, groups map[string]snapshot.GroupOnTopic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, t := range m.topics {
		if look.Started.Sub(t.looked) > movementMemory {
			delete(m.topics, name)
		}
	}
	t := m.topics[topic]
	if t == nil {
		t = &topicMovement{groups: map[string]*groupMovement{}}
		m.topics[topic] = t
	}
	t.looked = look.Started
	for name, g := range groups {
		now := map[string]map[int]int64{}
		for broker, b := range look.Brokers {
			all, _ := b.Committed.Get()
			now[broker] = all[name]
		}
		last := t.groups[name]
		switch {
		case last == nil:
			last = &groupMovement{}
			t.groups[name] = last
		case !maps.EqualFunc(last.committed, now, maps.Equal[map[int]int64, map[int]int64]):
			last.moved = look.Started
		}
		last.committed = now
		g.LastCommit = last.moved
		groups[name] = g
	}
	for name := range t.groups {
		if _, still := groups[name]; !still {
			delete(t.groups, name)
		}
	}
}
