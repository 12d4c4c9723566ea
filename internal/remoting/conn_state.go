// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

var (
	errIdle    = errors.New("no call for a while")
	errRetired = errors.New("no answer for a while")
)

// register makes room for a response.
func (c *conn) register() (*pendingCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.retired {
		return nil, c.unsentLocked()
	}
	for c.opaque++; c.pending[c.opaque] != nil; c.opaque++ {
		// Numbers come round again after four billion calls.
	}
	p := &pendingCall{opaque: c.opaque, result: make(chan callResult, 1)}
	c.pending[p.opaque] = p
	return p, nil
}

// unregister forgets p and returns when it was sent.
func (c *conn) unregister(p *pendingCall) time.Time {
	c.mu.Lock()
	delete(c.pending, p.opaque)
	c.lastUse = time.Now()
	sent, last := p.sent, c.retired && len(c.pending) == 0
	c.mu.Unlock()
	if last {
		c.fail(&Error{Kind: Closed, Err: errRetired})
	}
	return sent
}

// take removes and returns the call that waits for opaque, or nil.
func (c *conn) take(opaque int32) *pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[opaque]
	delete(c.pending, opaque)
	return p
}

// beginWrite notes that p is being sent, and reports false when nobody waits
// for it any more.
func (c *conn) beginWrite(p *pendingCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p != nil {
		if c.pending[p.opaque] != p {
			return false
		}
		p.sent = time.Now()
	}
	c.wrote = true
	return true
}

// suspect retires the connection when nothing at all came since p was sent. A
// host that vanished looks like this for many minutes, while dialling its name
// again may lead to its successor. Calls that still wait keep the connection.
func (c *conn) suspect(p *pendingCall) {
	c.mu.Lock()
	silent := !p.sent.IsZero() && c.lastRead.Before(p.sent)
	c.retired = c.retired || silent
	c.mu.Unlock()
	if silent {
		c.forget(c, false)
	}
}

// onIdle closes the connection when no call used it for the idle time.
func (c *conn) onIdle() {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	wait := c.opts.IdleTimeout
	if c.opaque == 0 {
		// Whoever had it dialled is about to use it.
		wait = max(wait, c.opts.DialTimeout)
	}
	if len(c.pending) == 0 {
		wait -= time.Since(c.lastUse)
	}
	if wait > 0 {
		c.idle.Reset(wait)
		c.mu.Unlock()
		return
	}
	// Retired first, so that no call registers between here and the end.
	c.retired = true
	c.mu.Unlock()
	c.fail(&Error{Kind: Closed, Err: errIdle})
}

// fail ends the connection; the first reason counts.
func (c *conn) fail(reason *Error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = reason
	c.idle.Stop()
	c.mu.Unlock()
	// New calls must dial before those that waited here learn of the end.
	c.forget(c, true)
	close(c.done)
	nc := c.nc
	if tc, ok := nc.(*tls.Conn); ok {
		// Closing TLS itself would write, and could wait for the peer.
		nc = tc.NetConn()
	}
	nc.Close()
}

// ended returns why the connection ended, or nil while it is open.
func (c *conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return c.err
}

// endedUnsent is ended for a call of which nothing was sent.
func (c *conn) endedUnsent() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsentLocked()
}

// unsentLocked marks the end as harmless when the connection had served before:
// it was idle, retired, or closed by the server. One that failed before its
// first answer would fail again.
func (c *conn) unsentLocked() error {
	if c.err == nil || (c.err.Kind == Closed && (!c.lastRead.IsZero() || errors.Is(c.err, errIdle) || errors.Is(c.err, errRetired))) {
		return &Error{Kind: Closed, Err: fmt.Errorf("%w before the request was sent", errGone)}
	}
	return c.err
}
