// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// at is an origin whose time moves on: every sweep asks anew.
func at(second int64) snapshot.Origin {
	return snapshot.Origin{Sent: time.Unix(second, 0)}
}

// sweepOf is a sweep of one name server and two brokers, as it was at a second.
func sweepOf(second int64) *snapshot.Cluster {
	booted := time.Unix(500, 0)
	broker := func(name, addr string) snapshot.Broker {
		return snapshot.Broker{
			Name:     name,
			Master:   snapshot.Known(addr, at(second)),
			Replicas: map[int64]string{0: addr},
			Runtime:  snapshot.Known(snapshot.Runtime{Version: 479, Booted: booted, DispatchBehind: second}, at(second)),
			Settings: snapshot.Known(snapshot.Settings{Name: name, DelayLevels: []time.Duration{time.Second}}, at(second)),
			Topics: snapshot.Known(map[string]snapshot.TopicConfig{
				"A": {Name: "A", ReadQueues: 8, WriteQueues: 8, Attributes: map[string]string{"message.type": "FIFO"}},
				"B": {Name: "B", ReadQueues: 4, WriteQueues: 4},
			}, at(second)),
		}
	}
	return &snapshot.Cluster{
		Name: "shop",
		NameServers: []snapshot.NameServer{{
			Address: "10.0.0.1:9876", Entry: "mq:9876",
			Masters: snapshot.Known(map[string]string{"broker-a": "1:1", "broker-b": "2:2"}, at(second)),
			Topics:  snapshot.Known(map[string]struct{}{"A": {}, "B": {}}, at(second)),
		}},
		Brokers: map[string]snapshot.Broker{"broker-a": broker("broker-a", "1:1"), "broker-b": broker("broker-b", "2:2")},
		Proxies: []snapshot.Proxy{{Address: "p:8080", Reachable: snapshot.Known(true, at(second))}},
		Routes: map[string]map[string]snapshot.Fact[snapshot.Route]{"A": {
			"10.0.0.1:9876": snapshot.Known(snapshot.Route{Present: true, Queues: map[string]snapshot.RouteQueues{"broker-a": {Read: 8, Write: 8}}}, at(second)),
		}},
		Problems: []snapshot.Problem{{Trouble: snapshot.BrokerUnreachable, Subject: "broker-c", Sentence: "since a while"}},
	}
}

// withBroker replaces one broker of a sweep.
func withBroker(c *snapshot.Cluster, name string, edit func(*snapshot.Broker)) {
	b := c.Brokers[name]
	edit(&b)
	c.Brokers[name] = b
}

// withTopic replaces one topic config of one broker.
func withTopic(c *snapshot.Cluster, broker, topic string, edit func(*snapshot.TopicConfig)) {
	withBroker(c, broker, func(b *snapshot.Broker) {
		topics, _ := b.Topics.Get()
		topics = maps.Clone(topics)
		t := topics[topic].Clone()
		edit(&t)
		topics[topic] = t
		b.Topics = snapshot.Known(topics, b.Topics.Origin())
	})
}

func TestK40_WhatCountsAsAChange(t *testing.T) {
	type sweep = *snapshot.Cluster
	for name, tc := range map[string]struct {
		edit    func(sweep)
		cluster bool
		topics  []string
	}{
		"nothing but the time": {edit: func(sweep) {}},
		"a sentence is worded otherwise": {edit: func(c sweep) {
			c.Problems[0].Sentence = "since a longer while"
			c.NameServers[0].WarmUp = ""
		}},
		"progress": {edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) {
				r, _ := b.Runtime.Get()
				r.DispatchBehind, r.Delay = 12, map[int]snapshot.Progress{3: {Delivered: 1, Max: 2}}
				b.Runtime = snapshot.Known(r, at(60))
			})
		}},
		"a queue count": {topics: []string{"A"}, edit: func(c sweep) {
			withTopic(c, "broker-b", "A", func(t *snapshot.TopicConfig) { t.WriteQueues = 4 })
		}},
		"an attribute": {topics: []string{"A"}, edit: func(c sweep) {
			withTopic(c, "broker-b", "A", func(t *snapshot.TopicConfig) { t.Attributes["message.type"] = "NORMAL" })
		}},
		"a new topic": {topics: []string{"C"}, edit: func(c sweep) {
			withTopic(c, "broker-a", "C", func(t *snapshot.TopicConfig) { t.Name = "C" })
		}},
		"a lost topic": {topics: []string{"B"}, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) {
				b.Topics = snapshot.Known(map[string]snapshot.TopicConfig{"A": must(b.Topics)["A"]}, at(60))
			})
		}},
		"a listing": {topics: []string{"B"}, edit: func(c sweep) {
			c.NameServers[0].Topics = snapshot.Known(map[string]struct{}{"A": {}}, at(60))
		}},
		"a checked route": {topics: []string{"A"}, edit: func(c sweep) {
			c.Routes["A"]["10.0.0.1:9876"] = snapshot.Known(snapshot.Route{Present: true,
				Queues: map[string]snapshot.RouteQueues{"broker-a": {Read: 8, Write: 8, Perm: 4}}}, at(60))
		}},
		"a route that cannot be read": {topics: []string{"A"}, edit: func(c sweep) {
			c.Routes["A"]["10.0.0.1:9876"] = snapshot.Unknown[snapshot.Route]("no answer")
		}},
		"a broker is gone": {cluster: true, edit: func(c sweep) { delete(c.Brokers, "broker-b") }},
		"a broker's address": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) { b.Master = snapshot.Known("9:9", at(60)) })
		}},
		"name servers differ on a broker": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) { b.Master = snapshot.Unknown[string]("differ") })
		}},
		"a broker restarted": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) {
				b.Runtime = snapshot.Known(snapshot.Runtime{Version: 479, Booted: time.Unix(900, 0)}, at(60))
			})
		}},
		"a broker is silent": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) {
				b.Topics = snapshot.Unknown[map[string]snapshot.TopicConfig]("no answer")
			})
		}},
		"a broker's settings": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) {
				b.Settings = snapshot.Known(snapshot.Settings{Name: "broker-a", DelayLevels: []time.Duration{time.Hour}}, at(60))
			})
		}},
		"a slave": {cluster: true, edit: func(c sweep) {
			withBroker(c, "broker-a", func(b *snapshot.Broker) { b.Replicas = map[int64]string{0: "1:1", 1: "3:3"} })
		}},
		"a name server is silent": {cluster: true, edit: func(c sweep) {
			c.NameServers[0].Masters = snapshot.Unknown[map[string]string]("no answer")
		}},
		"a name server warms up": {cluster: true, edit: func(c sweep) { c.NameServers[0].WarmUp = "it lists 1 of 2" }},
		"one more name server": {cluster: true, edit: func(c sweep) {
			c.NameServers = append(c.NameServers, snapshot.NameServer{Address: "10.0.0.2:9876"})
		}},
		"a proxy is silent": {cluster: true, edit: func(c sweep) {
			c.Proxies[0].Reachable = snapshot.Unknown[bool]("no answer")
		}},
		"a problem is solved": {cluster: true, edit: func(c sweep) { c.Problems = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			is := sweepOf(60)
			tc.edit(is)
			got := diff(sweepOf(30), is)
			g.Expect(got.cluster).To(Equal(tc.cluster))
			if !tc.cluster {
				g.Expect(slices.Sorted(maps.Keys(got.topics))).To(Equal(tc.topics))
			}
		})
	}
}

func TestK40_TheFirstSweepConcernsAll(t *testing.T) {
	NewWithT(t).Expect(diff(nil, sweepOf(0)).cluster).To(BeTrue())
}

func must[T any](f snapshot.Fact[T]) T {
	v, ok := f.Get()
	if !ok {
		panic("unknown: " + f.Why())
	}
	return v
}
