// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Observer watches one RocketMQ cluster. All its methods may be called from any
// goroutine. A [Manager] makes, runs and stops observers.
type Observer struct {
	id       ID
	cfg      Config
	hub      *Hub
	clock    clock.Clock
	log      logr.Logger
	wire     Wire
	client   *rocketmq.Client
	poke     chan struct{}
	current  atomic.Pointer[snapshot.Cluster]
	lookSeq  atomic.Uint64
	looks    *lookQueue
	movement *movement

	mu    sync.Mutex
	known map[string]struct{} // broker names ever seen
	// unrouted are "name server/broker" where the topic that bears the broker's
	// name has been missing for long, as of the last sweep.
	unrouted map[string]struct{}

	bookMu   sync.Mutex // held while names are resolved
	book     *addressBook
	resolver Resolver

	// The sweep's own memory; only the goroutine that sweeps touches it.
	warm  *warmUps
	audit *routeAudit
	seq   uint64
}

// newObserver makes an observer that does nothing until Run.
func newObserver(id ID, cfg Config, hub *Hub, opts Options) (*Observer, error) {
	wire, err := cfg.Connect()
	if err != nil {
		return nil, err
	}
	cfg.Timings = cfg.Timings.withDefaults()
	o := &Observer{
		id: id, cfg: cfg, hub: hub, clock: opts.Clock, log: opts.Log,
		wire: wire, client: rocketmq.New(wire),
		poke:     make(chan struct{}, 1),
		book:     newAddressBook(opts.Resolver, opts.Clock.Now),
		resolver: opts.Resolver,
		known:    map[string]struct{}{},
		warm:     newWarmUps(opts.Clock.Now),
		audit:    newRouteAudit(),
		movement: newMovement(),
	}
	o.looks = newLookQueue(o.lookPass)
	o.remember(cfg.KnownBrokers)
	return o, nil
}

// Cluster is what the last sweep saw. It is never nil; before the first sweep
// it has Seq 0 and knows nothing. Nobody may change it.
func (o *Observer) Cluster() *snapshot.Cluster {
	if c := o.current.Load(); c != nil {
		return c
	}
	return &snapshot.Cluster{Name: o.cfg.ClusterName}
}

// Identity is the physical cluster as the last sweep saw it; false while that
// is not known.
func (o *Observer) Identity() (Identity, bool) { return IdentityOf(o.Cluster()) }

// Poke asks for a sweep soon, because something was just changed. Many pokes
// make one sweep.
func (o *Observer) Poke() {
	select {
	case o.poke <- struct{}{}:
	default:
	}
}

// pokeGap is the least time between two sweeps, however often somebody pokes. A
// sweep that takes long is followed by twice its own time at rest, so that pokes
// by many creations do not keep a large cluster, or this process, busy with
// sweeping alone.
const pokeGap = time.Second

// rest is how long nobody is asked after a sweep that took so long.
func (o *Observer) rest(took time.Duration) time.Duration {
	return min(max(pokeGap, 2*took), o.cfg.Timings.Sweep)
}

// run sweeps until ctx ends, and then closes the connections.
func (o *Observer) run(ctx context.Context) {
	defer o.close()
	for ctx.Err() == nil {
		began := o.clock.Now()
		o.sweep(ctx)
		rest := o.rest(o.clock.Since(began))
		if !o.wait(ctx, rest, nil) || !o.wait(ctx, o.cfg.Timings.Sweep-rest, o.poke) {
			return
		}
	}
}

// close ends all looks and connections and returns when none is left.
func (o *Observer) close() {
	o.looks.close()
	if err := o.wire.Close(); err != nil {
		o.log.Error(err, "closing the connections of a cluster", "cluster", o.cfg.ClusterName)
	}
}

// wait waits for the time or for a signal on early; false when ctx ended.
func (o *Observer) wait(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := o.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-early:
		return true
	case <-timer.C():
		return true
	}
}

// remember adds broker names to those ever seen and returns all of them,
// sorted. A broker that stops registering may come back with what it holds, so
// it is never concluded to be gone (case O33, trap 13).
func (o *Observer) remember(names []string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range names {
		o.known[n] = struct{}{}
	}
	return slices.Sorted(maps.Keys(o.known))
}

// ForgetBroker drops a broker that a person says is gone for good. If a name
// server shows it, it is known again.
func (o *Observer) ForgetBroker(name string) {
	o.mu.Lock()
	delete(o.known, name)
	o.mu.Unlock()
	o.Poke()
}

func (o *Observer) resolve(ctx context.Context) []serverAddress {
	ctx, cancel := o.reading(ctx)
	defer cancel()
	o.bookMu.Lock()
	defer o.bookMu.Unlock()
	return o.book.resolve(ctx, o.cfg.NameServers)
}

// origin is the origin of an answer to a request that is about to be sent.
func (o *Observer) origin(from snapshot.Process) snapshot.Origin {
	return snapshot.Origin{Sent: o.clock.Now(), From: from}
}

// maxReading bounds one reading call, whatever the configured timeout: that one
// has to cover a topic write that waits for a hanging name server, and a look
// that waits as long for every silent server is too old to prove anything.
const maxReading = 10 * time.Second

func (o *Observer) reading(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(o.cfg.Timings.CallTimeout, maxReading))
}

// call makes one reading call within the call timeout. One that met a
// connection which the server had just closed, as at its restart, is made once
// more on a new one; a client that is bound to one process fails then.
func call[T any](ctx context.Context, o *Observer, addr string, ask func(context.Context, string) (T, error)) (T, error) {
	ctx, cancel := o.reading(ctx)
	defer cancel()
	v, err := ask(ctx, addr)
	if errors.Is(err, remoting.Closed) {
		v, err = ask(ctx, addr)
	}
	return v, err
}
