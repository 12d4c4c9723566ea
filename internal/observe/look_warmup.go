// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// warmUp says which name servers may be incomplete, as far as a look can tell
// without reading every listing: each must route the topic that bears the name
// of a broker, which the broker registers with all its others and never alone.
// What the last sweep found in the listings counts as well; it can only hold
// more.
func (p *pass) warmUp() map[string]string {
	type question struct{ server, broker string }
	var questions []question
	out := map[string]string{}
	for _, ns := range p.Cluster().NameServers {
		if ns.WarmUp != "" && ns.Masters.IsKnown() {
			out[ns.Address] = ns.WarmUp
		}
	}
	for _, ns := range p.seen.servers {
		masters, _ := ns.Masters.Get()
		for broker := range masters {
			if out[ns.Address] == "" && !p.longUnrouted(ns.Address, broker) {
				questions = append(questions, question{ns.Address, broker})
			}
		}
	}
	facts := make([]snapshot.Fact[snapshot.Route], len(questions))
	forEach(maxServers, questions, func(i int, q question) { facts[i] = p.route(p.ctx, q.server, q.broker) })
	for i, q := range questions {
		if why := complete(facts[i], q.broker); why != "" {
			out[q.server] = why
		}
	}
	return out
}

// complete says why a name server may lack topics of a broker, judged by the
// route of the topic that bears the broker's name; empty when it has them.
func complete(own snapshot.Fact[snapshot.Route], broker string) string {
	route, known := own.Get()
	if !known {
		return "whether it has all topics of " + broker + " is not known: " + own.Why()
	}
	if _, routed := route.Queues[broker]; !routed {
		return fmt.Sprintf("it does not have the topics of %s yet, as after a start; brokers register all of them again within 60 s", broker)
	}
	return ""
}

// longUnrouted reports whether the topic that bears the broker's name has been
// missing on a name server for longer than any start explains.
func (o *Observer) longUnrouted(server, broker string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.unrouted[server+"/"+broker]
	return ok
}
