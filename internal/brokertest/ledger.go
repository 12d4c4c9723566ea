// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strings"
)

// Messages lists every message that landed on a queue of the topic, on all
// brokers, in the order of landing. Copies that wait under system topics are
// not among them.
func (c *Cluster) Messages(topic string) []*Message {
	c.enter()
	defer c.mu.Unlock()
	var out []*Message
	for _, m := range c.ledger {
		if m.Topic == topic {
			out = append(out, m)
		}
	}
	return out
}

// Deliveries is how often a message was handled by a group, itself or as the
// copy that came back after a failed delivery.
func (c *Cluster) Deliveries(m *Message, group string) int {
	c.enter()
	defer c.mu.Unlock()
	n := 0
	for ; m != nil; m = m.carried[group] {
		n += m.delivered[group]
	}
	return n
}

// Loss is a message that a group did not get and cannot get any more, as
// things are.
type Loss struct {
	Message *Message
	Group   string
	Why     string
}

// String is the loss in one line.
func (l Loss) String() string { return fmt.Sprintf("%s for group %s: %s", l.Message, l.Group, l.Why) }

// Lost lists the messages of a topic that a group neither got nor can still
// read from where it stands. A message that expired before the group read it,
// or that its filter passed over, is not counted.
func (c *Cluster) Lost(topic string, groups ...string) []Loss {
	c.enter()
	defer c.mu.Unlock()
	var out []Loss
	for _, m := range c.ledger {
		if m.Topic != topic {
			continue
		}
		for _, group := range groups {
			if why := c.whyLost(m, group); why != "" {
				out = append(out, Loss{m, group, why})
			}
		}
	}
	return out
}

func (c *Cluster) whyLost(m *Message, group string) string {
	if m.delivered[group] > 0 || m.filtered[group] {
		return ""
	}
	if carrier, is := m.carried[group]; is {
		if carrier == nil || carrier.Stored.IsZero() {
			return "" // in flight, or waiting for its delay
		}
		return c.whyLost(carrier, group)
	}
	b := c.replica(m.Broker, 0)
	t := b.topics[m.Topic]
	switch {
	case t == nil:
		return "the topic is gone from the broker"
	case m.Offset >= 0 && m.Offset < b.store.min(m.Topic, m.Queue):
		return ""
	case m.Queue >= t.Read:
		return fmt.Sprintf("its queue is not readable, for the broker has %d read queues", t.Read)
	case t.Perm&4 == 0:
		return "the topic is not readable"
	case m.Offset < 0:
		return "" // not dispatched yet
	}
	if q := b.store.get(m.Topic, m.Queue); q == nil || q.at(m.Offset) != m {
		return "its queue was deleted"
	}
	if at := c.startOf(group, b, queuePlace{m.Topic, m.Broker, m.Queue}); at > m.Offset {
		return fmt.Sprintf("the group stands at %d, behind it", at)
	}
	return ""
}

// RequireNothingLost fails the test unless every message of the topic was
// delivered to each group, or waits for it on a readable queue.
func (c *Cluster) RequireNothingLost(t TB, topic string, groups ...string) {
	t.Helper()
	lost := c.Lost(topic, groups...)
	if len(lost) == 0 {
		return
	}
	text := make([]string, 0, len(lost))
	for _, l := range lost[:min(20, len(lost))] {
		text = append(text, l.String())
	}
	t.Fatalf("%d messages are lost:\n%s", len(lost), strings.Join(text, "\n"))
}

// RequireAllDelivered fails the test unless every message of the topic was
// delivered to each group at least once.
func (c *Cluster) RequireAllDelivered(t TB, topic string, groups ...string) {
	t.Helper()
	for _, m := range c.Messages(topic) {
		for _, g := range groups {
			if c.Deliveries(m, g) == 0 {
				t.Fatalf("%s was not delivered to group %s", m, g)
			}
		}
	}
}
