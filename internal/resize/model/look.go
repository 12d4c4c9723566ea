// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// retention is what every broker of a world shows.
const retention = 2 * time.Second

// Fault makes a look worse than the world is.
type Fault int

// Faults of a look.
const (
	NoFault Fault = iota
	// Partial leaves out the committed offsets of the last broker.
	Partial
	// Backwards asks for the ends of queues before the committed offsets.
	Backwards
	// Carried takes the offsets of the last broker over from an earlier look.
	Carried
	// Silent leaves out the last name server.
	Silent
)

// Looker makes one look of the world in parts, so that events can fall in
// between: offsets, then ends, then configs, then routes and groups.
type Looker struct {
	Fault Fault
	// Old is the look before, for Carried.
	Old  snapshot.TopicLook
	part int
	look snapshot.TopicLook
}

// Parts is how many calls of Next a look takes.
const Parts = 4

// Next makes the next part; true when the look is complete.
func (l *Looker) Next(w *World) bool {
	switch l.part {
	case 0:
		l.look = snapshot.TopicLook{Topic: Topic, Started: w.Now, Brokers: map[string]snapshot.TopicOnBroker{},
			Routes: map[string]snapshot.Fact[snapshot.Route]{}, OrderConfig: map[string]snapshot.Fact[string]{}}
		l.each(w, func(i int, t *snapshot.TopicOnBroker) {
			t.Master = snapshot.Known(address(i), snapshot.Origin{Sent: w.Now})
			if l.Fault == Backwards {
				t.Queues = queues(w, i, 0)
			} else {
				t.Committed = committed(w, i, 0)
			}
			t.Pulled = known(w, i, 0, map[string]struct{}{})
		})
	case 1:
		l.each(w, func(i int, t *snapshot.TopicOnBroker) {
			t.Runtime, t.Settings, t.Pending = runtime(w, i), settings(w, i), pending(w, i)
			if l.Fault == Backwards {
				t.Committed = committed(w, i, 1)
			} else {
				t.Queues = queues(w, i, 0)
			}
		})
	case 2:
		l.each(w, func(i int, t *snapshot.TopicOnBroker) {
			t.Config = config(w, i)
			if l.Fault != NoFault && i == len(w.Brokers)-1 {
				l.spoil(t)
			}
		})
	case 3:
		l.routes(w)
		l.look.Groups = groups(w)
		l.look.Finished = w.Now
	}
	l.part++
	return l.part >= Parts
}

// Look is the complete look.
func (l *Looker) Look() snapshot.TopicLook { return l.look }

// Part is how many parts were made.
func (l *Looker) Part() int { return l.part }

func (l *Looker) spoil(t *snapshot.TopicOnBroker) {
	switch l.Fault {
	case Partial:
		t.Committed = snapshot.Unknown[map[string]map[int]int64]("half an answer")
	case Carried:
		if old, ok := l.Old.Brokers[t.Broker]; ok {
			t.Committed, t.Queues = old.Committed, old.Queues
		}
	}
}

func (l *Looker) each(w *World, do func(int, *snapshot.TopicOnBroker)) {
	for i := range w.Brokers {
		name := w.Brokers[i].Name
		t := l.look.Brokers[name]
		t.Broker = name
		do(i, &t)
		l.look.Brokers[name] = t
	}
}

func (l *Looker) routes(w *World) {
	for s, n := range w.NameServers {
		name := fmt.Sprintf("ns-%d", s)
		origin := snapshot.Origin{Sent: w.Now, From: snapshot.Process{Address: name, BrokerID: -1}}
		l.look.OrderConfig[name] = snapshot.Known("", origin)
		if !n.Up || l.Fault == Silent && s == len(w.NameServers)-1 {
			l.look.Routes[name] = snapshot.Unknown[snapshot.Route]("did not answer")
			continue
		}
		r := snapshot.Route{Queues: map[string]snapshot.RouteQueues{}, Masters: map[string]string{}}
		for i, c := range n.Routes {
			if c.Present {
				r.Present = true
				r.Queues[w.Brokers[i].Name] = snapshot.RouteQueues{Read: c.Read, Write: c.Write, Perm: c.Perm}
				r.Masters[w.Brokers[i].Name] = address(i)
			}
		}
		l.look.Routes[name] = snapshot.Known(r, origin)
	}
}

func address(i int) string { return fmt.Sprintf("10.0.0.%d:10911", i+1) }

// known is a fact of a broker; lag says by how much its request came after
// those of the same part.
func known[T any](w *World, i int, lag time.Duration, v T) snapshot.Fact[T] {
	b := &w.Brokers[i]
	if !b.Up {
		return snapshot.Unknown[T](b.Name + " did not answer")
	}
	return snapshot.Known(v, snapshot.Origin{Sent: w.Now.Add(lag),
		From: snapshot.Process{Address: address(i), Name: b.Name, Cluster: "model", Booted: b.Booted}})
}

func config(w *World, i int) snapshot.Fact[snapshot.StoredTopic] {
	c := w.Brokers[i].Counts
	return known(w, i, 0, snapshot.StoredTopic{Present: c.Present, Config: snapshot.TopicConfig{
		Name: Topic, ReadQueues: c.Read, WriteQueues: c.Write, Perm: c.Perm, FilterType: "SINGLE_TAG"}})
}

func queues(w *World, i int, lag time.Duration) snapshot.Fact[map[int]snapshot.QueueOffsets] {
	out := map[int]snapshot.QueueOffsets{}
	for q, queue := range w.Brokers[i].Queues {
		out[q] = snapshot.QueueOffsets{Max: int64(queue.Shown)}
	}
	return known(w, i, lag, out)
}

func committed(w *World, i int, lag time.Duration) snapshot.Fact[map[string]map[int]int64] {
	out := map[string]map[int]int64{}
	for _, g := range w.Groups {
		entries := map[int]int64{}
		for q, at := range g.Committed[i] {
			if at != None {
				entries[q] = int64(at)
			}
		}
		if len(entries) > 0 {
			out[g.Name] = entries
		}
	}
	return known(w, i, lag, out)
}

func runtime(w *World, i int) snapshot.Fact[snapshot.Runtime] {
	var behind int64
	for _, q := range w.Brokers[i].Queues {
		behind += int64(len(q.Messages) - q.Shown)
	}
	return known(w, i, 0, snapshot.Runtime{Booted: w.Brokers[i].Booted, DispatchBehind: behind})
}

func settings(w *World, i int) snapshot.Fact[snapshot.Settings] {
	return known(w, i, 0, snapshot.Settings{Name: w.Brokers[i].Name, StoreType: "default",
		DelayLevels: []time.Duration{w.LongestDelay}, Retention: retention})
}

func pending(w *World, i int) snapshot.Fact[snapshot.Pending] {
	p := snapshot.Progress{}
	for _, l := range w.Brokers[i].Late {
		if !l.Hidden {
			p.Max++
		}
	}
	return known(w, i, 0, snapshot.Pending{Delay: map[int]snapshot.Progress{1: p}})
}

func groups(w *World) snapshot.Fact[map[string]snapshot.GroupOnTopic] {
	origin := snapshot.Origin{Sent: w.Now}
	out := map[string]snapshot.GroupOnTopic{}
	for _, g := range w.Groups {
		v := snapshot.GroupOnTopic{Name: g.Name, Members: snapshot.Known(0, origin), Reads: snapshot.Known(false, origin),
			Broadcast: snapshot.Unknown[bool]("no member"), Protocol: snapshot.Unknown[snapshot.Protocol]("no member"),
			DeclaredBroadcast: g.Kind == Broadcast}
		if g.Online {
			v.Members, v.Reads = snapshot.Known(1, origin), snapshot.Known(true, origin)
			v.Broadcast = snapshot.Known(g.Kind == Broadcast, origin)
			v.Protocol = snapshot.Known(snapshot.ProtocolClassic, origin)
			if g.Kind == POP {
				v.Protocol = snapshot.Known(snapshot.ProtocolPOP, origin)
			}
			if g.Kind == Broadcast {
				v.Positions = snapshot.Known(positions(w, g), origin)
			}
		}
		out[g.Name] = v
	}
	return snapshot.Known(out, origin)
}

func positions(w *World, g Group) map[string]map[int]int64 {
	out := map[string]map[int]int64{}
	for i := range g.Local {
		at := map[int]int64{}
		for q, v := range g.Local[i] {
			if v != None {
				at[q] = int64(v)
			}
		}
		out[w.Brokers[i].Name] = at
	}
	return out
}

// Clone copies a look in the making.
func (l *Looker) Clone() *Looker {
	c := *l
	c.look.Brokers = maps.Clone(l.look.Brokers)
	c.look.Routes = maps.Clone(l.look.Routes)
	c.look.OrderConfig = maps.Clone(l.look.OrderConfig)
	return &c
}

// Partial is the look as far as it was made.
func (l *Looker) Partial() snapshot.TopicLook { return l.look }
