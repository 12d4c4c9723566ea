// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lockstep-dev/lockstep/internal/resize"
)

// memory is what the running process knows of one object beside what is
// written down. It dies with the process: every window begins again then (rule
// R05).
type memory struct {
	UID types.UID
	// Lived is what the planner saw with its own eyes.
	Lived resize.Lived
	// UnknownSince is when too little of the object began to be seen.
	UnknownSince time.Time
	// NextLook is when the planner asked to look again.
	NextLook time.Time
	// Generation and Annotations are the spec that was last planned for; an
	// edit looks at once.
	Planned string
	// HandedOver is when the topic's first creation was handed to the batcher.
	HandedOver time.Time
	// Wrote is when the status was last written.
	Wrote time.Time
	// Looked says that this process took a look at the topic since it adopted
	// it: stranded messages are found only so.
	Looked bool
	// Failed is what the last write said where it failed.
	Failed string
}

// memories holds one memory per object. A reconciler has each object in one
// worker at a time, so a memory needs no lock of its own.
type memories struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*memory
}

func newMemories() *memories { return &memories{all: map[types.NamespacedName]*memory{}} }

// of returns the memory of an object; another UID under the same name begins
// anew.
func (m *memories) of(key types.NamespacedName, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if got, ok := m.all[key]; ok && got.UID == uid {
		return got
	}
	got := &memory{UID: uid}
	m.all[key] = got
	return got
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
