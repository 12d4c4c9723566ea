// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// memberExpiry is how long a broker keeps a member that it hears nothing of;
// heartbeatPeriod is how often clients send heartbeats (rocketmq.md 5.6, 7).
const (
	memberExpiry    = 120 * time.Second
	heartbeatPeriod = 30 * time.Second
)

// considerMembers offers the next heartbeat of every living member.
func (c *Cluster) considerMembers(now time.Time, consider func(time.Time, func())) {
	for _, m := range c.members {
		if !m.alive {
			continue
		}
		consider(m.nextBeat, func() {
			m.beat()
			m.nextBeat = nextAfter(m.nextBeat, heartbeatPeriod, now)
		})
		consider(m.nextPersist, func() {
			m.persist()
			m.nextPersist = nextAfter(m.nextPersist, persistPeriod, now)
		})
		if len(m.resets) > 0 {
			consider(m.resets[0].at, m.doReset)
		}
	}
}

// MemberSpec describes a consumer on a classic client.
type MemberSpec struct {
	Group string
	// ClientID is made up if empty.
	ClientID string
	// Addr is the client's socket as brokers see it; made up if empty.
	Addr string
	// Subscriptions are tag expressions by topic.
	Subscriptions map[string]string
	// SQL holds SQL92 expressions by topic.
	SQL map[string]string
	// SubVersion is the version of its subscriptions; the time of joining, in
	// milliseconds, if zero.
	SubVersion int64
	Broadcast  bool
	// Active is a pull consumer (CONSUME_ACTIVELY).
	Active bool
	// From is the start of a group without an entry:
	// CONSUME_FROM_LAST_OFFSET if empty.
	From string
	// Language and ClientVersion default to JAVA and 5.3.1.
	Language      string
	ClientVersion int
	// Strategy is the Java class name of its allocation strategy.
	Strategy string
	// Brokers limits the brokers that hear of it; empty is every broker that
	// hosts one of its topics.
	Brokers []string
	// Silent members do not answer call 307.
	Silent bool
	// POP members take messages instead of queues (rocketmq.md 5.5).
	POP bool
}

// Member is a consumer that lives inside the cluster, without a socket. It
// sends heartbeats as the clock moves.
type Member struct {
	c        *Cluster
	spec     MemberSpec
	started  time.Time
	alive    bool
	nextBeat time.Time
	// positions are what the client holds itself: all of a broadcast member's,
	// those not yet committed of a clustering one.
	positions   map[queuePlace]int64
	nextPersist time.Time
	resets      []clientReset // what brokers told it to reset (4.9)
}

// queuePlace names a queue in the cluster.
type queuePlace struct {
	topic, broker string
	id            int
}

// Join starts a member and sends its first heartbeat.
func (c *Cluster) Join(spec MemberSpec) *Member {
	c.enter()
	defer c.mu.Unlock()
	c.nextPort++
	if spec.Addr == "" {
		spec.Addr = fmt.Sprintf("127.0.0.1:%d", c.nextPort)
	}
	if spec.ClientID == "" {
		spec.ClientID = fmt.Sprintf("127.0.0.1@%d#%d", c.nextPort, c.nextPort)
	}
	if spec.SubVersion == 0 {
		spec.SubVersion = c.now().UnixMilli()
	}
	if spec.From == "" {
		spec.From = "CONSUME_FROM_LAST_OFFSET"
	}
	if spec.Language == "" {
		spec.Language = "JAVA"
	}
	if spec.ClientVersion == 0 {
		spec.ClientVersion = 475
	}
	spec.Subscriptions = maps.Clone(spec.Subscriptions)
	m := &Member{c: c, spec: spec, started: c.now(), alive: true, positions: map[queuePlace]int64{}}
	m.nextBeat, m.nextPersist = c.now().Add(heartbeatPeriod), c.now().Add(persistPeriod)
	c.members = append(c.members, m)
	m.beat()
	return m
}

func (m *Member) model() string {
	if m.spec.Broadcast {
		return "BROADCASTING"
	}
	return "CLUSTERING"
}

func (m *Member) consumeType() string {
	if m.spec.Active {
		return "CONSUME_ACTIVELY"
	}
	return "CONSUME_PASSIVELY"
}

// subscriptions are the member's own, with its retry topic.
func (m *Member) subscriptions() []Subscription {
	var subs []Subscription
	add := func(table map[string]string, kind string) {
		for _, topic := range slices.Sorted(maps.Keys(table)) {
			subs = append(subs, Subscription{Topic: topic, Expression: table[topic], Type: kind, Version: m.spec.SubVersion})
		}
	}
	add(m.spec.Subscriptions, "TAG")
	add(m.spec.SQL, "SQL92")
	if !m.spec.Broadcast {
		add(map[string]string{retryPrefix + m.spec.Group: "*"}, "TAG")
	}
	return subs
}

// hears reports whether a broker is one that the member talks to.
func (m *Member) hears(b *Broker) bool {
	if !b.up || b.hung || len(m.spec.Brokers) > 0 && !slices.Contains(m.spec.Brokers, b.name) {
		return false
	}
	for _, s := range m.subscriptions() {
		if b.topics[s.Topic] != nil {
			return true
		}
	}
	return false
}

func (m *Member) beat() {
	h := heartbeat{group: m.spec.Group, consumeType: m.consumeType(), model: m.model(), from: m.spec.From, subs: m.subscriptions()}
	for _, b := range m.c.brokers {
		if m.hears(b) {
			b.registerConsumer(&connection{
				clientID: m.spec.ClientID, addr: m.spec.Addr, language: m.spec.Language,
				version: m.spec.ClientVersion, seen: m.c.now(), member: m,
			}, h)
		}
	}
}

// Heartbeat sends one now.
func (m *Member) Heartbeat() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.beat()
}

// Subscribe changes an expression, or adds a topic, and sends a heartbeat.
func (m *Member) Subscribe(topic, expression string) {
	m.c.enter()
	defer m.c.mu.Unlock()
	if m.spec.Subscriptions == nil {
		m.spec.Subscriptions = map[string]string{}
	}
	m.spec.Subscriptions[topic] = expression
	m.spec.SubVersion = max(m.spec.SubVersion+1, m.c.now().UnixMilli())
	m.beat()
}

// Leave stops the member in good order: brokers forget it at once.
func (m *Member) Leave() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.persist()
	m.alive = false
	for _, b := range m.c.brokers {
		b.forgetConnections(func(k *connection) bool { return k.member == m })
	}
}

// Kill stops the member without a word, as a machine that is lost: brokers keep
// it for two minutes after its last heartbeat.
func (m *Member) Kill() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.alive = false
}

// ClientID is the member's client id.
func (m *Member) ClientID() string { return m.spec.ClientID }
