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

// RetryCountError says that a broker does not have the retry queue count that
// was expected before, or wanted after.
type RetryCountError struct {
	Broker, Group string
	Expect, Found int
	// Sent says that the count was written and is not there; else nothing was.
	Sent bool
}

// Error implements error.
func (e *RetryCountError) Error() string {
	if e.Sent {
		return fmt.Sprintf("group %s on %s shows %d retry queues after %d were written", e.Group, e.Broker, e.Found, e.Expect)
	}
	return fmt.Sprintf("group %s on %s was changed by somebody else: expected %d retry queues, found %d; nothing was sent", e.Group, e.Broker, e.Expect, e.Found)
}

// retryJob writes a group's retry queue count on the named brokers (case Q17).
func (a *Actor) retryJob(order Order, until deadline) (job, error) {
	var j job
	var masters []rocketmq.Master
	for _, c := range order.Step.Retry {
		master, err := a.master(order.Look, c.Broker)
		if err != nil {
			return job{}, err
		}
		if c.Want < 1 {
			return job{}, &StepError{Kind: order.Step.Kind, Why: "with 0 retry queues brokers discard failed messages"}
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
			sent, err := a.setRetry(withCheck(ctx, until.check), m, order.Step.Retry[i])
			results[i] = Result{Sent: sent, Err: err, Shown: snapshot.Unknown[snapshot.StoredTopic]("the topic was not touched")}
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

// setRetry writes one count, if the broker still shows what was expected, and
// reads it back.
func (a *Actor) setRetry(ctx context.Context, at rocketmq.Master, c resize.RetryChange) (bool, error) {
	leave, err := a.writers.enter(ctx, place{at.Name, "group " + c.Group})
	if err != nil {
		return false, err
	}
	defer leave()
	if _, err := a.meet(ctx, at, c.Process); err != nil {
		return false, err
	}
	var done rocketmq.GroupChange
	failed := a.send(ctx, func(ctx context.Context) (err error) {
		done, err = a.client.UpdateGroup(ctx, at, c.Group, func(current snapshot.GroupConfig, exists bool) (snapshot.GroupConfig, error) {
			found := current.RetryQueues
			if !exists {
				found = 0
			}
			if found != c.Expect && found != c.Want {
				return current, &RetryCountError{Broker: at.Name, Group: c.Group, Expect: c.Expect, Found: found}
			}
			current.RetryQueues = c.Want
			return current, nil
		})
		return err
	})
	if failed != nil && !done.Sent {
		return false, failed
	}
	table, err := read(ctx, a, func(ctx context.Context) (rocketmq.GroupTable, error) { return a.client.AllGroups(ctx, at.Addr) })
	if err != nil {
		return done.Sent, fmt.Errorf("%s: whether group %s has %d retry queues is not known: %w", at.Name, c.Group, c.Want, err)
	}
	if is := table.Groups[c.Group].RetryQueues; is != c.Want {
		return done.Sent, &RetryCountError{Broker: at.Name, Group: c.Group, Expect: c.Want, Found: is, Sent: true}
	}
	return done.Sent, nil
}
