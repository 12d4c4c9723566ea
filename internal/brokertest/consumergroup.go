// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Subscription is what one member or table wants of a topic.
type Subscription struct {
	Topic      string
	Expression string
	// Type is TAG or SQL92.
	Type    string
	Version int64
}

func (s Subscription) tags() []string {
	var tags []string
	for _, t := range strings.Split(s.Expression, "||") {
		if t = strings.TrimSpace(t); t != "" && t != "*" {
			tags = append(tags, t)
		}
	}
	return tags
}

// wants reports whether a tag expression lets a message pass.
func (s Subscription) wants(tag string) bool {
	tags := s.tags()
	return s.Type == "SQL92" || len(tags) == 0 || slices.Contains(tags, tag)
}

func (s Subscription) json() jObject {
	o := jObject{
		"classFilterMode": false, "expressionType": s.Type, "subString": s.Expression,
		"subVersion": s.Version, "topic": s.Topic, "codeSet": jList{}, "tagsSet": []string{},
	}
	if s.Type == "TAG" {
		codes := jList{}
		for _, t := range s.tags() {
			codes = append(codes, int64(javaHash(t)))
		}
		o["codeSet"], o["tagsSet"] = codes, append([]string{}, s.tags()...)
	}
	return o
}

// connection is a client as a broker has it.
type connection struct {
	clientID, addr, language string
	version                  int
	seen                     time.Time
	wire                     *clientConn // the client's connection, or
	member                   *Member     // the member it stands for
}

func (k *connection) json() jObject {
	return jObject{"clientAddr": k.addr, "clientId": k.clientID, "language": k.language, "version": k.version}
}

// consumerGroup is a group's live side on one broker (rocketmq.md 5.2).
type consumerGroup struct {
	conns       map[string]*connection // by address
	table       map[string]*Subscription
	consumeType string
	model       string
	from        string
}

// heartbeat is what one member says of one group.
type heartbeat struct {
	group, consumeType, model, from string
	subs                            []Subscription
}

func newConsumerGroup() *consumerGroup {
	return &consumerGroup{conns: map[string]*connection{}, table: map[string]*Subscription{}}
}

// take takes a member's heartbeat: the last member's type, model and start win,
// a topic's expression only with a higher version, and topics the heartbeat
// lacks are removed, whoever put them there. It reports whether members or
// topics changed; a changed expression is no change.
func (g *consumerGroup) take(k *connection, h heartbeat) bool {
	changed := g.conns[k.addr] == nil
	g.conns[k.addr] = k
	g.consumeType, g.model, g.from = h.consumeType, h.model, h.from
	listed := map[string]bool{}
	for _, s := range h.subs {
		listed[s.Topic] = true
		old := g.table[s.Topic]
		changed = changed || old == nil
		if old == nil || s.Version > old.Version {
			g.table[s.Topic] = &s
		}
	}
	for topic := range g.table {
		if !listed[topic] {
			delete(g.table, topic)
			changed = true
		}
	}
	return changed
}

// notify tells connected members that members or topics changed (code 40).
func (b *Broker) notify(group string) {
	g, cfg := b.consumers[group], b.groups[group]
	if g == nil || cfg == nil || !cfg.NotifyEnable || b.version.five() && g.model == "BROADCASTING" {
		return
	}
	for _, k := range g.conns {
		if k.wire != nil {
			k.wire.tell(remoting.ReqNotifyConsumerIdsChanged, map[string]string{"consumerGroup": group}, nil)
		}
	}
}

// registerConsumer takes a heartbeat of one group.
func (b *Broker) registerConsumer(k *connection, h heartbeat) {
	cfg := b.findGroup(h.group)
	if cfg == nil {
		return // silently skipped
	}
	b.ensureTopic(retryPrefix+h.group, cfg.RetryQueues)
	g := b.consumers[h.group]
	if g == nil {
		g = newConsumerGroup()
		b.consumers[h.group] = g
	}
	if g.take(k, h) {
		b.notify(h.group)
	}
}

// ensureTopic creates a topic as the broker itself does for retries.
func (b *Broker) ensureTopic(name string, queues int) {
	if b.topics[name] != nil || queues <= 0 {
		return
	}
	b.setTopic(&TopicConfig{Name: name, Read: queues, Write: queues, Perm: 6, FilterType: "SINGLE_TAG"}, "broker "+b.name)
	b.registerAll()
}

// drop removes a connection from a group.
func (b *Broker) drop(group, addr string) {
	if g := b.consumers[group]; g != nil {
		delete(g.conns, addr)
		if len(g.conns) == 0 {
			delete(b.consumers, group)
		}
		b.notify(group)
	}
}

// connectionLost forgets the clients that came over a connection.
func (c *Cluster) connectionLost(cc *clientConn) {
	for _, b := range c.brokers {
		b.forgetConnections(func(k *connection) bool { return k.wire == cc })
	}
}

func (b *Broker) forgetConnections(gone func(*connection) bool) {
	for name, g := range b.consumers {
		for addr, k := range g.conns {
			if gone(k) {
				b.drop(name, addr)
			}
		}
	}
	for _, p := range b.producers {
		maps.DeleteFunc(p, func(_ string, k *connection) bool { return gone(k) })
	}
}

// expireMembers forgets clients that were silent too long.
func (c *Cluster) expireMembers(now time.Time) {
	for _, b := range c.brokers {
		if b.up && !b.hung {
			b.forgetConnections(func(k *connection) bool { return now.Sub(k.seen) > memberExpiry })
		}
	}
}
