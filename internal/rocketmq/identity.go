// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Identity is a broker process as it describes itself.
type Identity struct {
	// Process is who it is; On(Process) reaches no other.
	Process  snapshot.Process
	Settings snapshot.Settings
	Runtime  snapshot.Runtime
}

// Identify asks a broker who it is: its settings (call 26) and then, over the
// same connection, its running state (call 28), which together name cluster,
// broker, replica and start (rule R03).
func (c *Client) Identify(ctx context.Context, addr string) (Identity, error) {
	settings, generation, err := c.settings(ctx, addr)
	if err != nil {
		return Identity{}, err
	}
	process := processOf(addr, settings, generation)
	runtime, err := c.On(process).Runtime(ctx, addr)
	if err != nil {
		return Identity{}, err
	}
	process.Booted = runtime.Booted
	return Identity{Process: process, Settings: settings, Runtime: runtime}, nil
}

func processOf(addr string, s snapshot.Settings, generation uint64) snapshot.Process {
	return snapshot.Process{Address: addr, Name: s.Name, Cluster: s.Cluster, BrokerID: s.BrokerID, Connection: generation}
}
