// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Order is a step to be carried out, with what it rests on.
type Order struct {
	Step  resize.Step
	Topic string
	// Look is the look that the step was decided on: masters, processes and
	// offsets are taken from it.
	Look snapshot.TopicLook
	// New is the topic for StepCreateTopic; counts and permission are the
	// step's.
	New snapshot.TopicConfig
	// Intent is when the object was read live and the intent persisted with its
	// resourceVersion. A step that cuts is refused without it, and IntentAge
	// after it (rule K11).
	Intent time.Time
}

// Outcome is what came of an act.
type Outcome struct {
	// Brokers are the results by broker name, of each broker that the act was
	// for. One that failed takes nothing from the others (cases O26, O27).
	Brokers map[string]Result
	// Seeds are the offsets that were not set, with the reason.
	Seeds []SeedResult
	// Order are the results of order configurations by name server; nil errors
	// are those that show the wanted value.
	Order map[string]error
	// Routes are the topic's routes by name server, read after all changes; nil
	// when nothing was sent.
	Routes map[string]snapshot.Fact[snapshot.Route]
	// Finished is when it was all over, read-back included.
	Finished time.Time
}

// Sent reports whether a changing call may have been carried out.
func (o Outcome) Sent() bool { return o.Routes != nil }

// Err is everything that failed, or nil.
func (o Outcome) Err() error {
	var errs []error
	for _, broker := range slices.Sorted(maps.Keys(o.Brokers)) {
		errs = append(errs, o.Brokers[broker].Err)
	}
	for _, s := range o.Seeds {
		errs = append(errs, s.Err)
	}
	for _, server := range slices.Sorted(maps.Keys(o.Order)) {
		errs = append(errs, o.Order[server])
	}
	return errors.Join(errs...)
}

// Do carries out one step. The error is that the step was refused as a whole and
// nothing was sent; what happened on each broker is in the Outcome.
func (a *Actor) Do(ctx context.Context, order Order) (Outcome, error) {
	if order.Step.Cuts() && order.Intent.IsZero() {
		return Outcome{}, &NoIntentError{Act: "step " + string(order.Step.Kind)}
	}
	until := deadline{clock: a.clock, notAfter: order.Step.NotAfter, intent: order.Intent}
	if err := until.check(); err != nil {
		return Outcome{}, err
	}
	job, err := a.jobOf(order, until)
	if err != nil {
		return Outcome{}, err
	}
	if err := a.cluster.NameServersComplete(ctx, job.brokers); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	sent := job.run(ctx, &out)
	if sent {
		out.Routes = a.cluster.Routes(ctx, order.Topic)
		a.cluster.Poke()
	}
	out.Finished = a.clock.Now()
	return out, nil
}

// job is a step made ready: the brokers it writes to, and what it does. run
// fills in its part of the outcome and reports whether anything was sent.
type job struct {
	brokers []string
	run     func(ctx context.Context, out *Outcome) bool
}

// jobOf finds the actor of a step's kind.
func (a *Actor) jobOf(order Order, until deadline) (job, error) {
	switch order.Step.Kind {
	case resize.StepRepairReads, resize.StepWidenReads, resize.StepReopenReads, resize.StepWidenWrites,
		resize.StepNarrowWrites, resize.StepNarrowReads, resize.StepSetPermission, resize.StepCreateTopic:
		return a.configJob(order, until)
	case resize.StepSetOffsets:
		return a.seedJob(order, until)
	case resize.StepSetOrderConfig:
		return a.orderJob(order, until)
	case resize.StepSetRetryQueues:
		return a.retryJob(order, until)
	case resize.StepDeleteFromBroker:
		return a.deleteJob(order, until)
	}
	return job{}, &StepError{Kind: order.Step.Kind, Why: "there is no actor for it"}
}

// master is the broker's master as the look saw it, and the process that
// answered for it.
func (a *Actor) master(look snapshot.TopicLook, broker string) (rocketmq.Master, error) {
	seen, ok := look.Brokers[broker]
	if !ok {
		return rocketmq.Master{}, &NoMasterError{Broker: broker, Why: "the look did not see it"}
	}
	addr, known := seen.Master.Get()
	if !known {
		return rocketmq.Master{}, &NoMasterError{Broker: broker, Why: seen.Master.Why()}
	}
	return rocketmq.Master{Addr: addr, Name: broker, Cluster: a.cluster.ClusterName()}, nil
}
