// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// deleteJob deletes the topic from the named brokers only. The name servers keep
// routing it there: the call that takes a route away takes it away for all
// brokers of the cluster at once, so that clients that start meanwhile find no
// topic. The routes of the outcome show what is left (case O35).
func (a *Actor) deleteJob(order Order, until deadline) (job, error) {
	var j job
	var masters []rocketmq.Master
	for _, c := range order.Step.Changes {
		master, err := a.master(order.Look, c.Broker)
		if err != nil {
			return job{}, err
		}
		masters = append(masters, master)
		j.brokers = append(j.brokers, c.Broker)
	}
	if len(masters) == 0 {
		return job{}, &StepError{Kind: order.Step.Kind, Why: "it names no broker"}
	}
	j.run = func(ctx context.Context, out *Outcome) bool {
		results := make([]Result, len(masters))
		forEach(maxBrokers, masters, func(i int, m rocketmq.Master) {
			c := order.Step.Changes[i]
			results[i] = a.deleteOn(withCheck(ctx, until.check), m, order.Topic, c.Process, func(found resize.Shown) bool { return found == c.Expect })
		})
		out.Brokers = map[string]Result{}
		sent := false
		for i, m := range masters {
			out.Brokers[m.Name] = results[i]
			sent = sent || results[i].Sent
		}
		return sent
	}
	return j, nil
}

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

// deleteOn deletes the topic from one master, if that still shows what was
// expected, and reads back that it is gone.
func (a *Actor) deleteOn(ctx context.Context, at rocketmq.Master, topic string, process snapshot.Process, expected func(resize.Shown) bool) Result {
	leave, err := a.writers.enter(ctx, place{at.Name, topic})
	if err != nil {
		return refused(err)
	}
	defer leave()
	who, err := a.meet(ctx, at, process)
	if err != nil {
		return refused(err)
	}
	get := func(ctx context.Context) (snapshot.StoredTopic, error) {
		return a.client.TopicConfig(ctx, at.Addr, topic)
	}
	origin := snapshot.Origin{Sent: a.clock.Now(), From: who.Process}
	found, err := read(ctx, get)
	switch {
	case err != nil:
		return refused(fmt.Errorf("%s: its config is not known, nothing was sent: %w", at.Name, err))
	case !found.Present:
		return Result{Shown: snapshot.Known(found, origin)}
	case !expected(shown(found)):
		return refused(&ForeignChangeError{Broker: at.Name, Topic: topic, Expect: "what the look showed", Found: describe(found)})
	}
	sending, cancel := context.WithTimeout(ctx, rocketmq.TopicWriteTimeout)
	defer cancel()
	failed := a.client.DeleteTopic(sending, at, topic)
	if failed != nil && !maySent(failed) {
		return refused(failed)
	}
	origin.Sent = a.clock.Now()
	found, err = read(ctx, get)
	switch {
	case err != nil:
		err = &UnconfirmedError{Broker: at.Name, Topic: topic, Sent: failed, Read: err}
		return Result{Sent: true, Err: err, Shown: snapshot.Unknown[snapshot.StoredTopic](err.Error())}
	case found.Present:
		err = &NotStoredError{Broker: at.Name, Topic: topic, Sent: "a deletion", Found: describe(found), Err: failed}
	}
	return Result{Sent: true, Err: err, Shown: snapshot.Known(found, origin)}
}

// deleteRoutes takes the topic's routes off every name server that has one, with
// its order configuration, and reads back what is left: a broker that still has
// the topic, or made it again for a producer, registers it again.
func (a *Actor) deleteRoutes(ctx context.Context, topic string, servers []string, out *DeletionOutcome) {
	cluster := a.cluster.ClusterName()
	forEach(maxBrokers, servers, func(_ int, server string) {
		// What fails here shows in the routes that are read afterwards.
		_, _ = read(ctx, func(ctx context.Context) (struct{}, error) {
			route, err := a.client.TopicRoute(ctx, server, topic)
			if err == nil && len(ours(route, cluster)) > 0 {
				err = a.client.DeleteTopicRoute(ctx, server, topic, cluster)
			}
			return struct{}{}, err
		})
	})
	out.Routes = a.cluster.Routes(ctx, topic)
	for _, server := range servers {
		if _, asked := out.Routes[server]; !asked {
			out.Left[server] = "its route was not read back"
		}
	}
	for server, fact := range out.Routes {
		route, known := fact.Get()
		switch brokers := ours(route, cluster); {
		case !known:
			out.Left[server] = "whether it still routes the topic is not known: " + fact.Why()
		case len(brokers) > 0:
			out.Left[server] = fmt.Sprintf("it still routes the topic to %v", brokers)
		}
	}
}

// ours are the brokers of the cluster in a route, sorted.
func ours(route snapshot.Route, cluster string) []string {
	var out []string
	for _, broker := range slices.Sorted(maps.Keys(route.Queues)) {
		if route.Clusters[broker] == cluster {
			out = append(out, broker)
		}
	}
	return out
}
