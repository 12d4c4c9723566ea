// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Options are what all observers of a manager share. Zero fields mean the
// system's own.
type Options struct {
	Clock    clock.Clock
	Resolver Resolver
	Log      logr.Logger
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	return o
}

// Manager keeps one observer per BrokerCluster. It is a controller-runtime
// Runnable for the leader: observers made by Ensure run from Start until its
// context ends.
type Manager struct {
	opts Options
	hub  *Hub

	mu        sync.Mutex
	leading   context.Context // nil before Start, ended after it
	observers map[ID]*running
}

// running is an observer and what stops it.
type running struct {
	observer *Observer
	stop     context.CancelFunc // nil before it was launched
	done     chan struct{}      // closed when its goroutine has ended
}

// NewManager makes a manager without observers.
func NewManager(opts Options) *Manager {
	return &Manager{opts: opts.withDefaults(), hub: NewHub(), observers: map[ID]*running{}}
}

// Hub is where consumers say what wakes them.
func (m *Manager) Hub() *Hub { return m.hub }

// NeedLeaderElection makes the manager run on the leader only (rule K40).
func (m *Manager) NeedLeaderElection() bool { return true }

// Start runs all observers until ctx ends, and returns when every goroutine of
// theirs has ended. It must be called once.
func (m *Manager) Start(ctx context.Context) error {
	m.mu.Lock()
	m.leading = ctx
	for _, r := range m.observers {
		m.launch(r)
	}
	m.mu.Unlock()

	<-ctx.Done()

	m.mu.Lock()
	all := slices.Collect(maps.Values(m.observers))
	m.mu.Unlock()
	for _, r := range all {
		<-r.done
	}
	return nil
}

// Ensure returns the observer of a cluster with this config. One that runs with
// another config is replaced: everything it knew begins anew, its subscribers
// stay. The error is that of Config.Connect.
func (m *Manager) Ensure(id ID, cfg Config) (*Observer, error) {
	m.mu.Lock()
	old := m.observers[id]
	if old != nil && old.observer.cfg.Same(cfg) {
		m.mu.Unlock()
		return old.observer, nil
	}
	o, err := newObserver(id, cfg, m.hub, m.opts)
	if err != nil {
		m.mu.Unlock()
		return nil, err
	}
	r := &running{observer: o, done: make(chan struct{})}
	m.observers[id] = r
	if m.leading != nil {
		m.launch(r)
	}
	m.mu.Unlock()
	if old != nil {
		old.end()
	}
	return o, nil
}

// Get returns the observer of a cluster, if there is one.
func (m *Manager) Get(id ID) (*Observer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.observers[id]
	if !ok {
		return nil, false
	}
	return r.observer, true
}

// Remove stops the observer of a cluster and returns when it has stopped.
func (m *Manager) Remove(id ID) {
	m.mu.Lock()
	r, ok := m.observers[id]
	delete(m.observers, id)
	m.mu.Unlock()
	if ok {
		r.end()
	}
}

// SamePhysical are the other observed clusters that lead to the same RocketMQ,
// sorted (rules R19, K13). One whose identity is not known yet is not among
// them: it cannot hold a claim either.
func (m *Manager) SamePhysical(id ID) []ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.observers[id]
	if !ok {
		return nil
	}
	mine, known := r.observer.Identity()
	if !known {
		return nil
	}
	var same []ID
	for other, r := range m.observers {
		if theirs, known := r.observer.Identity(); other != id && known && mine.Same(theirs) {
			same = append(same, other)
		}
	}
	slices.SortFunc(same, func(a, b ID) int {
		switch {
		case a == b:
			return 0
		case a.Namespace < b.Namespace, a.Namespace == b.Namespace && a.Name < b.Name:
			return -1
		}
		return 1
	})
	return same
}

// Cluster is what was last seen of a cluster; nil when it is not observed.
func (m *Manager) Cluster(id ID) *snapshot.Cluster {
	if o, ok := m.Get(id); ok {
		return o.Cluster()
	}
	return nil
}

// launch starts an observer's goroutine. The caller holds mu.
func (m *Manager) launch(r *running) {
	ctx, cancel := context.WithCancel(m.leading)
	r.stop = cancel
	go func() {
		defer close(r.done)
		defer cancel()
		r.observer.run(ctx)
	}()
}

// end stops an observer and waits for its goroutine, which is soon: every call
// ends with its context. The manager's lock is not held meanwhile, for a wake
// may call the manager.
func (r *running) end() {
	if r.stop == nil { // it was never launched
		r.observer.close()
		return
	}
	r.stop()
	<-r.done
}
