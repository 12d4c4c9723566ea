// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// Invoker sends one request to an address and waits for its reply, within ctx.
// *remoting.Client is one. A reply with another code than SUCCESS may come as
// a reply or as an error.
type Invoker interface {
	Invoke(ctx context.Context, addr string, request *remoting.Command) (*remoting.Command, error)
}

// Client makes RocketMQ's admin calls. It is safe for concurrent use. Besides
// the version of each broker it has met it keeps no state.
type Client struct {
	wire     Invoker
	parallel int

	mu sync.Mutex
	// versions holds each broker's version by address. An entry only saves a
	// call: one that is out of date is noticed when the broker refuses a code
	// or answers with another version.
	versions map[string]int
}

// defaultParallel is how many of a topic's queues are asked at the same time
// on one broker: enough to hide the round trip, few enough not to fill the
// broker's admin threads (16 by default).
const defaultParallel = 8

// Option changes how a Client works.
type Option func(*Client)

// WithParallel sets how many calls of one method may be under way at the same
// time on one broker; values below 1 mean 1.
func WithParallel(n int) Option {
	return func(c *Client) { c.parallel = max(n, 1) }
}

// New returns a client that sends through wire.
func New(wire Invoker, options ...Option) *Client {
	c := &Client{wire: wire, parallel: defaultParallel, versions: map[string]int{}}
	for _, o := range options {
		o(c)
	}
	return c
}

// call sends one request and returns its successful reply. Failures are
// refined errors.
func (c *Client) call(ctx context.Context, addr string, code int, ext fields, body []byte) (*remoting.Command, error) {
	reply, err := c.answer(ctx, addr, code, ext, body)
	if err == nil {
		err = remoting.ErrorFromResponse(addr, code, reply)
	}
	if err != nil {
		return nil, refine(err)
	}
	return reply, nil
}

// answer sends one request and returns the reply whatever its code.
func (c *Client) answer(ctx context.Context, addr string, code int, ext fields, body []byte) (*remoting.Command, error) {
	return c.wire.Invoke(ctx, addr, &remoting.Command{
		Code:      code,
		Language:  remoting.Language,
		Version:   remoting.Version,
		ExtFields: ext,
		Body:      body,
	})
}

// read sends one request and decodes the reply's body.
func read[T any](ctx context.Context, c *Client, addr string, code int, ext fields, decode func([]byte) (T, error)) (T, error) {
	var none T
	reply, err := c.call(ctx, addr, code, ext, nil)
	if err != nil {
		return none, err
	}
	v, err := decode(reply.Body)
	if err != nil {
		return none, malformed(addr, code, err)
	}
	return v, nil
}
