// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Master is the broker that a changing call is meant for: the master of the
// broker name in the cluster, reached at Addr. All three are what a name
// server showed. A pod address can be reused by a broker of another cluster,
// and an old master may still be routed, so the peer proves all of it before
// every change (rule R03).
type Master struct {
	Addr    string
	Name    string
	Cluster string
}

// proven is a client whose calls reach a master that has just proved to be the
// one that was meant, or fail. Only prove makes one, and only it can change
// anything.
type proven struct {
	*Client
	at Master
}

// prove asks the peer who it is (call 26) and returns an *IdentityError when it
// is not the master that was meant.
func (c *Client) prove(ctx context.Context, at Master) (proven, error) {
	settings, generation, err := c.settings(ctx, at.Addr)
	if err != nil {
		return proven{}, err
	}
	process := processOf(at.Addr, settings, generation)
	if settings.Name != at.Name || settings.Cluster != at.Cluster || settings.BrokerID != 0 {
		return proven{}, &IdentityError{Want: at, Got: process}
	}
	return proven{Client: c.On(process), at: at}, nil
}

// change sends one changing request.
func (p proven) change(ctx context.Context, code int, ext fields, body []byte) (*remoting.Command, error) {
	reply, _, err := p.call(ctx, p.at.Addr, code, ext, body)
	return reply, err
}
