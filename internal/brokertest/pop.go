// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// reviveDelay is how much later than the invisible time an unacknowledged
// message comes back (rocketmq.md 4.5).
const reviveDelay = 3 * time.Second

// Popped is a message in flight: the group's offset is past it already, and it
// returns through the retry topic unless it is acknowledged in time.
type Popped struct {
	*Message
	Group string

	c   *Cluster
	due time.Time
	end bool
}

// Pop lets a POP group (remoting POP or gRPC) take up to n messages of a topic
// (all if n < 0), invisible to others for a while. Committed offsets move as
// the messages are handed out.
func (c *Cluster) Pop(group, topic string, n int, invisible time.Duration) []*Popped {
	c.enter()
	defer c.mu.Unlock()
	var got []*Popped
	for _, p := range append(c.readable(topic), c.readable(retryTopic(group, topic))...) {
		b := c.replica(p.broker, 0)
		if b.hung || !b.version.five() {
			continue
		}
		if g := b.findGroup(group); g == nil || !g.ConsumeEnable {
			continue
		}
		b.notePop(group, topic)
		at := b.popStart(group, p)
		for high := b.store.max(p.topic, p.id); at < high && (n < 0 || len(got) < n); at++ {
			m := b.store.get(p.topic, p.id).at(at)
			m.carry(group, nil)
			got = append(got, &Popped{Message: m, Group: group, c: c, due: c.now().Add(invisible + reviveDelay)})
		}
		b.commit(group, p.topic, p.id, at)
	}
	c.inflight = append(c.inflight, got...)
	return got
}

// retryTopic is where unacknowledged messages of a POP group return (v1,
// rocketmq.md 11.4).
func retryTopic(group, topic string) string { return retryPrefix + group + "_" + topic }

// carry notes that a copy, or the wait for one, stands for the message.
func (m *Message) carry(group string, by *Message) {
	if m.carried == nil {
		m.carried = map[string]*Message{}
	}
	m.carried[group] = by
}

// notePop leaves the trace that call 345 shows (rocketmq.md 3.19).
func (b *Broker) notePop(group, topic string) {
	if b.compensation[group] == nil {
		b.compensation[group] = map[string]Subscription{}
	}
	b.compensation[group][topic] = Subscription{Topic: topic, Expression: "*", Type: "TAG", Version: b.c.now().UnixMilli()}
}

// popStart is where a pop begins; a group without an entry begins at the last
// message, not behind it, unless the queue's start is in memory.
func (b *Broker) popStart(group string, p queuePlace) int64 {
	key := offsetKey(p.topic, group)
	if to, pending := b.resets[key][p.id]; pending {
		delete(b.resets[key], p.id)
		return to
	}
	low, high := b.store.min(p.topic, p.id), b.store.max(p.topic, p.id)
	at := b.committed(group, p.topic, p.id)
	switch {
	case at < 0 && b.atStart(p.topic, p.id):
		at = 0
	case at < 0:
		at = high - 1
	}
	return min(max(at, low), high)
}

// ErrLate is the error of an acknowledgement that comes after the message was
// given to somebody else.
var ErrLate = errors.New("the message is no longer in flight")

// Ack acknowledges the message. The broker refuses it for a queue that is no
// longer readable, and the message is then delivered again (rocketmq.md 4.5).
func (p *Popped) Ack() error {
	p.c.enter()
	defer p.c.mu.Unlock()
	if p.end {
		return ErrLate
	}
	b := p.c.replica(p.Broker, 0)
	t := b.topics[p.Topic]
	switch {
	case !b.up || b.hung:
		return fmt.Errorf("acknowledge on %s: %w", p.Broker, ErrDown)
	case t == nil || p.Queue >= t.Read:
		return &sendError{messageIllegal, fmt.Sprintf("queueId[%d] is illegal", p.Queue)}
	}
	p.end = true
	p.delivered[p.Group]++
	delete(p.carried, p.Group)
	return nil
}

// revive brings a message back that was not acknowledged.
func (p *Popped) revive() {
	p.end = true
	b := p.c.replica(p.Broker, 0)
	topic := p.Topic
	if !strings.HasPrefix(topic, retryPrefix) {
		topic = retryTopic(p.Group, topic)
	}
	b.ensureTopic(topic, 1)
	props := maps.Clone(p.Properties)
	m := b.put(&Message{Topic: topic, Key: p.Key, Tag: p.Tag, Body: p.Body, Properties: props, Reconsumed: p.Reconsumed + 1})
	p.carry(p.Group, m)
}

// considerInflight offers the return of unacknowledged messages.
func (c *Cluster) considerInflight(consider func(time.Time, func())) {
	c.inflight = slices.DeleteFunc(c.inflight, func(p *Popped) bool { return p.end })
	for _, p := range c.inflight {
		if b := c.replica(p.Broker, 0); b.up && !b.hung {
			consider(p.due, p.revive)
		}
	}
}

// SendBack is what a classic client does with a message it could not handle: it
// goes to a random queue of the group's retry topic after the delay level
// (rocketmq.md 4.4). The queue is chosen by the group's retry queue count, which
// is not the retry topic's own count (case Q17).
func (c *Cluster) SendBack(group string, m *Message, level int) {
	c.enter()
	defer c.mu.Unlock()
	b := c.replica(m.Broker, 0)
	g := b.findGroup(group)
	if g == nil || g.RetryQueues <= 0 {
		return // thrown away, with success
	}
	topic := retryPrefix + group
	b.ensureTopic(topic, g.RetryQueues)
	copyOf := c.newMessage(topic, rand.IntN(g.RetryQueues), map[string]string{"TAGS": m.Tag, "RETRY_TOPIC": m.Topic})
	copyOf.Reconsumed = m.Reconsumed + 1
	b.putDelayed(copyOf, level)
	m.delivered[group]--
	m.carry(group, copyOf)
}
