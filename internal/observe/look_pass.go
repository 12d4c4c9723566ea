// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// pass is one pass for one or more topics.
type pass struct {
	*Observer
	ctx     context.Context
	topics  map[string]LookOptions
	order   []string // the topics, sorted
	started time.Time
	seen    *discovery
	brokers []*brokerPass
}

// lookPass looks at the topics in the order that makes a proof of it: brokers
// (each in its own order, see brokerPass), then routes, then groups, then the
// brokers' identities again.
func (o *Observer) lookPass(ctx context.Context, topics map[string]LookOptions) map[string]snapshot.TopicLook {
	p := &pass{Observer: o, ctx: ctx, topics: topics, order: slices.Sorted(maps.Keys(topics)), started: o.clock.Now()}
	p.seen = o.discover(ctx)
	for _, name := range slices.Sorted(maps.Keys(p.seen.brokers)) {
		p.brokers = append(p.brokers, &brokerPass{pass: p, broker: p.seen.brokers[name]})
	}
	forEach(maxServers, p.brokers, func(_ int, b *brokerPass) { b.ask() })

	servers := addressesOf(p.seen.servers)
	routes := onServers(ctx, o, servers, p.order)
	orders := p.orderConfigs(servers)
	warmUp := p.warmUp()
	groups := p.groups()
	forEach(maxServers, p.brokers, func(_ int, b *brokerPass) { b.confirm() })

	looks := map[string]snapshot.TopicLook{}
	for _, topic := range p.order {
		look := snapshot.TopicLook{
			Topic: topic, Seq: o.lookSeq.Add(1), Started: p.started,
			Brokers:     map[string]snapshot.TopicOnBroker{},
			Routes:      routes[topic],
			WarmUp:      warmUp,
			Foreign:     p.foreign(routes[topic]),
			OrderConfig: orders[topic],
		}
		for _, b := range p.brokers {
			look.Brokers[b.broker.Name] = b.on(topic)
		}
		look.Groups = groups.of(topic, look)
		looks[topic] = look
	}
	// All looks of a pass end with it: what one waits for, all waited for.
	finished := o.clock.Now()
	for topic, look := range looks {
		look.Finished = finished
		looks[topic] = look
	}
	return looks
}

// foreign are the brokers in a topic's routes that belong to other clusters
// behind the same name servers (case A17). They are never written.
func (p *pass) foreign(routes map[string]snapshot.Fact[snapshot.Route]) []string {
	found := map[string]struct{}{}
	for _, fact := range routes {
		route, _ := fact.Get()
		for broker := range route.Queues {
			if cluster, ok := route.Clusters[broker]; ok && cluster != p.cfg.ClusterName {
				found[broker] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// orderConfigs asks each name server for the topics' order configuration (case
// Q10), by topic and address.
func (p *pass) orderConfigs(servers map[string]string) map[string]map[string]snapshot.Fact[string] {
	type question struct{ topic, server string }
	var questions []question
	out := map[string]map[string]snapshot.Fact[string]{}
	for _, topic := range p.order {
		out[topic] = map[string]snapshot.Fact[string]{}
		for _, server := range slices.Sorted(maps.Keys(servers)) {
			questions = append(questions, question{topic, server})
		}
	}
	facts := make([]snapshot.Fact[string], len(questions))
	forEach(maxServers, questions, func(i int, q question) {
		if why := servers[q.server]; why != "" {
			facts[i] = snapshot.Unknown[string](why)
			return
		}
		facts[i] = fact(p, q.server, snapshot.Process{Address: q.server, BrokerID: -1}, func(ctx context.Context, addr string) (string, error) {
			return p.client.OrderConfig(ctx, addr, q.topic)
		})
	})
	for i, q := range questions {
		out[q.topic][q.server] = facts[i]
	}
	return out
}

// fact asks one question and makes a fact of the answer.
func fact[T any](p *pass, addr string, from snapshot.Process, ask func(context.Context, string) (T, error)) snapshot.Fact[T] {
	origin := p.origin(from)
	v, err := call(p.ctx, p.Observer, addr, ask)
	if err != nil {
		return snapshot.Unknown[T](said(err))
	}
	return snapshot.Known(v, origin)
}
