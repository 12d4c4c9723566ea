// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Change is one change of a topic's config on a master.
type Change struct {
	At     time.Time
	Topic  string
	Broker string
	// Before and After are nil where the topic did not or does not exist.
	Before, After *TopicConfig
	// By is the recorded call in one line, or who else did it.
	By string
}

// String is the change in one line.
func (c Change) String() string {
	counts := func(t *TopicConfig) string {
		if t == nil {
			return "none"
		}
		return fmt.Sprintf("r=%d w=%d perm=%d", t.Read, t.Write, t.Perm)
	}
	return fmt.Sprintf("%s %s: %s -> %s by %s", c.Broker, c.Topic, counts(c.Before), counts(c.After), c.By)
}

// Watch asserts read ≥ write ≥ 1 on every broker for the topics, now and after
// every change; RequireInvariants reports what was found.
func (c *Cluster) Watch(topics ...string) {
	c.enter()
	defer c.mu.Unlock()
	for _, topic := range topics {
		c.watched[topic] = true
		for _, b := range c.masters() {
			if t := b.topics[topic]; t != nil {
				c.judge(b.name, t, "the watch began")
			}
		}
	}
}

// noteChange keeps the history of masters and judges the new state.
func (b *Broker) noteChange(topic string, before, after *TopicConfig, by string) {
	if b.id > 0 {
		return
	}
	ch := Change{At: b.c.now(), Topic: topic, Broker: b.name, By: by}
	if before != nil {
		ch.Before = before.clone()
	}
	if after != nil {
		ch.After = after.clone()
	}
	b.c.history = append(b.c.history, ch)
	if after != nil && b.c.watched[topic] {
		b.c.judge(b.name, after, by)
	}
}

func (c *Cluster) judge(broker string, t *TopicConfig, by string) {
	if t.Read < t.Write || t.Write < 1 {
		c.violated = append(c.violated, fmt.Sprintf("%s on %s has read %d, write %d after %s", t.Name, broker, t.Read, t.Write, by))
	}
}

// Violations lists what broke read ≥ write ≥ 1 on a watched topic.
func (c *Cluster) Violations() []string {
	c.enter()
	defer c.mu.Unlock()
	return slices.Clone(c.violated)
}

// RequireInvariants fails the test if a watched topic ever had read < write or
// write < 1 on any broker.
func (c *Cluster) RequireInvariants(t TB) {
	t.Helper()
	if v := c.Violations(); len(v) > 0 {
		t.Fatalf("read >= write >= 1 was broken:\n%s", strings.Join(v, "\n"))
	}
}

// History lists the changes of a topic's config on all masters, in order.
func (c *Cluster) History(topic string) []Change {
	c.enter()
	defer c.mu.Unlock()
	var out []Change
	for _, ch := range c.history {
		if ch.Topic == topic {
			out = append(out, ch)
		}
	}
	return out
}
