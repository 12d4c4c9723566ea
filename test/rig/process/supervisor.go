// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Supervisor starts programs and sees to it that none is left.
type Supervisor struct {
	guard *guard

	mu      sync.Mutex
	running map[*Process]struct{}
	closed  bool
}

// NewSupervisor returns a Supervisor without programs. Close releases it.
func NewSupervisor() (*Supervisor, error) {
	g, err := startGuard()
	if err != nil {
		return nil, err
	}
	return &Supervisor{guard: g, running: map[*Process]struct{}{}}, nil
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("the supervisor is closed")

// Start starts a program. The error says which program could not be started.
func (s *Supervisor) Start(spec Spec) (*Process, error) {
	p := &Process{spec: spec, guard: s.guard, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock() // held over the start, so that Close misses none
	if s.closed {
		return nil, fmt.Errorf("starting %s: %w", spec.name(), ErrClosed)
	}
	started := make(chan error, 1)
	go func() {
		p.run(started)
		s.forget(p)
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.name(), err)
	}
	s.running[p] = struct{}{}
	return p, nil
}

func (s *Supervisor) forget(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, p)
}

// Running returns the programs that have not ended, in no particular order.
func (s *Supervisor) Running() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Process
	for p := range s.running {
		all = append(all, p)
	}
	return all
}

// Close stops every program that still runs, all at the same time, each with
// the grace given, and refuses further starts. It may be called again.
func (s *Supervisor) Close(grace time.Duration) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range s.Running() {
		wg.Go(func() { p.Stop(grace) })
	}
	wg.Wait()
	return s.guard.close()
}
