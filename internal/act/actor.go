// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Cluster is the RocketMQ that an actor changes; *observe.Observer is one.
type Cluster interface {
	// ClusterName is the RocketMQ cluster's own name.
	ClusterName() string
	// NameServers are all name servers' addresses now, or an error.
	NameServers(ctx context.Context) ([]string, error)
	// NameServersComplete is an error while a name server may lack topics of one
	// of the brokers (case O25).
	NameServersComplete(ctx context.Context, brokers []string) error
	// Routes are a topic's routes now, by name server address.
	Routes(ctx context.Context, topic string) map[string]snapshot.Fact[snapshot.Route]
	// Proxies are the proxies' remoting ports.
	Proxies() []string
	// Poke says that something was changed and is worth looking at.
	Poke()
}

// IntentAge is how long after the live read of an object an act that cannot be
// taken back may still be sent (rule K11).
const IntentAge = 5 * time.Second

// readTimeout bounds one reading call; a write gets
// rocketmq.TopicWriteTimeout, for a broker answers one when all its name servers
// have, or after 24 s when one of them hangs (live 8).
const readTimeout = 10 * time.Second

// Actor changes one RocketMQ cluster. It keeps nothing but who is writing where,
// and is safe for use by many goroutines. There must be one per cluster.
type Actor struct {
	cluster Cluster
	client  *rocketmq.Client
	clock   clock.PassiveClock
	writers *writers

	readTimeout, writeTimeout time.Duration
}

// New makes an actor that sends through wire.
func New(cluster Cluster, wire rocketmq.Invoker, clock clock.PassiveClock) *Actor {
	return &Actor{
		cluster: cluster, client: rocketmq.New(checked{wire}), clock: clock, writers: newWriters(),
		readTimeout: readTimeout, writeTimeout: rocketmq.TopicWriteTimeout,
	}
}

// deadline is until when an act may be sent.
type deadline struct {
	clock clock.PassiveClock
	// notAfter and intent are zero where they do not bound.
	notAfter, intent time.Time
}

// check is asked right before each changing call, on the monotonic clock: a
// leader that was frozen must not act on waking (rule R02).
func (d deadline) check() error {
	now := d.clock.Now()
	if late := now.Sub(d.notAfter); !d.notAfter.IsZero() && late > 0 {
		return &TooLateError{What: "look", By: late}
	}
	if late := now.Sub(d.intent) - IntentAge; !d.intent.IsZero() && late > 0 {
		return &TooLateError{What: "intent", By: late}
	}
	return nil
}

// read makes one reading call within the time for it. One that met a connection
// which the server had just closed, as at its restart, is made once more.
func read[T any](ctx context.Context, a *Actor, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, a.readTimeout)
	defer cancel()
	v, err := ask(ctx)
	if errors.Is(err, remoting.Closed) {
		v, err = ask(ctx)
	}
	return v, err
}

// send makes one changing call within the time for it.
func (a *Actor) send(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.writeTimeout)
	defer cancel()
	return do(ctx)
}
