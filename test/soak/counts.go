// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"sync"
)

// counts are what happened in a run. Its methods may be called from any
// goroutine.
type counts struct {
	mu sync.Mutex
	// by counts events by name, such as "resizes asked" or "broker SIGKILL".
	by map[string]int
	// invariant are the moments at which a broker showed fewer readable than
	// writable queues, at most maxQuoted of them; broken is how many there were.
	invariant []string
	broken    int
}

// maxQuoted bounds what a report quotes of one kind.
const maxQuoted = 20

func (c *counts) add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[name] += n
}

func (c *counts) get(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[name]
}

// names are the events that were counted, in order.
func (c *counts) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.by))
}

// violate notes that the invariant was broken.
func (c *counts) violate(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken++
	if len(c.invariant) < maxQuoted {
		c.invariant = append(c.invariant, text)
	}
}

// violations are how often the invariant was broken, and the first of them.
func (c *counts) violations() (int, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken, slices.Clone(c.invariant)
}
