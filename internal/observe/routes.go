// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// routesPerSweep is how many topics have their route checked on every name
// server in one sweep.
//
// No call returns all routes: 206 lists names only and 105 is for one topic. To
// keep a sweep's calls independent of the number of topics, a fixed number of
// watched topics is checked, those first whose check is oldest, so a round
// takes (topics / routesPerSweep) sweeps. That is enough at rest: whatever
// changes the routes of a broker's topics at once (its permission, a
// registration that was lost, a name server that started empty) shows in the
// first topics that are checked or in the listings, which are read whole; a
// topic in change has its routes read by every look.
const routesPerSweep = 8

// routeAudit remembers the routes that were checked. Only the goroutine that
// sweeps uses it.
type routeAudit struct {
	routes  map[string]map[string]snapshot.Fact[snapshot.Route]
	checked map[string]time.Time
	// servers are those of the last sweep, sorted.
	servers []string
}

func newRouteAudit() *routeAudit {
	return &routeAudit{
		routes:  map[string]map[string]snapshot.Fact[snapshot.Route]{},
		checked: map[string]time.Time{},
	}
}

// check renews the oldest checks and returns all that are still watched.
func (a *routeAudit) check(ctx context.Context, o *Observer, c *snapshot.Cluster) map[string]map[string]snapshot.Fact[snapshot.Route] {
	watched := o.hub.watched(o.id)
	for topic := range a.routes {
		if _, ok := slices.BinarySearch(watched, topic); !ok {
			delete(a.routes, topic)
			delete(a.checked, topic)
		}
	}
	servers := addressesOf(c.NameServers)
	a.keep(slices.Sorted(maps.Keys(servers)))
	for topic, routes := range onServers(ctx, o, servers, a.due(watched, c)) {
		a.routes[topic], a.checked[topic] = routes, c.Started
	}
	return maps.Clone(a.routes)
}

// keep drops the routes of name servers that are no longer asked. What was
// published is not touched.
func (a *routeAudit) keep(servers []string) {
	if slices.Equal(a.servers, servers) {
		return
	}
	a.servers = servers
	for topic, routes := range a.routes {
		left := maps.Clone(routes)
		maps.DeleteFunc(left, func(server string, _ snapshot.Fact[snapshot.Route]) bool {
			_, asked := slices.BinarySearch(servers, server)
			return !asked
		})
		a.routes[topic] = left
	}
}

// due are the topics to check now: watched, on some broker, the oldest first.
func (a *routeAudit) due(watched []string, c *snapshot.Cluster) []string {
	var topics []string
	for _, topic := range watched {
		for _, b := range c.Brokers {
			all, _ := b.Topics.Get()
			if _, there := all[topic]; there {
				topics = append(topics, topic)
				break
			}
		}
	}
	slices.SortFunc(topics, func(x, y string) int {
		if d := a.checked[x].Compare(a.checked[y]); d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	return topics[:min(len(topics), routesPerSweep)]
}

// addressesOf are the addresses of the name servers, with the reason for those
// that cannot be asked.
func addressesOf(servers []snapshot.NameServer) map[string]string {
	out := map[string]string{}
	for _, ns := range servers {
		out[ns.Address] = ns.Masters.Why()
	}
	return out
}

// onServers asks every name server for the routes of the topics. servers holds
// an address and, if it cannot be asked, why.
func onServers(ctx context.Context, o *Observer, servers map[string]string, topics []string) map[string]map[string]snapshot.Fact[snapshot.Route] {
	type question struct{ topic, server string }
	var questions []question
	out := map[string]map[string]snapshot.Fact[snapshot.Route]{}
	for _, topic := range topics {
		out[topic] = map[string]snapshot.Fact[snapshot.Route]{}
		for _, server := range slices.Sorted(maps.Keys(servers)) {
			questions = append(questions, question{topic, server})
		}
	}
	facts := make([]snapshot.Fact[snapshot.Route], len(questions))
	forEach(maxServers, questions, func(i int, q question) {
		if why := servers[q.server]; why != "" {
			facts[i] = snapshot.Unknown[snapshot.Route](why)
			return
		}
		facts[i] = o.route(ctx, q.server, q.topic)
	})
	for i, q := range questions {
		out[q.topic][q.server] = facts[i]
	}
	return out
}

func (o *Observer) route(ctx context.Context, server, topic string) snapshot.Fact[snapshot.Route] {
	origin := o.origin(snapshot.Process{Address: server, BrokerID: -1})
	route, err := call(ctx, o, server, func(ctx context.Context, addr string) (snapshot.Route, error) {
		return o.client.TopicRoute(ctx, addr, topic)
	})
	if err != nil {
		return snapshot.Unknown[snapshot.Route](said(err))
	}
	return snapshot.Known(route, origin)
}

// Routes asks every name server for one topic's route now, and returns it by
// address. It resolves the name servers anew.
func (o *Observer) Routes(ctx context.Context, topic string) map[string]snapshot.Fact[snapshot.Route] {
	servers := map[string]string{}
	for _, a := range o.resolve(ctx) {
		servers[a.address] = ""
		if a.missing != nil {
			servers[a.address] = a.missing.Error()
		}
	}
	return onServers(ctx, o, servers, []string{topic})[topic]
}
