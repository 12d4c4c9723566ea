// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// warmUpMemory is how long a missing topic is taken for a sign that the name
// server has just started. Brokers register everything every 30 s, 60 s at the
// longest (rocketmq.md 3.4); what is still missing after two such periods is
// missing for another reason and must not stop every write of the cluster.
const warmUpMemory = 2 * time.Minute

// warmUps notices name servers that do not have all of a broker's topics yet.
//
// A name server that has just started knows a broker by the first registration
// it gets. If that is the one of a single topic, sent while that topic is
// created, every other topic of the broker is without a route until the next
// full registration (case O25). Every broker registers a topic of its own name,
// so a listing shows for each broker whether a full registration has come, also
// where brokers share all other topics.
type warmUps struct {
	now func() time.Time
	// since is when a topic was first seen missing, by name server address.
	since map[string]map[string]time.Time
}

func newWarmUps(now func() time.Time) *warmUps {
	return &warmUps{now: now, since: map[string]map[string]time.Time{}}
}

// judge fills in WarmUp. The brokers' topics must have been read before the
// name server's listing: a topic created in between is then not missed.
// It returns how many topics are missing for so long that they count as
// unrouted, by broker.
func (w *warmUps) judge(ns *snapshot.NameServer, brokers map[string]snapshot.Broker) (unrouted map[string]int) {
	listed, ok := ns.Topics.Get()
	if !ok {
		delete(w.since, ns.Address)
		ns.WarmUp = "it is not known which topics it lists: " + ns.Topics.Why()
		return nil
	}
	masters, _ := ns.Masters.Get()
	now, before := w.now(), w.since[ns.Address]
	missing := map[string]time.Time{}
	for _, broker := range slices.Sorted(maps.Keys(masters)) {
		topics, known := brokers[broker].Topics.Get()
		if !known {
			continue
		}
		young, old := 0, 0
		for topic := range topics {
			if _, there := listed[topic]; there {
				continue
			}
			first, again := before[topic]
			if !again {
				first = now
			}
			missing[topic] = first
			if now.Sub(first) > warmUpMemory {
				old++
			} else {
				young++
			}
		}
		if young > 0 && ns.WarmUp == "" {
			ns.WarmUp = fmt.Sprintf("it lists %d of the %d topics of %s, as after a start; brokers register all of them again within 60 s",
				len(topics)-young-old, len(topics), broker)
		}
		if old > 0 {
			if unrouted == nil {
				unrouted = map[string]int{}
			}
			unrouted[broker] = old
		}
	}
	w.since[ns.Address] = missing
	return unrouted
}

// long reports, as "name server/broker", where the topic that bears a broker's
// name has been missing for longer than a start explains.
func (w *warmUps) long(brokers map[string]snapshot.Broker) map[string]struct{} {
	out := map[string]struct{}{}
	for address, missing := range w.since {
		for broker := range brokers {
			if first, ok := missing[broker]; ok && w.now().Sub(first) > warmUpMemory {
				out[address+"/"+broker] = struct{}{}
			}
		}
	}
	return out
}

// keep forgets name servers that are no longer asked.
func (w *warmUps) keep(servers []snapshot.NameServer) {
	for address := range w.since {
		if !slices.ContainsFunc(servers, func(ns snapshot.NameServer) bool { return ns.Address == address }) {
			delete(w.since, address)
		}
	}
}
