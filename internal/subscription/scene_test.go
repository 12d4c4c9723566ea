// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

var (
	epoch  = time.Date(2026, 1, 1, 14, 0, 0, 0, time.UTC)
	points = Ref{"shop", "Deployment", "points"}
)

const (
	group = "CG_SHOP_POINTS"
	topic = "TOPIC_SHOP_ORDER"
)

// peer is a member of a scene.
type peer struct {
	id, address string
	reads       Set // nil: it does not answer
	queues      []snapshot.Queue
	grpc        bool
	age         time.Duration
	language    string
	properties  map[string]string
	pops        []snapshot.Queue
}

// scene is a group on two brokers with four queues each, and its pods.
type scene struct {
	*WithT
	now      time.Time
	seq      uint64
	peers    []peer
	pods     []Pod
	declared Set
	works    []Workload
	protocol snapshot.Protocol
	state    State
	tamper   func(*Ask)
}

func newScene(t *testing.T) *scene {
	return &scene{WithT: NewWithT(t), now: epoch, works: []Workload{{Ref: points, Known: true, Revision: "r1", Replicas: 3}}}
}

func orders(expression string) Set { return Set{topic: readTags(expression)} }

// pod adds a pod with a classic member that reads as told.
func (s *scene) pod(reads Set) *peer {
	n := len(s.pods) + 1
	s.pods = append(s.pods, Pod{Namespace: "shop", Name: fmt.Sprintf("points-%d", n), IPs: []string{fmt.Sprintf("10.0.0.%d", n)},
		Owner: points, ReplicaSet: "points-7d9f", Revision: "r1", Ready: true})
	s.peers = append(s.peers, peer{id: fmt.Sprintf("10.0.0.%d@1#%d", n, 100+n), address: fmt.Sprintf("10.0.0.%d:400%d", n, n), reads: reads, language: "JAVA"})
	return &s.peers[len(s.peers)-1]
}

// ask makes a whole look at the scene.
func (s *scene) ask() Ask {
	s.seq++
	s.now = s.now.Add(10 * time.Second)
	o := snapshot.Origin{Sent: s.now}
	look := snapshot.GroupLook{Group: group, Seq: s.seq, Started: s.now, Finished: s.now, Brokers: map[string]snapshot.GroupOnBroker{},
		Heartbeats: snapshot.Unknown[snapshot.Heartbeats]("no proxy is named")}
	var table map[string]snapshot.Subscription
	var beats []snapshot.ProxyMember
	grpc := false
	for _, p := range s.peers {
		if p.grpc {
			grpc = true
			beats = append(beats, snapshot.ProxyMember{ClientID: p.id, Address: p.address, Proxy: "p1", GRPC: true, Language: p.language,
				Subscriptions: subscriptions(p.reads), Age: p.age, MessageModel: "CLUSTERING"})
			continue
		}
		if p.reads != nil {
			table = map[string]snapshot.Subscription{}
			for _, sub := range subscriptions(p.reads) {
				table[sub.Topic] = sub
			}
		}
	}
	if grpc {
		look.Heartbeats = snapshot.Known(snapshot.Heartbeats{Back: 130 * time.Second, Members: beats}, o)
	}
	for _, name := range []string{"broker-a", "broker-b"} {
		b := snapshot.GroupOnBroker{Broker: name, Master: snapshot.Known("m", o), PopTraces: snapshot.Known(false, o),
			Topics:  map[string]snapshot.Fact[snapshot.StoredTopic]{topic: snapshot.Known(snapshot.StoredTopic{Present: true, Config: snapshot.TopicConfig{Name: topic, ReadQueues: 4, WriteQueues: 4, Perm: 6}}, o)},
			Reports: map[string]snapshot.Fact[snapshot.MemberReport]{}}
		m := snapshot.Membership{Table: table, MessageModel: "CLUSTERING"}
		for _, p := range s.peers {
			if p.grpc {
				continue
			}
			m.Members = append(m.Members, snapshot.Member{ClientID: p.id, Address: p.address, Language: p.language, Version: 479})
			b.Reports[p.id] = snapshot.Unknown[snapshot.MemberReport]("did not answer within 10 s")
			if p.reads != nil {
				r := snapshot.MemberReport{Subscriptions: append(subscriptions(p.reads), snapshot.Subscription{Topic: "%RETRY%" + group, Expression: "*"}),
					Properties: p.properties, PopQueues: p.pops, Queues: map[snapshot.Queue]snapshot.QueueWork{}}
				for _, q := range p.queues {
					r.Queues[q] = snapshot.QueueWork{}
				}
				b.Reports[p.id] = snapshot.Known(r, o)
			}
		}
		b.Members = snapshot.Known(m, o)
		look.Brokers[name] = b
	}
	a := Ask{Group: group, Declared: s.declared, Protocol: s.protocol, Look: look, Workloads: s.works, Now: s.now,
		Pods: snapshot.Known(slices.Clone(s.pods), o)}
	if s.tamper != nil {
		s.tamper(&a)
	}
	return a
}

func subscriptions(s Set) []snapshot.Subscription {
	var out []snapshot.Subscription
	for _, topic := range s.Topics() {
		f := s[topic]
		sub := snapshot.Subscription{Topic: topic, ExpressionType: string(f.Type), Expression: f.SQL, Tags: f.Tags}
		if f.Type == Tag {
			sub.Expression = f.String()
		}
		out = append(out, sub)
	}
	return out
}

// audit looks and audits once, ten seconds after the last time.
func (s *scene) audit() Report {
	r := Audit(s.ask(), s.state)
	s.state = r.State
	return r
}

// until audits for a while.
func (s *scene) until(d time.Duration) Report {
	var r Report
	for end := s.now.Add(d); s.now.Before(end); {
		r = s.audit()
	}
	return r
}

func kinds(r Report) []FindingKind {
	var out []FindingKind
	for _, f := range r.Findings {
		out = append(out, f.Kind)
	}
	return out
}

// broker tampers with one broker of a look.
func broker(name string, do func(*snapshot.GroupOnBroker)) func(*Ask) {
	return func(a *Ask) {
		b := a.Look.Brokers[name]
		do(&b)
		a.Look.Brokers[name] = b
	}
}
