// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

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

// deleteOn deletes the topic from one master, if that still shows what was
// expected, and reads back that it is gone.
func (a *Actor) deleteOn(ctx context.Context, at rocketmq.Master, topic string, process snapshot.Process, expected func(resize.Shown) bool) Result {
	leave, err := a.writers.enter(ctx, place{at.Name, topic})
	if err != nil {
		return refused(err)
	}
	defer leave()
	from, err := a.meet(ctx, at, process)
	if err != nil {
		return refused(err)
	}
	get := func(ctx context.Context) (snapshot.StoredTopic, error) {
		return a.client.TopicConfig(ctx, at.Addr, topic)
	}
	origin := snapshot.Origin{Sent: a.clock.Now(), From: from}
	found, err := read(ctx, a, get)
	switch {
	case err != nil:
		return refused(fmt.Errorf("%s: its config is not known, nothing was sent: %w", at.Name, err))
	case !found.Present:
		return Result{Shown: snapshot.Known(found, origin)}
	case !expected(shown(found)):
		return refused(&ForeignChangeError{Broker: at.Name, Topic: topic, Expect: "what the look showed", Found: describe(found)})
	}
	failed := a.send(ctx, func(ctx context.Context) error { return a.client.DeleteTopic(ctx, at, topic) })
	if failed != nil && !maySent(failed) {
		return refused(failed)
	}
	origin.Sent = a.clock.Now()
	found, err = read(ctx, a, get)
	switch {
	case err != nil:
		err = &UnconfirmedError{Broker: at.Name, Topic: topic, Sent: failed, Read: err}
		return Result{Sent: true, Err: err, Shown: snapshot.Unknown[snapshot.StoredTopic](err.Error())}
	case found.Present:
		err = &NotStoredError{Broker: at.Name, Topic: topic, Sent: "a deletion", Found: describe(found), Err: failed}
	}
	return Result{Sent: true, Err: err, Shown: snapshot.Known(found, origin)}
}
