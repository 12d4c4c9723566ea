// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// place is where a writer writes: one topic on one broker name.
type place struct{ broker, topic string }

// writers lets one writer at a time to each place (rule R17): a read, the write
// that rests on it, and the read-back belong together.
type writers struct {
	mu    sync.Mutex
	slots map[place]*slot
}

type slot struct {
	// free holds a token while nobody writes.
	free chan struct{}
	// users counts who holds or waits for it, so that it can be dropped.
	users int
}

func newWriters() *writers { return &writers{slots: map[place]*slot{}} }

// enter waits until the caller is the only writer of all the places, and returns
// what ends that. Places are taken in one order, so that two callers never wait
// for each other.
func (w *writers) enter(ctx context.Context, places ...place) (leave func(), err error) {
	places = slices.Clone(places)
	slices.SortFunc(places, func(a, b place) int {
		if c := strings.Compare(a.broker, b.broker); c != 0 {
			return c
		}
		return strings.Compare(a.topic, b.topic)
	})
	places = slices.Compact(places)
	var held []place
	leave = func() {
		for _, p := range held {
			w.release(p, true)
		}
	}
	for _, p := range places {
		s := w.join(p)
		select {
		case <-s.free:
			held = append(held, p)
		case <-ctx.Done():
			w.release(p, false)
			leave()
			return nil, context.Cause(ctx)
		}
	}
	return leave, nil
}

func (w *writers) join(p place) *slot {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.slots[p]
	if s == nil {
		s = &slot{free: make(chan struct{}, 1)}
		s.free <- struct{}{}
		w.slots[p] = s
	}
	s.users++
	return s
}

func (w *writers) release(p place, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.slots[p]
	if held {
		s.free <- struct{}{}
	}
	if s.users--; s.users == 0 {
		delete(w.slots, p)
	}
}
