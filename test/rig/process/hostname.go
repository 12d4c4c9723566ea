// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// CanSetHostname tells whether programs can be given a host name of their own.
// It needs the right to make a UTS namespace (root, or CAP_SYS_ADMIN).
func CanSetHostname() bool {
	result := make(chan bool)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		result <- unix.Unshare(unix.CLONE_NEWUTS) == nil
	}()
	return <-result
}

// enterHostname moves the calling thread, and what it forks, into a UTS
// namespace with the given host name.
func enterHostname(name string) error {
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("making a UTS namespace for host name %q: %w", name, err)
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("setting host name %q: %w", name, err)
	}
	return nil
}
