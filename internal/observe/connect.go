// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import "github.com/lockstep-dev/lockstep/internal/rocketmq"

// Wire is the connections to one cluster; *remoting.Client is one. Each
// observer has its own, so that two clusters never share a connection, a
// credential or a cache (case O21).
type Wire interface {
	rocketmq.Invoker
	// Close ends all connections. Calls that wait fail at once.
	Close() error
}

// Connect makes the wire through which a cluster is asked. It only prepares:
// addresses are dialled, and credentials got, when a call needs them.
type Connect func() (Wire, error)
