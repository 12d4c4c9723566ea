// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/resize"
)

// orderJob writes the topic's order configuration on name servers. They have no
// identity to prove and no lock, so an entry that is not what was expected is
// left alone, and what was written is read back.
func (a *Actor) orderJob(order Order, until deadline) (job, error) {
	if len(order.Step.Order) == 0 {
		return job{}, &StepError{Kind: order.Step.Kind, Why: "it names no name server"}
	}
	return job{run: func(ctx context.Context, out *Outcome) bool {
		errs, sent := make([]error, len(order.Step.Order)), make([]bool, len(order.Step.Order))
		forEach(maxBrokers, order.Step.Order, func(i int, e resize.OrderEntry) {
			sent[i], errs[i] = a.setOrder(withCheck(ctx, until.check), order.Topic, e)
		})
		out.Order = map[string]error{}
		something := false
		for i, e := range order.Step.Order {
			out.Order[e.NameServer] = errs[i]
			something = something || sent[i]
		}
		return something
	}}, nil
}

func (a *Actor) setOrder(ctx context.Context, topic string, e resize.OrderEntry) (sent bool, err error) {
	leave, err := a.writers.enter(ctx, place{e.NameServer, topic})
	if err != nil {
		return false, err
	}
	defer leave()
	get := func(ctx context.Context) (string, error) { return a.client.OrderConfig(ctx, e.NameServer, topic) }
	found, err := read(ctx, a, get)
	switch {
	case err != nil:
		return false, fmt.Errorf("the order configuration on %s is not known, nothing was sent: %w", e.NameServer, err)
	case found == e.Value:
		return false, nil
	case found != e.Expect:
		return false, &ForeignChangeError{Broker: "name server " + e.NameServer, Topic: topic,
			Expect: fmt.Sprintf("order configuration %q", e.Expect), Found: fmt.Sprintf("%.200q", found)}
	}
	failed := a.send(ctx, func(ctx context.Context) error {
		if e.Value == "" {
			return a.client.DeleteOrderConfig(ctx, e.NameServer, topic)
		}
		return a.client.SetOrderConfig(ctx, e.NameServer, topic, e.Value)
	})
	if failed != nil && !maySent(failed) {
		return false, failed
	}
	found, err = read(ctx, a, get)
	switch {
	case err != nil:
		return true, &UnconfirmedError{Broker: "name server " + e.NameServer, Topic: topic, Sent: failed, Read: err}
	case found != e.Value:
		return true, &NotStoredError{Broker: "name server " + e.NameServer, Topic: topic, Err: failed,
			Sent: fmt.Sprintf("order configuration %q", e.Value), Found: fmt.Sprintf("%.200q", found)}
	}
	return true, nil
}
