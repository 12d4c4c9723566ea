// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/allocation"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// known makes a fact that was asked at some moment.
func known[T any](v T) snapshot.Fact[T] {
	return snapshot.Known(v, snapshot.Origin{Sent: time.Unix(1, 0)})
}

func unknown[T any](why string) snapshot.Fact[T] { return snapshot.Unknown[T](why) }

var points = Ref{"apps", "Deployment", "points"}

// topic is a topic with a Topic object "orders", on broker-a, broker-b and so on
// with so many queues each, all in request mode PULL.
func topic(name string, queues ...int64) Topic {
	t := Topic{Name: name, Object: &TopicObject{Namespace: "shop", Name: "orders"}, Backlog: unknown[[]int64]("not asked")}
	var brokers []Broker
	for i, n := range queues {
		b := Broker{Name: "broker-" + string(rune('a'+i)), Queues: known(n), Pop: known(false)}
		brokers = append(brokers, b)
		t.Object.Brokers = append(t.Object.Brokers, b.Name)
	}
	t.Brokers = known(brokers)
	return t
}

// inMode is the topic with the request mode POP on the brokers for which it holds.
func inMode(t Topic, pop ...bool) Topic {
	brokers, _ := t.Brokers.Get()
	for i := range brokers {
		brokers[i].Pop = known(pop[i])
	}
	return t
}

func classic(n int) []Member {
	var out []Member
	for i := range n {
		out = append(out, Member{ClientID: fmt.Sprintf("10.0.0.%d@1#%d", i+1, i), Address: fmt.Sprintf("10.0.0.%d:4000", i+1),
			Broadcast: known(false), Pops: known(false), FIFO: unknown[bool]("a classic member"), Strategy: allocation.NameAveragely})
	}
	return out
}

func grpc(n int) []Member {
	var out []Member
	for i := range n {
		out = append(out, Member{ClientID: fmt.Sprintf("points-%d@1@0@x%d", i, i), Address: fmt.Sprintf("10.0.1.%d:4000", i+1),
			GRPC: true, Broadcast: known(false), Pops: unknown[bool]("speaks gRPC"), FIFO: known(false)})
	}
	return out
}

func popping(n int) []Member {
	out := classic(n)
	for i := range out {
		out[i].Pops, out[i].FIFO, out[i].Strategy = known(true), known(false), ""
	}
	return out
}

func broadcasting(members []Member) []Member {
	for i := range members {
		members[i].Broadcast = known(true)
	}
	return members
}

// group is a group of remoting members that read TOPIC_SHOP_ORDER.
func group(members []Member, topics ...Topic) Group {
	return Group{Name: "CG_SHOP_POINTS", Namespace: "shop", Object: "points", Protocol: Remoting, Role: Consumer, MembersPerPod: 1,
		Topics: topics, Members: known(members), Orderly: known(false)}
}

// scale asks for a change of replicas.
func scale(current, asked int64, groups ...Group) Ask {
	return Ask{Workload: points, Current: current, Asked: asked, Groups: groups}
}

func other(name string, replicas, perPod int64) Other {
	return Other{Ref: Ref{"apps", "Deployment", name}, Replicas: known(replicas), MembersPerPod: perPod}
}
