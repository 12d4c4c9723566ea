// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
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

// prove asks the peer who it is (call 26) and returns a client whose calls
// reach that very process, or an *IdentityError when it is not the master that
// was meant.
func (c *Client) prove(ctx context.Context, at Master) (*Client, error) {
	settings, generation, err := c.settings(ctx, at.Addr)
	if err != nil {
		return nil, err
	}
	process := processOf(at.Addr, settings, generation)
	if settings.Name != at.Name || settings.Cluster != at.Cluster || settings.BrokerID != 0 {
		return nil, &IdentityError{Want: at, Got: process}
	}
	return c.On(process), nil
}

// change sends one changing request. The client is one that prove returned.
func (c *Client) change(ctx context.Context, at Master, code int, ext fields, body []byte) error {
	_, _, err := c.call(ctx, at.Addr, code, ext, body)
	return err
}
