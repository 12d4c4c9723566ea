// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Deletion is a topic to be deleted from a whole cluster, and what that rests
// on.
type Deletion struct {
	Topic string
	// Look is the look that showed that nobody needs the topic.
	Look snapshot.TopicLook
	// NotAfter is the last moment at which a call may be sent (rule R02); Intent
	// is when the object was read live (rule K11). Both are needed.
	NotAfter, Intent time.Time
}

// DeletionOutcome is what came of a deletion.
type DeletionOutcome struct {
	// Brokers are the results by broker name.
	Brokers map[string]Result
	// Routes are the routes by name server, read after all; nil until every
	// broker shows that the topic is gone.
	Routes map[string]snapshot.Fact[snapshot.Route]
	// Left says on which broker or name server something is left, and why;
	// empty when the topic is gone everywhere.
	Left map[string]string
}

// Gone reports whether every broker and every name server was seen without the
// topic. From then on nobody asks for it: asking for offsets would bring its
// queues back (case P14).
func (o DeletionOutcome) Gone() bool { return len(o.Left) == 0 }

// Delete deletes a topic: from every master that the look saw with it, and, when
// every master shows that it is gone, its routes of this cluster from every name
// server. It may be called again for what is left. The error is that the
// deletion was refused as a whole and nothing was sent.
func (a *Actor) Delete(ctx context.Context, d Deletion) (DeletionOutcome, error) {
	if d.Intent.IsZero() || d.NotAfter.IsZero() {
		return DeletionOutcome{}, &NoIntentError{Act: "deleting a topic"}
	}
	until := deadline{clock: a.clock, notAfter: d.NotAfter, intent: d.Intent}
	if err := until.check(); err != nil {
		return DeletionOutcome{}, err
	}
	servers, err := a.cluster.NameServers(ctx)
	if err != nil {
		return DeletionOutcome{}, err
	}
	order := slices.Sorted(maps.Keys(d.Look.Brokers))
	masters := make([]rocketmq.Master, len(order))
	expect := make([]snapshot.StoredTopic, len(order))
	for i, broker := range order {
		config := d.Look.Brokers[broker].Config
		stored, known := config.Get()
		if !known {
			return DeletionOutcome{}, &NoMasterError{Broker: broker, Why: config.Why()}
		}
		if masters[i], err = a.master(d.Look, broker); err != nil {
			return DeletionOutcome{}, err
		}
		expect[i] = stored
	}
	ctx = withCheck(ctx, until.check)
	results := make([]Result, len(order))
	forEach(maxBrokers, masters, func(i int, m rocketmq.Master) {
		process := d.Look.Brokers[m.Name].Config.Origin().From
		results[i] = a.deleteOn(ctx, m, d.Topic, process, func(found resize.Shown) bool { return found == shown(expect[i]) })
	})
	out := DeletionOutcome{Brokers: map[string]Result{}, Left: map[string]string{}}
	for i, broker := range order {
		out.Brokers[broker] = results[i]
		if err := results[i].Err; err != nil {
			out.Left[broker] = err.Error()
		}
	}
	if len(out.Left) == 0 {
		a.deleteRoutes(ctx, d.Topic, servers, &out)
	}
	a.cluster.Poke()
	return out, nil
}

// deleteRoutes takes the topic off every name server, and reads back what is
// left: a broker that still has the topic, or made it again for a producer,
// registers it again.
func (a *Actor) deleteRoutes(ctx context.Context, topic string, servers []string, out *DeletionOutcome) {
	failed := make([]error, len(servers))
	forEach(maxBrokers, servers, func(i int, server string) { failed[i] = a.deleteRoute(ctx, server, topic) })
	out.Routes = a.cluster.Routes(ctx, topic)
	cluster := a.cluster.ClusterName()
	for i, server := range servers {
		fact := out.Routes[server]
		route, known := fact.Get()
		switch brokers := routed(route, cluster); {
		case failed[i] != nil:
			out.Left[server] = failed[i].Error()
		case !known:
			out.Left[server] = "whether it still routes the topic is not known: " + fact.Why()
		case len(brokers) > 0:
			out.Left[server] = fmt.Sprintf("it still routes the topic to %s", strings.Join(brokers, ", "))
		}
	}
}

// deleteRoute takes one name server's route of the topic in this cluster away,
// and its order configuration, which would make the next topic of that name an
// ordered one. Nothing is sent for what is not there.
func (a *Actor) deleteRoute(ctx context.Context, server, topic string) error {
	cluster := a.cluster.ClusterName()
	route, err := read(ctx, a, func(ctx context.Context) (snapshot.Route, error) { return a.client.TopicRoute(ctx, server, topic) })
	if err != nil {
		return err
	}
	if len(routed(route, cluster)) > 0 {
		if err := a.send(ctx, func(ctx context.Context) error { return a.client.DeleteTopicRoute(ctx, server, topic, cluster) }); err != nil {
			return err
		}
	}
	order, err := read(ctx, a, func(ctx context.Context) (string, error) { return a.client.OrderConfig(ctx, server, topic) })
	if err != nil || order == "" {
		return err
	}
	return a.send(ctx, func(ctx context.Context) error { return a.client.DeleteOrderConfig(ctx, server, topic) })
}

// routed are the brokers of the cluster in a route, sorted.
func routed(route snapshot.Route, cluster string) []string {
	var out []string
	for _, broker := range slices.Sorted(maps.Keys(route.Queues)) {
		if route.Clusters[broker] == cluster {
			out = append(out, broker)
		}
	}
	return out
}
