// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "maps"

// State is what a broker keeps on disk besides messages: configs, groups,
// committed offsets, request modes.
type State struct {
	topics        map[string]*TopicConfig
	topicVersion  dataVersion
	groups        map[string]*GroupConfig
	groupVersion  dataVersion
	offsets       map[string]map[int]int64
	pulled        map[string]map[int]int64
	offsetVersion dataVersion
	modes         map[string]map[string]RequestMode
}

// Save copies the state as it is now.
func (b *Broker) Save() State {
	b.c.enter()
	defer b.c.mu.Unlock()
	modes := map[string]map[string]RequestMode{}
	for topic, m := range b.modes {
		modes[topic] = maps.Clone(m)
	}
	return State{
		topics: cloneTopics(b.topics), topicVersion: b.topicVersion,
		groups: cloneGroups(b.groups), groupVersion: b.groupVersion,
		offsets: cloneOffsets(b.offsets), pulled: cloneOffsets(b.pulled), offsetVersion: b.offsetVersion,
		modes: modes,
	}
}

// RestartWith restarts the broker with an older state, as one whose disk was
// restored from a backup, or that crashed before it wrote. Messages stay; to
// lose some, use Truncate. The older counts go to the name servers.
func (b *Broker) RestartWith(s State) {
	b.Stop()
	b.c.enter()
	for name, t := range s.topics {
		b.noteChange(name, b.topics[name], t, "a restart with old state")
	}
	for name, t := range b.topics {
		if s.topics[name] == nil {
			b.noteChange(name, t, nil, "a restart with old state")
		}
	}
	b.topics, b.topicVersion = cloneTopics(s.topics), s.topicVersion
	b.groups, b.groupVersion = cloneGroups(s.groups), s.groupVersion
	b.offsets, b.pulled, b.offsetVersion = cloneOffsets(s.offsets), cloneOffsets(s.pulled), s.offsetVersion
	b.modes = map[string]map[string]RequestMode{}
	for topic, m := range s.modes {
		b.modes[topic] = maps.Clone(m)
	}
	b.c.mu.Unlock()
	b.Start()
}

// SetStatic marks a topic as having a logical queue mapping, which call 21
// shows and code 17 must not change (rocketmq.md 3.8).
func (b *Broker) SetStatic(topic string) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.static[topic] = true
}

// SetRequestMode says how a topic is handed to a group, PULL or POP.
func (b *Broker) SetRequestMode(topic, group, mode string) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.putMode(topic, group, RequestMode{Mode: mode})
}

func (b *Broker) putMode(topic, group string, m RequestMode) {
	if b.modes[topic] == nil {
		b.modes[topic] = map[string]RequestMode{}
	}
	b.modes[topic][group] = m
}

// SetPulled makes an entry in the table of pulled offsets alone, which 5.5.0
// shows in call 43: a reader that never commits (rule R07).
func (b *Broker) SetPulled(group, topic string, queueID int, offset int64) {
	b.c.enter()
	defer b.c.mu.Unlock()
	setOffset(b.pulled, offsetKey(topic, group), queueID, offset)
}
