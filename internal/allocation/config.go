// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

// ByConfig is AllocateMessageQueueByConfig, and AllocateByConfig of
// rocketmq-client-go: the member takes the queues of its own configuration,
// whatever there is and whoever else there is. It checks nothing.
type ByConfig struct {
	// Queues is what the application configured.
	Queues []Queue
}

// Name is "CONFIG".
func (ByConfig) Name() string { return NameConfig }

// Allocate returns the configured list.
func (s ByConfig) Allocate(string, []Queue, []string) ([]Queue, error) { return s.Queues, nil }
