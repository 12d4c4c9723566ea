// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import "time"

const (
	// maxBackoff and backoffReset are those of the kubelet.
	maxBackoff   = 5 * time.Minute
	backoffReset = 10 * time.Minute
)

// backoff says how long to wait before a container is started again: not at all
// the first time, then twice as long each time.
type backoff struct {
	base time.Duration
	next time.Duration
}

// after returns the wait before the next start of a container that ran for the
// duration given. One that ran long starts afresh.
func (b *backoff) after(ran time.Duration) time.Duration {
	if ran >= backoffReset {
		b.next = 0
	}
	wait := b.next
	b.next = min(max(b.base, 2*b.next), maxBackoff)
	return wait
}
