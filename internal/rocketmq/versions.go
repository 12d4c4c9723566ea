// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import "sync"

// versions remembers the version of each broker by address, together with the
// connection on which it was told.
type versions struct {
	mu     sync.Mutex
	byAddr map[string]metVersion
}

type metVersion struct {
	version    int
	generation uint64
}

func newVersions() *versions { return &versions{byAddr: map[string]metVersion{}} }

func (v *versions) learn(addr string, met metVersion) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byAddr[addr] = met
}

func (v *versions) forget(addr string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byAddr, addr)
}

func (v *versions) get(addr string) (metVersion, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	met, ok := v.byAddr[addr]
	return met, ok
}
