// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// ErrStopped says that the observer was stopped, because its BrokerCluster was
// changed or deleted or this process no longer leads.
var ErrStopped = errors.New("the observer of this cluster was stopped")

// lookQueue gathers the looks that are asked for while a pass is under way into
// the next pass. A look never joins a pass that has begun: it must start after
// it was asked for (rule R01).
type lookQueue struct {
	pass func(context.Context, map[string]LookOptions) map[string]snapshot.TopicLook

	mu      sync.Mutex
	stopped bool
	busy    bool
	next    *lookBatch
	work    sync.WaitGroup
	life    context.Context
	stop    context.CancelFunc
}

// lookBatch is one pass to come, and then its results.
type lookBatch struct {
	topics  map[string]LookOptions
	looks   map[string]snapshot.TopicLook
	done    chan struct{}
	waiting int
	ctx     context.Context
	cancel  context.CancelFunc
}

func newLookQueue(pass func(context.Context, map[string]LookOptions) map[string]snapshot.TopicLook) *lookQueue {
	life, stop := context.WithCancel(context.Background())
	return &lookQueue{pass: pass, life: life, stop: stop}
}

func (q *lookQueue) ask(ctx context.Context, topic string, opts LookOptions) (snapshot.TopicLook, error) {
	b, err := q.join(topic, opts)
	if err != nil {
		return snapshot.TopicLook{}, err
	}
	defer q.leave(b)
	select {
	case <-ctx.Done():
		return snapshot.TopicLook{}, context.Cause(ctx)
	case <-b.done:
	}
	if q.life.Err() != nil {
		return snapshot.TopicLook{}, ErrStopped
	}
	return b.looks[topic], nil
}

// join puts the question into the next batch and starts it if none is running.
func (q *lookQueue) join(topic string, opts LookOptions) (*lookBatch, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return nil, ErrStopped
	}
	if q.next == nil {
		q.next = &lookBatch{topics: map[string]LookOptions{}, done: make(chan struct{})}
		q.next.ctx, q.next.cancel = context.WithCancel(q.life)
	}
	b := q.next
	if other, ok := b.topics[topic]; ok {
		opts = other.merge(opts)
	}
	b.topics[topic] = opts
	b.waiting++
	if !q.busy {
		q.busy = true
		q.work.Go(q.run)
	}
	return b, nil
}

// leave says that a caller no longer waits; a pass for nobody is cut off.
func (q *lookQueue) leave(b *lookBatch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.waiting--; b.waiting > 0 {
		return
	}
	b.cancel()
	if q.next == b {
		q.next = nil
	}
}

// run makes passes while somebody waits.
func (q *lookQueue) run() {
	for {
		q.mu.Lock()
		b := q.next
		q.next = nil
		if b == nil {
			q.busy = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		b.looks = q.pass(b.ctx, b.topics)
		close(b.done)
	}
}

// close ends all passes, makes later questions fail, and returns when no pass
// runs any more.
func (q *lookQueue) close() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.stop()
	q.work.Wait()
}
