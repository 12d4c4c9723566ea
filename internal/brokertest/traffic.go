// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// CreateTopic creates a topic with these counts on every master, as a tool
// outside Kubernetes would. It is no recorded call.
func (c *Cluster) CreateTopic(topic string, read, write int) {
	c.enter()
	defer c.mu.Unlock()
	for _, b := range c.masters() {
		b.putTopic(TopicConfig{Name: topic, Read: read, Write: write, Perm: 6, FilterType: "SINGLE_TAG"})
	}
}

// PutTopic stores a whole config on one broker and registers it, as a tool
// outside Kubernetes would.
func (b *Broker) PutTopic(t TopicConfig) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.putTopic(t)
}

func (b *Broker) putTopic(t TopicConfig) {
	if t.FilterType == "" {
		t.FilterType = "SINGLE_TAG"
	}
	if !b.version.five() {
		t.Attributes = nil
	}
	b.setTopic(t.clone(), "somebody else")
	if b.up && !b.hung {
		b.register([]*TopicConfig{b.topics[t.Name]})
	}
}

// Topic is the config as the broker has it.
func (b *Broker) Topic(name string) (TopicConfig, bool) {
	b.c.enter()
	defer b.c.mu.Unlock()
	if t := b.topics[name]; t != nil {
		return *t.clone(), true
	}
	return TopicConfig{}, false
}

// DropTopic deletes a topic on one broker as call 215 does, leaving it in the
// routes.
func (b *Broker) DropTopic(name string) {
	b.c.enter()
	defer b.c.mu.Unlock()
	b.dropTopic(name, "somebody else")
}

// CreateGroup creates a group with default settings on every master.
func (c *Cluster) CreateGroup(group string) {
	c.enter()
	defer c.mu.Unlock()
	for _, b := range c.masters() {
		g := DefaultGroup(group)
		b.groups[group] = &g
		b.groupVersion.next(c.now())
	}
}

// PutGroup stores a group's config on one broker.
func (b *Broker) PutGroup(g GroupConfig) {
	b.c.enter()
	defer b.c.mu.Unlock()
	g.Attributes = maps.Clone(g.Attributes)
	b.groups[g.Name] = &g
	b.groupVersion.next(b.c.now())
}

// Group is a group's config as the broker has it.
func (b *Broker) Group(name string) (GroupConfig, bool) {
	b.c.enter()
	defer b.c.mu.Unlock()
	if g := b.groups[name]; g != nil {
		cfg := *g
		cfg.Attributes = maps.Clone(g.Attributes)
		return cfg, true
	}
	return GroupConfig{}, false
}

// ErrDown is the error of traffic to a broker that does not answer.
var ErrDown = errors.New("the broker does not answer")

// sendTo stores one message, as a producer that chose the queue. The caller
// holds mu.
func (c *Cluster) sendTo(broker string, m *Message) (*Message, error) {
	b := c.replica(broker, 0)
	if b == nil || !b.up || b.hung {
		return nil, fmt.Errorf("send to %s: %w", broker, ErrDown)
	}
	id, refused := b.accept(m.Topic, m.Queue)
	if refused != nil {
		return nil, fmt.Errorf("send to %s queue %d of %s: %w", m.Topic, m.Queue, broker, refused)
	}
	m.Queue = id
	return b.storeSent(m), nil
}

func (c *Cluster) newMessage(topic string, queueID int, props map[string]string) *Message {
	c.nextID++
	id := fmt.Sprintf("m-%d", c.nextID)
	p := map[string]string{"KEYS": id, "UNIQ_KEY": id, "WAIT": "true"}
	maps.Copy(p, props)
	return &Message{ID: id, Topic: topic, Queue: queueID, Key: p["KEYS"], Tag: p["TAGS"], Body: "body of " + id, Properties: p}
}

func (c *Cluster) produce(topic, broker string, queueID, n int, props map[string]string) ([]*Message, error) {
	c.enter()
	defer c.mu.Unlock()
	var out []*Message
	for range n {
		m, err := c.sendTo(broker, c.newMessage(topic, queueID, props))
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Produce sends n messages to one queue, as a producer that chooses queues
// itself. The broker takes any id below max(read, write).
func (c *Cluster) Produce(topic, broker string, queueID, n int) error {
	_, err := c.produce(topic, broker, queueID, n, nil)
	return err
}

// ProduceTagged sends n messages with a tag.
func (c *Cluster) ProduceTagged(topic, broker string, queueID, n int, tag string) error {
	_, err := c.produce(topic, broker, queueID, n, map[string]string{"TAGS": tag})
	return err
}

// ProduceDelayed sends n messages with a delay level (1 is the first). They are
// stamped with the queue id now and land on it later, whatever the counts are
// then (rocketmq.md 4.4).
func (c *Cluster) ProduceDelayed(topic, broker string, queueID, level, n int) error {
	_, err := c.produce(topic, broker, queueID, n, map[string]string{propLevel: strconv.Itoa(level)})
	return err
}

// ProduceTimer sends n messages that are due after the delay, by the timer
// wheel; 4.9 has none and delivers them at once.
func (c *Cluster) ProduceTimer(topic, broker string, queueID int, delay time.Duration, n int) error {
	_, err := c.produce(topic, broker, queueID, n, map[string]string{"TIMER_DELAY_MS": strconv.FormatInt(delay.Milliseconds(), 10)})
	return err
}

// Half is a half message of an open transaction.
type Half struct {
	b  *Broker
	id string
}

// ProduceHalf sends the half message of a transaction.
func (c *Cluster) ProduceHalf(topic, broker string, queueID int) (*Half, error) {
	out, err := c.produce(topic, broker, queueID, 1, map[string]string{"TRAN_MSG": "true"})
	if err != nil {
		return nil, err
	}
	return &Half{b: c.Broker(broker), id: out[0].ID}, nil
}

// Commit ends the transaction: the message lands on the queue it was stamped
// for. It reports whether the broker still had the half.
func (h *Half) Commit() bool { return h.end(true) }

// Rollback ends the transaction without a message.
func (h *Half) Rollback() bool { return h.end(false) }

func (h *Half) end(commit bool) bool {
	h.b.c.enter()
	defer h.b.c.mu.Unlock()
	return h.b.endHalf(h.id, commit)
}

// Producer sends by a route it once read, as clients do between polls.
type Producer struct {
	c      *Cluster
	ns     *NameServer
	topic  string
	queues []queuePlace
	next   int
}

// NewProducer makes a producer that reads the topic's route from one name
// server, now and at Refresh.
func (c *Cluster) NewProducer(nameServer int, topic string) *Producer {
	p := &Producer{c: c, ns: c.ns[nameServer], topic: topic}
	p.Refresh()
	return p
}

// Refresh reads the route again; without a route the old one stays.
func (p *Producer) Refresh() {
	p.c.enter()
	defer p.c.mu.Unlock()
	if !p.ns.up || p.ns.hung || len(p.ns.topics[p.topic]) == 0 {
		return
	}
	order := p.ns.orderCounts(p.topic)
	p.queues = nil
	for _, broker := range slices.Sorted(maps.Keys(p.ns.topics[p.topic])) {
		q := p.ns.topics[p.topic][broker]
		d := p.ns.brokers[broker]
		if d == nil || d.addrs[0] == "" || q.Perm&2 == 0 {
			continue
		}
		writes := q.Write
		if order != nil {
			writes = order[broker]
		}
		for id := range max(0, writes) {
			p.queues = append(p.queues, queuePlace{p.topic, broker, id})
		}
	}
}

// Send sends n messages round robin over the route's writable queues. It stops
// at the first refusal.
func (p *Producer) Send(n int) error {
	p.c.enter()
	defer p.c.mu.Unlock()
	if len(p.queues) == 0 {
		return fmt.Errorf("no route to %s", p.topic)
	}
	for range n {
		q := p.queues[p.next%len(p.queues)]
		p.next++
		if _, err := p.c.sendTo(q.broker, p.c.newMessage(p.topic, q.id, nil)); err != nil {
			return err
		}
	}
	return nil
}

// ProduceBy sends n messages round robin by the route as one name server has
// it now.
func (c *Cluster) ProduceBy(nameServer int, topic string, n int) error {
	return c.NewProducer(nameServer, topic).Send(n)
}

// orderCounts are the counts producers take from an order configuration in
// place of the write counts; nil if there is none.
func (s *NameServer) orderCounts(topic string) map[string]int {
	conf := s.kv[orderNamespace][topic]
	if conf == "" || !s.c.opts.OrderMessageEnable {
		return nil
	}
	return parseOrder(conf)
}
