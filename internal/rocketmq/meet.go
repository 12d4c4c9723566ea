// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Meet asks a broker who it is by its settings alone (call 26): cluster, broker,
// replica, and the connection it was met on, which On holds to and which stands
// for one process (rule R03). When it started is not told: Booted is zero.
// Identify tells that as well, by call 28, for which a busy broker of 5.x takes
// seconds.
func (c *Client) Meet(ctx context.Context, addr string) (snapshot.Process, snapshot.Settings, error) {
	settings, generation, err := c.settings(ctx, addr)
	if err != nil {
		return snapshot.Process{}, snapshot.Settings{}, err
	}
	return processOf(addr, settings, generation), settings, nil
}
