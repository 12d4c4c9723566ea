// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// grpcPeriod is how often gRPC clients send heartbeats (rocketmq-live.md 1).
const grpcPeriod = 10 * time.Second

// syncerGroup is the proxies' own group on the heartbeat topic.
const syncerGroup = "CID_DefaultHeartBeatSyncerTopic"

// GRPCSpec describes a consumer on a gRPC client.
type GRPCSpec struct {
	Group string
	// ClientID is made up from Hostname if empty.
	ClientID string
	// Hostname is the pod's name as the client reports it.
	Hostname string
	// Addr is the client's socket as the proxy sees it; made up if empty.
	Addr string
	// Subscriptions are tag expressions by topic.
	Subscriptions map[string]string
	// Simple is a SimpleConsumer, else a PushConsumer.
	Simple bool
	FIFO   bool
	// Proxy is the index of the proxy it connects to.
	Proxy int
}

// GRPCMember is a consumer behind a CLUSTER proxy. Brokers never hear of it:
// the proxies tell each other through a topic (rocketmq.md 5.6).
type GRPCMember struct {
	c        *Cluster
	spec     GRPCSpec
	alive    bool
	version  int64
	sent     int
	nextBeat time.Time
}

// JoinGRPC connects a gRPC member to a proxy, which writes its first record.
func (c *Cluster) JoinGRPC(spec GRPCSpec) *GRPCMember {
	c.enter()
	defer c.mu.Unlock()
	c.nextPort++
	if spec.Hostname == "" {
		spec.Hostname = fmt.Sprintf("pod-%d", c.nextPort)
	}
	if spec.ClientID == "" {
		spec.ClientID = fmt.Sprintf("%s@1@0@%s", spec.Hostname, strconv.FormatInt(int64(c.nextPort)*7919, 36))
	}
	if spec.Addr == "" {
		spec.Addr = fmt.Sprintf("127.0.0.1:%d", c.nextPort)
	}
	spec.Subscriptions = maps.Clone(spec.Subscriptions)
	m := &GRPCMember{c: c, spec: spec, alive: true, version: c.now().UnixMilli()}
	c.grpc = append(c.grpc, m)
	m.beat()
	m.nextBeat = c.now().Add(grpcPeriod)
	return m
}

// ClientID is the member's client id, with three "@".
func (m *GRPCMember) ClientID() string { return m.spec.ClientID }

// Subscribe changes the member's expressions from its next record on.
func (m *GRPCMember) Subscribe(topic, expression string) {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.spec.Subscriptions[topic] = expression
	m.version = max(m.version+1, m.c.now().UnixMilli())
	m.beat()
}

// Leave ends the member in good order, with an UNREGISTER record.
func (m *GRPCMember) Leave() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.alive = false
	m.write("UNREGISTER")
	for _, p := range m.c.proxies {
		p.drop(m.spec.Group, m.spec.Addr)
	}
}

// Kill ends the member without a word: there is never an UNREGISTER record.
func (m *GRPCMember) Kill() {
	m.c.enter()
	defer m.c.mu.Unlock()
	m.alive = false
}

func (m *GRPCMember) consumeType() string {
	if m.spec.Simple {
		return "CONSUME_ACTIVELY"
	}
	return "CONSUME_PASSIVELY"
}

func (m *GRPCMember) subscriptions() []Subscription {
	var subs []Subscription
	for _, topic := range slices.Sorted(maps.Keys(m.spec.Subscriptions)) {
		subs = append(subs, Subscription{Topic: topic, Expression: m.spec.Subscriptions[topic], Type: "TAG", Version: m.version})
	}
	return subs
}

// beat registers the member with the proxies and writes a record.
func (m *GRPCMember) beat() {
	own := m.c.proxies[m.spec.Proxy]
	if !own.up || own.hung {
		return
	}
	for _, p := range m.c.proxies {
		if p.up && (p == own || m.c.synced()) {
			p.register(m)
		}
	}
	m.write("REGISTER")
}

// synced reports whether proxies can read each other's records: their group
// must exist or be created (rocketmq-live.md 1.1).
func (c *Cluster) synced() bool {
	for _, b := range c.masters() {
		if b.up && b.topics[topicHeartbeat] != nil && b.findGroup(syncerGroup) == nil {
			return false
		}
	}
	return true
}

// write puts a record into the heartbeat topic of the next master in turn.
func (m *GRPCMember) write(kind string) {
	own := m.c.proxies[m.spec.Proxy]
	var masters []*Broker
	for _, b := range m.c.masters() {
		if b.up && b.topics[topicHeartbeat] != nil {
			masters = append(masters, b)
		}
	}
	if len(masters) == 0 {
		return
	}
	b := masters[own.turn%len(masters)]
	own.turn++
	body := string(fastjson(m.record(own, kind)))
	b.put(&Message{Topic: topicHeartbeat, Body: body, Properties: map[string]string{
		"UNIQ_KEY": fmt.Sprintf("hb-%d-%d", own.index, own.turn), "CLUSTER": b.cluster, "WAIT": "true", "TRACE_ON": "true",
	}})
	m.sent++
}

func (m *GRPCMember) record(own *Proxy, kind string) jObject {
	channel := jObject{
		"type": "GRPC_V2", "remoteProxyIp": "127.0.0.1", "localAddress": own.addr, "remoteAddress": m.spec.Addr,
	}
	if m.sent > 0 { // the first record lacks the settings
		channel["extendAttribute"] = string(fastjson(m.settings()))
	}
	o := jObject{
		"channelData": string(fastjson(channel)), "clientId": m.spec.ClientID, "group": m.spec.Group,
		"heartbeatType": kind, "language": "JAVA", "lastUpdateTimestamp": m.c.now().UnixMilli(),
		"localProxyId": own.id(), "version": int(m.c.opts.Version),
	}
	if kind == "UNREGISTER" {
		o["version"] = 413
		return o
	}
	subs := jList{}
	for _, s := range m.subscriptions() {
		subs = append(subs, s.json())
	}
	o["consumeFromWhere"], o["consumeType"] = "CONSUME_FROM_LAST_OFFSET", m.consumeType()
	o["messageModel"], o["subscriptionDataSet"] = "CLUSTERING", subs
	return o
}

// settings are the client's own, as it sent them to the proxy.
func (m *GRPCMember) settings() jObject {
	kind := "PUSH_CONSUMER"
	if m.spec.Simple {
		kind = "SIMPLE_CONSUMER"
	}
	subs := jList{}
	for _, s := range m.subscriptions() {
		subs = append(subs, jObject{
			"topic": jObject{"name": s.Topic}, "expression": jObject{"type": s.Type, "expression": s.Expression},
		})
	}
	return jObject{
		"clientType": kind,
		"subscription": jObject{
			"group": jObject{"name": m.spec.Group}, "subscriptions": subs, "fifo": m.spec.FIFO,
			"receiveBatchSize": 32, "longPollingTimeout": "20s",
		},
		"userAgent": jObject{"language": "JAVA", "version": "5.0.8", "platform": "Linux", "hostname": m.spec.Hostname},
	}
}

// considerGRPC offers the next heartbeat of every living gRPC member. After a
// long jump of the clock only the records of the last ten minutes are written.
func (c *Cluster) considerGRPC(now time.Time, consider func(time.Time, func())) {
	for _, m := range c.grpc {
		if !m.alive {
			continue
		}
		if skip := now.Add(-10 * time.Minute).Sub(m.nextBeat); skip > 0 {
			m.nextBeat = m.nextBeat.Add(skip.Truncate(grpcPeriod))
		}
		consider(m.nextBeat, func() {
			m.beat()
			m.nextBeat = m.nextBeat.Add(grpcPeriod)
		})
	}
}
