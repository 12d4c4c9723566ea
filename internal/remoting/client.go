// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Client calls RocketMQ servers. It keeps one connection per address, dialled
// when a call needs it and closed when no call has needed it for a while. It is
// safe for use by many goroutines.
//
// A call is never repeated once a byte of it may have left: whether to repeat
// is for the caller, who knows if the call changes something.
type Client struct {
	opts        Options
	generations atomic.Uint64
	stop        context.CancelCauseFunc
	life        context.Context // ends with the client; bounds dials
	work        sync.WaitGroup  // dials and connections

	mu     sync.Mutex
	closed bool
	peers  map[string]*peer
	conns  map[*conn]struct{} // all that are open, retired ones included
}

// ErrClientClosed is the cause of the errors of calls on a closed client.
var ErrClientClosed = errors.New("the client is closed")

// ErrOtherConnection is the cause of the error of InvokeOn when the connection
// it names is no longer the current one.
var ErrOtherConnection = errors.New("the connection was replaced since the peer was last identified")

// ReplyInfo says how an answer came about.
type ReplyInfo struct {
	// Generation identifies the connection. It is never used twice by one
	// client, so an equal generation means the same connection and so the same
	// server process.
	Generation uint64
	// RemoteAddr is the address connected to, after resolving.
	RemoteAddr string
	// Sent is when the request began to be written. It is zero when it never
	// was.
	Sent time.Time
	// Received is when the answer had been read.
	Received time.Time
}

// NewClient returns a client. It connects to nothing until the first call.
func NewClient(opts Options) *Client {
	life, stop := context.WithCancelCause(context.Background())
	return &Client{
		opts:  opts.withDefaults(),
		life:  life,
		stop:  stop,
		peers: map[string]*peer{},
		conns: map[*conn]struct{}{},
	}
}

// Invoke sends req to addr ("host:port") and waits for the answer. req itself
// is not changed: opaque, flag and signature are set on a copy, language and
// version when they are zero.
//
// Every failure is an *Error. When the peer answered with a code other than
// SUCCESS both results are set.
func (c *Client) Invoke(ctx context.Context, addr string, req *Command) (*Command, error) {
	reply, _, err := c.InvokeInfo(ctx, addr, req)
	return reply, err
}

// InvokeInfo is Invoke that also tells how the answer came about.
func (c *Client) InvokeInfo(ctx context.Context, addr string, req *Command) (*Command, ReplyInfo, error) {
	return c.invoke(ctx, addr, req, c.acquire)
}

// InvokeOn is InvokeInfo that sends only on the connection of the given
// generation. When that one is gone the call fails with kind Closed and
// ErrOtherConnection, and nothing was sent: whoever answers now has to be
// identified anew.
func (c *Client) InvokeOn(ctx context.Context, addr string, generation uint64, req *Command) (*Command, ReplyInfo, error) {
	return c.invoke(ctx, addr, req, func(_ context.Context, addr string) (*conn, error) {
		if cn := c.current(addr); cn != nil && cn.generation == generation {
			return cn, nil
		}
		return nil, &Error{Kind: Closed, Err: ErrOtherConnection}
	})
}

// Generation returns the generation of the open connection to addr, or 0 when
// there is none.
func (c *Client) Generation(addr string) uint64 {
	if cn := c.current(addr); cn != nil {
		return cn.generation
	}
	return 0
}

// Close closes all connections, fails the calls that wait on them with kind
// Canceled, and returns when nothing of the client runs any more.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	open := make([]*conn, 0, len(c.conns))
	for cn := range c.conns {
		open = append(open, cn)
	}
	c.mu.Unlock()
	c.stop(ErrClientClosed)
	for _, cn := range open {
		cn.fail(&Error{Kind: Canceled, Err: ErrClientClosed})
	}
	c.work.Wait()
	return nil
}

// maxAttempts bounds how often a call that was not sent looks for another
// connection: one may have closed for idleness at that moment.
const maxAttempts = 3

func (c *Client) invoke(ctx context.Context, addr string, req *Command, acquire func(context.Context, string) (*conn, error)) (*Command, ReplyInfo, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	out, err := c.prepare(ctx, req)
	for attempt := 1; err == nil; attempt++ {
		var cn *conn
		if cn, err = acquire(ctx, addr); err != nil {
			break
		}
		reply, info, callErr := cn.call(ctx, out)
		if callErr == nil {
			return reply, info, ErrorFromResponse(addr, req.Code, reply)
		}
		if !errors.Is(callErr, errGone) || attempt == maxAttempts {
			return nil, info, located(callErr, addr, req.Code)
		}
	}
	return nil, ReplyInfo{}, located(err, addr, req.Code)
}

// prepare returns a signed copy of req.
func (c *Client) prepare(ctx context.Context, req *Command) (*Command, error) {
	out := *req
	out.Flag = 0
	if out.Language == "" {
		out.Language = Language
	}
	if out.Version == 0 {
		out.Version = Version
	}
	if c.opts.Credentials == nil {
		return &out, nil
	}
	cred, err := c.opts.Credentials(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, waitEnded(ctx, Denied, "the credentials could not be got in time")
	}
	if err != nil {
		return nil, &Error{Kind: Denied, Err: err}
	}
	Sign(&out, cred)
	return &out, nil
}

// located returns err with address and request code. Errors of a connection are
// shared by all calls on it, so the error is copied.
func located(err error, addr string, code int) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Kind: Malformed, Err: err}
	}
	out := *e
	out.Addr, out.Code = addr, code
	return &out
}
