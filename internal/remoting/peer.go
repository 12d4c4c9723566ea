// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"net"
)

// peer is what the client holds for one address: a connection, or a dial that
// is under way. It exists only while there is one of them.
type peer struct {
	conn *conn
	dial *dial
}

// dial is an attempt to connect that all calls to the address share. It does
// not end with the call that began it.
type dial struct {
	done chan struct{} // closed when conn or err is set
	conn *conn
	err  error
}

// current returns the connection for new calls to addr, or nil.
func (c *Client) current(addr string) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[addr]; p != nil {
		return p.conn
	}
	return nil
}

// acquire returns a connection to addr and dials when there is none.
func (c *Client) acquire(ctx context.Context, addr string) (*conn, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &Error{Kind: Canceled, Err: ErrClientClosed}
	}
	p := c.peers[addr]
	if p != nil && p.conn != nil {
		c.mu.Unlock()
		return p.conn, nil
	}
	if p == nil {
		p = &peer{dial: &dial{done: make(chan struct{})}}
		c.peers[addr] = p
		c.work.Go(func() { c.connect(addr, p.dial) })
	}
	d := p.dial
	c.mu.Unlock()

	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, dialEnded(ctx)
	}
}

// connect dials addr and publishes the outcome.
func (c *Client) connect(addr string, d *dial) {
	defer close(d.done)
	ctx, cancel := context.WithTimeout(c.life, c.opts.DialTimeout)
	defer cancel()
	nc, err := c.open(ctx, addr)

	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.closed {
		nc.Close()
		err = &Error{Kind: Canceled, Err: ErrClientClosed}
	}
	if err != nil {
		delete(c.peers, addr)
		d.err = err
		return
	}
	cn := newConn(nc, addr, c.generations.Add(1), c.opts, c.forget)
	d.conn = cn
	c.conns[cn] = struct{}{}
	c.peers[addr] = &peer{conn: cn}
	c.work.Go(cn.read)
	c.work.Go(cn.write)
}

// forget makes new calls dial. A connection that is retired stays among those
// to close until it has ended.
func (c *Client) forget(cn *conn, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[cn.addr]; p != nil && p.conn == cn {
		delete(c.peers, cn.addr)
	}
	if ended {
		delete(c.conns, cn)
	}
}

// open connects to addr, resolving its name anew, and shakes hands where TLS is
// configured.
func (c *Client) open(ctx context.Context, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || port == "" {
		return nil, &Error{Kind: Unreachable, Err: saying("the address is not host:port", err)}
	}
	nc, err := c.opts.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, dialError(ctx, host, err)
	}
	if c.opts.TLS == nil {
		return nc, nil
	}
	return handshake(ctx, nc, host, c.opts.TLS)
}
