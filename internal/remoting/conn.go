// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// errGone marks errors of calls that were not sent because the connection had
// ended in good order: they may look for another connection.
var errGone = errors.New("the connection has ended")

// conn is one connection with the calls that wait on it. One goroutine reads,
// one writes; calls hand frames to the writer, so a call that is cancelled never
// leaves half a frame.
type conn struct {
	addr       string
	generation uint64
	nc         net.Conn
	opts       Options
	secure     bool
	forget     func(cn *conn, ended bool)

	places chan struct{} // one for each call in flight
	out    chan outgoing
	done   chan struct{} // closed when the connection has ended

	mu       sync.Mutex
	err      *Error // why it ended
	retired  bool   // takes no new calls
	pending  map[int32]*pendingCall
	opaque   int32
	lastUse  time.Time
	lastRead time.Time // of a whole frame; zero when none came yet
	wrote    bool      // whether anything was sent
	writeErr error     // why nothing more can be sent
	idle     *time.Timer
}

// pendingCall is a call that waits for its response.
type pendingCall struct {
	opaque int32
	sent   time.Time       // when writing began; guarded by conn.mu
	result chan callResult // has room for one; sent to once
}

type callResult struct {
	reply    *Command
	received time.Time
	err      *Error
}

// outgoing is a frame for the writer; call is nil for a response.
type outgoing struct {
	frame []byte
	call  *pendingCall
}

func newConn(nc net.Conn, addr string, generation uint64, opts Options, forget func(*conn, bool)) *conn {
	_, secure := nc.(*tls.Conn)
	c := &conn{
		addr:       addr,
		generation: generation,
		nc:         nc,
		opts:       opts,
		secure:     secure,
		forget:     forget,
		places:     make(chan struct{}, opts.MaxInFlight),
		out:        make(chan outgoing),
		done:       make(chan struct{}),
		pending:    map[int32]*pendingCall{},
		lastUse:    time.Now(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = time.AfterFunc(opts.IdleTimeout, c.onIdle)
	return c
}

// call sends req and waits for its response.
func (c *conn) call(ctx context.Context, req *Command) (*Command, ReplyInfo, error) {
	info := ReplyInfo{Generation: c.generation, RemoteAddr: c.nc.RemoteAddr().String()}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-c.done:
		return nil, info, c.endedUnsent()
	case <-ctx.Done():
		return nil, info, waitEnded(ctx, Busy, "no place among the calls in flight became free in time")
	}
	p, err := c.register()
	if err != nil {
		return nil, info, err
	}
	reply, received, err := c.exchange(ctx, p, req)
	info.Sent = c.unregister(p)
	info.Received = received
	if e, ok := errors.AsType[*Error](err); ok {
		own := *e
		own.Sent = !info.Sent.IsZero()
		return nil, info, &own
	}
	return reply, info, err
}

func (c *conn) exchange(ctx context.Context, p *pendingCall, req *Command) (*Command, time.Time, error) {
	req.Opaque = p.opaque
	frame, err := AppendCommand(nil, req)
	if err != nil {
		return nil, time.Time{}, err
	}
	if n := len(frame) - 4; n > DefaultMaxFrame {
		// Servers close the connection on such a frame.
		return nil, time.Time{}, &Error{Kind: TooLarge, Err: &FrameTooLargeError{Length: n, Limit: DefaultMaxFrame}}
	}
	select {
	case c.out <- outgoing{frame, p}:
	case <-c.done:
		return nil, time.Time{}, c.endedUnsent()
	case <-ctx.Done():
		return nil, time.Time{}, waitEnded(ctx, Timeout, "the request could not be sent in time")
	}
	select {
	case r := <-p.result:
		return r.unpack()
	case <-c.done:
	case <-ctx.Done():
	}
	// The answer may have come in the same moment.
	select {
	case r := <-p.result:
		return r.unpack()
	default:
	}
	if err := c.ended(); err != nil {
		return nil, time.Time{}, err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.suspect(p)
	}
	return nil, time.Time{}, waitEnded(ctx, Timeout, "no answer in time")
}

func (r callResult) unpack() (*Command, time.Time, error) {
	if r.err != nil {
		return nil, r.received, r.err
	}
	return r.reply, r.received, nil
}
