// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"
	"sync"
)

// Key names an object: a namespace and a name. Which kind it is, the
// subscriber knows.
type Key struct{ Namespace, Name string }

// ID names an observed cluster: the BrokerCluster that declares it. Two IDs
// can lead to one RocketMQ; see [Identity].
type ID = Key

// Hub remembers who wants to be woken when which part of which cluster changes.
// It outlives observers, so a changed BrokerCluster loses no subscriber.
type Hub struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// NewHub makes a hub without subscribers.
func NewHub() *Hub { return &Hub{subs: map[*Subscription]struct{}{}} }

// Subscription is one consumer's interests. All its methods may be called at
// any time from any goroutine.
type Subscription struct {
	hub     *Hub
	enqueue func(Key)

	// All below is guarded by hub.mu.
	interests map[Key]interest
	// byTopic finds the keys of a topic without walking all interests.
	byTopic map[topicOf]map[Key]struct{}
	byID    map[ID]map[Key]struct{}
}

type interest struct {
	id     ID
	topics []string
}

type topicOf struct {
	id    ID
	topic string
}

// Subscribe registers enqueue, which is called once for every key whose part
// changed. It must not block: a controller's work queue, which holds each key
// once, is what it is for (rule K40); wakes that come from a sweep deserve its
// low priority.
func (h *Hub) Subscribe(enqueue func(Key)) *Subscription {
	s := &Subscription{
		hub: h, enqueue: enqueue,
		interests: map[Key]interest{},
		byTopic:   map[topicOf]map[Key]struct{}{},
		byID:      map[ID]map[Key]struct{}{},
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = struct{}{}
	return s
}

// Watch makes key be woken when one of the topics changes on the cluster, or
// when the cluster itself does: its brokers, whether they answer, whether its
// name servers agree. Without topics only the latter wakes it. A later Watch of
// the same key replaces the earlier.
func (s *Subscription) Watch(key Key, cluster ID, topics ...string) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if _, open := s.hub.subs[s]; !open {
		return
	}
	if was, ok := s.interests[key]; ok {
		if was.id == cluster && slices.Equal(was.topics, topics) {
			return
		}
		s.forget(key)
	}
	s.interests[key] = interest{id: cluster, topics: slices.Clone(topics)}
	add(s.byID, cluster, key)
	for _, t := range topics {
		add(s.byTopic, topicOf{cluster, t}, key)
	}
}

// Forget ends the interest of key. A topic that nobody watches is not asked for
// any more once its deletion begins (case P14).
func (s *Subscription) Forget(key Key) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.forget(key)
}

// Close ends all interests. The callback may still be running when it returns.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subs, s)
	clear(s.interests)
	clear(s.byTopic)
	clear(s.byID)
}

func (s *Subscription) forget(key Key) {
	was, ok := s.interests[key]
	if !ok {
		return
	}
	delete(s.interests, key)
	remove(s.byID, was.id, key)
	for _, t := range was.topics {
		remove(s.byTopic, topicOf{was.id, t}, key)
	}
}

// wake enqueues the keys whose part of the cluster changed, each once. The
// callbacks run without the lock, so they may call back into the hub.
func (h *Hub) wake(id ID, c change) {
	type call struct {
		enqueue func(Key)
		keys    map[Key]struct{}
	}
	var calls []call
	h.mu.Lock()
	for s := range h.subs {
		keys := map[Key]struct{}{}
		if c.cluster {
			maps.Copy(keys, s.byID[id])
		}
		for t := range c.topics {
			maps.Copy(keys, s.byTopic[topicOf{id, t}])
		}
		calls = append(calls, call{s.enqueue, keys})
	}
	h.mu.Unlock()
	for _, c := range calls {
		for k := range c.keys {
			c.enqueue(k)
		}
	}
}

// watched lists the topics that anybody watches on the cluster, sorted.
func (h *Hub) watched(id ID) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	topics := map[string]struct{}{}
	for s := range h.subs {
		for key := range s.byID[id] {
			for _, t := range s.interests[key].topics {
				topics[t] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(topics))
}

func add[K comparable](m map[K]map[Key]struct{}, k K, key Key) {
	if m[k] == nil {
		m[k] = map[Key]struct{}{}
	}
	m[k][key] = struct{}{}
}

func remove[K comparable](m map[K]map[Key]struct{}, k K, key Key) {
	delete(m[k], key)
	if len(m[k]) == 0 {
		delete(m, k)
	}
}
