// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// write is one config write on one master.
type write struct {
	master rocketmq.Master
	topic  string
	// process is whose answers the write rests on; zero where there were none.
	process snapshot.Process
	// change turns what the broker has into what it should have, or refuses with
	// an error.
	change func(current snapshot.StoredTopic) (snapshot.TopicConfig, error)
	until  deadline
}

// Result is what came of a change on one broker.
type Result struct {
	// Shown is the broker's own config, read after the change.
	Shown snapshot.Fact[snapshot.StoredTopic]
	// Sent says that a request may have been carried out; false when the broker
	// already had what was wanted, or when the act was refused.
	Sent bool
	// Err is nil when the broker shows what was wanted.
	Err error
}

// put writes one config as its only writer and reads it back.
func (a *Actor) put(ctx context.Context, w write) Result {
	leave, err := a.writers.enter(ctx, place{w.master.Name, w.topic})
	if err != nil {
		return refused(err)
	}
	defer leave()
	process, err := a.meet(ctx, w.master, w.process)
	if err != nil {
		return refused(err)
	}
	var done rocketmq.TopicChange
	err = a.send(withCheck(ctx, w.until.check), func(ctx context.Context) (err error) {
		// The client reads, lets change compare, and writes, on one connection.
		done, err = a.client.CreateOrUpdateTopic(ctx, w.master, w.topic, w.change)
		return err
	})
	if err != nil && !done.Sent {
		return refused(err)
	}
	return a.readBack(ctx, process, w, done, err)
}

func refused(err error) Result {
	return Result{Shown: snapshot.Unknown[snapshot.StoredTopic](err.Error()), Err: err}
}

// meet asks the peer who it is, and refuses any but the master that was meant
// and the process whose answers the decision rests on. The connection on which
// they came stands for that process; only if there is another one now is the
// peer asked when it was started, for which a busy broker takes long.
func (a *Actor) meet(ctx context.Context, at rocketmq.Master, expect snapshot.Process) (snapshot.Process, error) {
	process, err := read(ctx, a, func(ctx context.Context) (snapshot.Process, error) {
		p, _, err := a.client.Meet(ctx, at.Addr)
		return p, err
	})
	if err == nil && expect != (snapshot.Process{}) {
		if process.Connection == expect.Connection {
			process.Booted = expect.Booted
		} else {
			var who rocketmq.Identity
			who, err = read(ctx, a, func(ctx context.Context) (rocketmq.Identity, error) { return a.client.Identify(ctx, at.Addr) })
			process = who.Process
		}
	}
	switch {
	case err != nil:
		return snapshot.Process{}, fmt.Errorf("%s: who answers is not known, nothing was sent: %w", at.Name, err)
	case process.Name != at.Name || process.Cluster != at.Cluster || process.BrokerID != 0:
		return snapshot.Process{}, &rocketmq.IdentityError{Want: at, Got: process}
	case expect != (snapshot.Process{}) && !expect.Same(process):
		return snapshot.Process{}, &ProcessError{Broker: at.Name, Expect: expect, Found: process}
	}
	return process, nil
}

// readBack compares what the broker has now with what was wanted. How the
// sending ended does not matter for that: a timeout may have worked, and a
// success may be lost (live 8).
func (a *Actor) readBack(ctx context.Context, process snapshot.Process, w write, done rocketmq.TopicChange, failed error) Result {
	r := Result{Sent: done.Sent}
	origin := snapshot.Origin{Sent: a.clock.Now(), From: process}
	stored, err := read(ctx, a, func(ctx context.Context) (snapshot.StoredTopic, error) {
		return a.client.TopicConfig(ctx, w.master.Addr, w.topic)
	})
	var can rocketmq.Capability
	if err == nil {
		can, err = read(ctx, a, func(ctx context.Context) (rocketmq.Capability, error) { return a.client.Capability(ctx, w.master.Addr) })
	}
	if err != nil {
		r.Err = &UnconfirmedError{Broker: w.master.Name, Topic: w.topic, Sent: failed, Read: err}
		r.Shown = snapshot.Unknown[snapshot.StoredTopic](r.Err.Error())
		return r
	}
	r.Shown = snapshot.Known(stored, origin)
	if !can.OrderFlag {
		// 4.9 drops the flag at every change, and sets it again by itself while
		// there is an order configuration (rocketmq.md 3.4).
		done.Wanted.Order = stored.Config.Order
	}
	if !stored.Present || !stored.Config.Equal(done.Wanted) {
		r.Err = &NotStoredError{
			Broker: w.master.Name, Topic: w.topic, Err: failed,
			Sent: describe(snapshot.StoredTopic{Present: true, Config: done.Wanted}), Found: describe(stored),
		}
	}
	return r
}
