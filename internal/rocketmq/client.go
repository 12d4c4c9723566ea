// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Invoker sends one request to an address and waits for its answer, within ctx.
// *remoting.Client is one; its methods say what an answer, an error and a
// generation are. A connection's generation stands for one server process.
type Invoker interface {
	InvokeInfo(ctx context.Context, addr string, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error)
	InvokeOn(ctx context.Context, addr string, generation uint64, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error)
}

// Client makes RocketMQ's admin calls. It is safe for concurrent use. Besides
// the version of each broker it has met it keeps no state.
type Client struct {
	wire     Invoker
	parallel int
	versions *versions
	// pin is the connection that calls to its address may go over; none when
	// its generation is zero.
	pin pin
}

type pin struct {
	addr       string
	generation uint64
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
	c := &Client{wire: wire, parallel: defaultParallel, versions: newVersions()}
	for _, o := range options {
		o(c)
	}
	return c
}

// On returns a client whose calls to the process's address reach that process
// or fail: they go over the connection on which Identify met it, and when that
// is gone they are an error that is remoting.ErrOtherConnection, with nothing
// sent. A look at a broker identifies it once and asks all its questions on the
// client that On returns, so that every answer is one process's (rule R01).
func (c *Client) On(process snapshot.Process) *Client {
	pinned := *c
	pinned.pin = pin{addr: process.Address, generation: process.Connection}
	return &pinned
}

// call sends one request and returns its successful reply and the generation of
// the connection. Failures are refined errors.
func (c *Client) call(ctx context.Context, addr string, code int, ext fields, body []byte) (*remoting.Command, uint64, error) {
	reply, generation, err := c.answer(ctx, addr, code, ext, body)
	if err == nil {
		err = remoting.ErrorFromResponse(addr, code, reply)
	}
	if err != nil {
		return nil, generation, refine(err)
	}
	return reply, generation, nil
}

// answer sends one request. When the peer answered with another code than
// SUCCESS it may return both a reply and an error.
func (c *Client) answer(ctx context.Context, addr string, code int, ext fields, body []byte) (*remoting.Command, uint64, error) {
	request := &remoting.Command{Code: code, ExtFields: ext, Body: body}
	var (
		reply *remoting.Command
		info  remoting.ReplyInfo
		err   error
	)
	if c.pin.generation != 0 && c.pin.addr == addr {
		reply, info, err = c.wire.InvokeOn(ctx, addr, c.pin.generation, request)
	} else {
		reply, info, err = c.wire.InvokeInfo(ctx, addr, request)
	}
	return reply, info.Generation, err
}

// read sends one request and decodes the reply's body.
func read[T any](ctx context.Context, c *Client, addr string, code int, ext fields, decode func([]byte) (T, error)) (T, uint64, error) {
	var none T
	reply, generation, err := c.call(ctx, addr, code, ext, nil)
	if err != nil {
		return none, generation, err
	}
	v, err := decode(reply.Body)
	if err != nil {
		return none, generation, malformed(addr, code, err)
	}
	return v, generation, nil
}

// readBody is read for callers that do not ask on which connection.
func readBody[T any](ctx context.Context, c *Client, addr string, code int, ext fields, decode func([]byte) (T, error)) (T, error) {
	v, _, err := read(ctx, c, addr, code, ext, decode)
	return v, err
}
