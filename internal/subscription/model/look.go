// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Looker makes one look in two parts, between which things may happen: configs
// and offsets first, members and what they say afterwards.
type Looker struct {
	// Silent leaves the answer of one member out, Deaf that of one broker.
	Silent, Deaf bool
	look         snapshot.GroupLook
	began        bool
}

// Next makes the next part and reports whether the look is whole.
func (l *Looker) Next(w *World) bool {
	o := func(b *Broker, slave bool) snapshot.Origin {
		from := snapshot.Process{Address: b.Name + ":1", Name: b.Name, Booted: b.Booted}
		if slave {
			from.Address, from.BrokerID = b.Name+":2", 1
		}
		return snapshot.Origin{Sent: w.Now, From: from}
	}
	if !l.began {
		l.began = true
		l.look = snapshot.GroupLook{Group: Group, Started: w.Now, Brokers: map[string]snapshot.GroupOnBroker{},
			Heartbeats: snapshot.Unknown[snapshot.Heartbeats]("there is no proxy")}
		for i := range w.Brokers {
			b := &w.Brokers[i]
			l.look.Brokers[b.Name] = first(b, l.Deaf && i == 0, o)
		}
		return false
	}
	l.look.Finished = w.Now
	l.look.Seq = uint64(w.Now.UnixNano())
	for i := range w.Brokers {
		b := &w.Brokers[i]
		g := l.look.Brokers[b.Name]
		g.Reports = map[string]snapshot.Fact[snapshot.MemberReport]{}
		g.Members = snapshot.Unknown[snapshot.Membership]("down")
		if b.Up && (!l.Deaf || i != 0) {
			g.Members = snapshot.Known(l.members(w, b, g.Reports, o(b, false)), o(b, false))
		}
		l.look.Brokers[b.Name] = g
	}
	if !l.Deaf {
		up := true
		for i := range w.Brokers {
			up = up && w.Brokers[i].Up
		}
		for n, i := range w.Live() {
			w.Members[i].Seen = w.Members[i].Seen || up && (n > 0 || !l.Silent)
		}
	}
	return true
}

// Look is the whole look.
func (l *Looker) Look() snapshot.GroupLook { return l.look }

func first(b *Broker, deaf bool, o func(*Broker, bool) snapshot.Origin) snapshot.GroupOnBroker {
	g := snapshot.GroupOnBroker{Broker: b.Name, Master: snapshot.Known(b.Name+":1", o(b, false)), PopTraces: snapshot.Known(false, o(b, false)),
		Replicas: map[string]snapshot.Fact[snapshot.StoredGroup]{}}
	if !b.Up || deaf {
		down := "does not answer"
		g.Replicas[b.Name+":1"] = snapshot.Unknown[snapshot.StoredGroup](down)
		g.Replicas[b.Name+":2"] = snapshot.Unknown[snapshot.StoredGroup](down)
		g.PopTraces, g.Resets = snapshot.Unknown[bool](down), snapshot.Unknown[bool](down)
		g.Topics = map[string]snapshot.Fact[snapshot.StoredTopic]{Topic: snapshot.Unknown[snapshot.StoredTopic](down)}
		return g
	}
	stored := func(on bool, slave bool) snapshot.Fact[snapshot.StoredGroup] {
		return snapshot.Known(snapshot.StoredGroup{Present: true, Config: snapshot.GroupConfig{Name: Group, ConsumeEnable: on}}, o(b, slave))
	}
	g.Replicas[b.Name+":1"], g.Replicas[b.Name+":2"] = stored(b.Enabled, false), stored(b.Slave, true)
	g.Resets = snapshot.Known(b.Exact, o(b, false))
	g.Topics = map[string]snapshot.Fact[snapshot.StoredTopic]{Topic: snapshot.Known(snapshot.StoredTopic{Present: true,
		Config: snapshot.TopicConfig{Name: Topic, ReadQueues: len(b.Queues), WriteQueues: len(b.Queues), Perm: snapshot.PermReadWrite}}, o(b, false))}
	committed, ends, oldest := map[int]int64{}, map[int]snapshot.QueueOffsets{}, map[string]time.Time{}
	for k, q := range b.Queues {
		committed[k], ends[k] = int64(q.Committed), snapshot.QueueOffsets{Max: int64(len(q.Messages))}
		if q.Committed < len(q.Messages) {
			t := q.Messages[max(0, q.Committed-1)].Landed
			if have, ok := oldest[Topic]; !ok || t.Before(have) {
				oldest[Topic] = t
			}
		}
	}
	g.Committed = snapshot.Known(map[string]map[int]int64{Topic: committed}, o(b, false))
	g.Ends = snapshot.Known(map[string]map[int]snapshot.QueueOffsets{Topic: ends}, o(b, false))
	g.Consumed = snapshot.Known(oldest, o(b, false))
	return g
}

func (l *Looker) members(w *World, b *Broker, reports map[string]snapshot.Fact[snapshot.MemberReport], o snapshot.Origin) snapshot.Membership {
	m := snapshot.Membership{MessageModel: "CLUSTERING", Table: map[string]snapshot.Subscription{Topic: sub(b.Table)}}
	for n, i := range w.Live() {
		x := w.Members[i]
		m.Members = append(m.Members, snapshot.Member{ClientID: x.ID, Address: x.Address, Language: "JAVA", Version: 513})
		r := snapshot.MemberReport{Subscriptions: []snapshot.Subscription{sub(x.Filter)}}
		if x.Pop {
			r.PopQueues = []snapshot.Queue{{Topic: Topic, Broker: b.Name, ID: -1}}
		}
		reports[x.ID] = snapshot.Known(r, o)
		if l.Silent && n == 0 {
			reports[x.ID] = snapshot.Unknown[snapshot.MemberReport]("did not answer")
		}
	}
	return m
}

func sub(filter string) snapshot.Subscription {
	s := snapshot.Subscription{Topic: Topic, ExpressionType: "TAG", Expression: filter}
	if filter != "*" {
		s.Tags = split(filter)
	}
	return s
}
