// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// What follows is what whoever changes the cluster needs to know at that moment.

// Client is a client for reading from this cluster. It stops working when the
// observer stops.
func (o *Observer) Client() *rocketmq.Client { return o.client }

// Wire is the connections of this cluster, for whoever acts on it. They are
// closed when the observer stops.
func (o *Observer) Wire() Wire { return o.wire }

// ClusterName is the RocketMQ cluster name that is observed.
func (o *Observer) ClusterName() string { return o.cfg.ClusterName }

// Proxies are the proxies' remoting ports.
func (o *Observer) Proxies() []string { return slices.Clone(o.cfg.Proxies) }

// NameServers resolves the name servers now. It is all of them or an error: a
// partial list is no list (case O19).
func (o *Observer) NameServers(ctx context.Context) ([]string, error) {
	var out []string
	for _, a := range o.resolve(ctx) {
		if a.missing != nil {
			return nil, fmt.Errorf("name server %s: %w", a.entry, a.missing)
		}
		out = append(out, a.address)
	}
	return out, nil
}

// IncompleteError says that a name server may not have all topics of a broker,
// so that no topic may be written there now (case O25).
type IncompleteError struct {
	NameServer, Broker string
	// Why is a phrase.
	Why string
}

// Error implements error.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("no topic of %s is written while name server %s may be incomplete: %s", e.Broker, e.NameServer, e.Why)
}

// NameServersComplete asks every name server now whether it has the topics of
// each broker, by one route each; the error is an *IncompleteError for the first
// that may not. It precedes every topic write (case O25).
func (o *Observer) NameServersComplete(ctx context.Context, brokers []string) error {
	servers, err := o.NameServers(ctx)
	if err != nil {
		return err
	}
	type question struct{ server, broker string }
	var questions []question
	for _, server := range servers {
		for _, broker := range brokers {
			if !o.longUnrouted(server, broker) {
				questions = append(questions, question{server, broker})
			}
		}
	}
	facts := make([]snapshot.Fact[snapshot.Route], len(questions))
	forEach(maxServers, questions, func(i int, q question) { facts[i] = o.route(ctx, q.server, q.broker) })
	for i, q := range questions {
		if why := complete(facts[i], q.broker); why != "" {
			return &IncompleteError{NameServer: q.server, Broker: q.broker, Why: why}
		}
	}
	return nil
}
