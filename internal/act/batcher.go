// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// How creations are gathered (rule K41).
const (
	// BatchWindow is how long the first creation for a broker waits for others.
	BatchWindow = 50 * time.Millisecond
	// BatchSize is how many go in one batch at most; with names of at most 127
	// characters a batch stays far below the limit of a frame.
	BatchSize = 500
	// BatchLimit is how many may wait for one broker; further ones are refused,
	// to be tried again, so that memory is bounded.
	BatchLimit = 20_000
)

// ErrBatchFull says that too many creations wait for a broker already; nothing
// was taken.
var ErrBatchFull = errors.New("too many topics wait to be created on this broker; try again later")

// ErrBatcherClosed says that the batcher is closed; nothing was taken.
var ErrBatcherClosed = errors.New("the batcher is closed")

// Creation is a topic to be created on one master where it does not exist.
type Creation struct {
	Master rocketmq.Master
	Config snapshot.TopicConfig
	// Done is told what came of it. It must not block.
	Done func(Created)
}

// Created is what came of a creation.
type Created struct {
	Broker, Topic string
	// Result is as of any change. Its Err is nil when the broker shows the topic
	// as wanted, or when it had a topic of that name already.
	Result
	// Existed says that the broker had the topic already. It was left as it is:
	// only first creation goes in a batch (rule R17).
	Existed bool
}

// Batcher gathers first creations and sends them in few requests: a broker
// rewrites and registers its whole table at every single one, so a thousand at
// once cost little more than one.
type Batcher struct {
	actor *Actor
	clock clock.Clock
	life  context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	queues map[rocketmq.Master]*batchQueue
}

// batchQueue is what waits for one master, in the order in which names came.
type batchQueue struct {
	waiting map[string]Creation
	order   []string
	// window is open while the first that waits gives others time; it is closed
	// by the flush. Nil when none is open.
	window chan struct{}
	busy   bool
}

// NewBatcher makes a batcher for the actor's cluster.
func NewBatcher(actor *Actor, clock clock.Clock) *Batcher {
	life, stop := context.WithCancel(context.Background())
	return &Batcher{actor: actor, clock: clock, life: life, stop: stop, queues: map[rocketmq.Master]*batchQueue{}}
}

// Create takes a creation and returns at once. One for the same master and name
// that still waits is replaced, and its Done is never called. The error is
// ErrBatchFull or ErrBatcherClosed.
func (b *Batcher) Create(c Creation) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrBatcherClosed
	}
	q := b.queues[c.Master]
	if q == nil {
		q = &batchQueue{waiting: map[string]Creation{}}
		b.queues[c.Master] = q
	}
	name := c.Config.Name
	if _, again := q.waiting[name]; !again {
		if len(q.order) >= BatchLimit {
			return ErrBatchFull
		}
		q.order = append(q.order, name)
	}
	c.Config = c.Config.Clone()
	q.waiting[name] = c
	b.schedule(c.Master, q)
	return nil
}

// Close ends the batches under way, and returns when their Done calls are over.
// What still waits is dropped: whoever wants it finds it missing.
func (b *Batcher) Close() {
	b.mu.Lock()
	b.closed = true
	clear(b.queues)
	b.mu.Unlock()
	b.stop()
	b.work.Wait()
}

// schedule sends a full batch now, and one that is not in a while. One batch at
// a time is under way for a master. The caller holds mu.
func (b *Batcher) schedule(at rocketmq.Master, q *batchQueue) {
	switch {
	case q.busy || b.closed:
	case len(q.order) == 0:
		delete(b.queues, at)
	case len(q.order) >= BatchSize:
		b.flush(at, q)
	case q.window == nil:
		window, timer := make(chan struct{}), b.clock.NewTimer(BatchWindow)
		q.window = window
		b.work.Go(func() { b.await(at, q, timer, window) })
	}
}

// await flushes when the window is over, unless that has happened meanwhile.
func (b *Batcher) await(at rocketmq.Master, q *batchQueue, timer clock.Timer, window <-chan struct{}) {
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-window:
		return
	case <-b.life.Done():
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && q.window == window {
		b.flush(at, q)
	}
}

// flush begins a batch. The caller holds mu.
func (b *Batcher) flush(at rocketmq.Master, q *batchQueue) {
	if q.window != nil {
		close(q.window)
		q.window = nil
	}
	n := min(len(q.order), BatchSize)
	batch := make([]Creation, 0, n)
	for _, name := range q.order[:n] {
		batch = append(batch, q.waiting[name])
		delete(q.waiting, name)
	}
	q.order = append([]string(nil), q.order[n:]...)
	q.busy = true
	b.work.Go(func() {
		b.actor.createBatch(b.life, at, batch)
		b.mu.Lock()
		defer b.mu.Unlock()
		q.busy = false
		if b.queues[at] == q {
			b.schedule(at, q)
		}
	})
}
