// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// actor answers the calls that reach a node.
type actor interface {
	// handle answers a call, or returns nil for no answer. It runs with the
	// cluster locked.
	handle(rq *request) *reply
}

// node is one listening address. The address stays reserved while the node is
// stopped, so that nobody else can come up there.
type node struct {
	c    *Cluster
	name string
	addr string
	// hold is a socket that is bound but never listens: it keeps the port.
	hold int

	// Guarded by the cluster's mu.
	self   actor
	actor  actor // who answers here; not self while another impersonates it
	hung   bool
	resume chan struct{} // closed when a hung node goes on

	mu     sync.Mutex // guards what follows
	ln     net.Listener
	conns  map[*clientConn]struct{}
	life   int // counts the times the port was shut
	ending bool
	closed bool
	wg     sync.WaitGroup
}

// newNode reserves a free port of the kernel's choice on loopback.
func newNode(c *Cluster, name string) (*node, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("reserve a port for %s: %w", name, err)
	}
	n := &node{c: c, name: name, hold: fd, conns: map[*clientConn]struct{}{}}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reserve a port for %s: %w", name, err), unix.Close(fd))
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reserve a port for %s: %w", name, err), unix.Close(fd))
	}
	in, ok := sa.(*unix.SockaddrInet4)
	if !ok {
		return nil, errors.Join(fmt.Errorf("reserve a port for %s: not an IPv4 address", name), unix.Close(fd))
	}
	n.addr = fmt.Sprintf("127.0.0.1:%d", in.Port)
	return n, nil
}

// listen opens the port.
func (n *node) listen() error {
	lc := net.ListenConfig{Control: func(_, _ string, rc syscall.RawConn) error {
		var opt error
		err := rc.Control(func(fd uintptr) {
			opt = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		return errors.Join(err, opt)
	}}
	ln, err := lc.Listen(context.Background(), "tcp4", n.addr)
	if err != nil {
		return fmt.Errorf("listen as %s: %w", n.name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ln = ln
	n.wg.Go(func() { n.accept(ln) })
	return nil
}

func (n *node) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return // the listener was closed
		}
		if n.c.opts.TLS != nil {
			conn = tls.Server(conn, n.c.opts.TLS)
		}
		cc := &clientConn{n: n, conn: conn, addr: conn.RemoteAddr().String(), waiting: map[int32]chan *wireCommand{}}
		n.mu.Lock()
		if n.ln != ln || n.ending {
			n.mu.Unlock()
			_ = conn.Close()
			continue
		}
		cc.life = n.life
		n.conns[cc] = struct{}{}
		n.wg.Go(cc.serve)
		n.mu.Unlock()
	}
}

// shut closes the port and every connection: from then on connections are
// refused. The port stays reserved.
func (n *node) shut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life++
	if n.ln != nil {
		_ = n.ln.Close()
		n.ln = nil
	}
	for cc := range n.conns {
		_ = cc.conn.Close()
	}
}

// disconnect closes every connection; the port stays open.
func (n *node) disconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for cc := range n.conns {
		_ = cc.conn.Close()
	}
}

// spawn runs f on a goroutine that close waits for; not at all once it began.
func (n *node) spawn(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.ending {
		n.wg.Go(f)
	}
}

// close ends the node for good and waits for its goroutines.
func (n *node) close() {
	n.mu.Lock()
	n.ending = true
	n.mu.Unlock()
	n.shut()
	n.wg.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.closed = true
		_ = unix.Close(n.hold)
	}
}

// current reports whether the connection belongs to the node's present life.
func (n *node) current(cc *clientConn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life == cc.life
}

// Addr is where the node listens; it stays the same across restarts.
func (n *node) Addr() string { return n.addr }

// Name is the node's name in faults and records: "ns-0", "broker-a" for a
// master, "broker-a/1" for a slave, "proxy-0".
func (n *node) Name() string { return n.name }

// Hang makes the node keep its port open and answer nobody, like a process that
// was suspended, until Resume. A broker does not register meanwhile.
func (n *node) Hang() {
	n.c.enter()
	defer n.c.mu.Unlock()
	if !n.hung {
		n.hung, n.resume = true, make(chan struct{})
	}
}

// Resume lets a hung node go on. It carries out and answers what it was asked
// meanwhile, late as it is: a change that its caller gave up is made now.
func (n *node) Resume() {
	n.c.enter()
	defer n.c.mu.Unlock()
	if n.hung {
		n.hung = false
		close(n.resume)
	}
}

// Disconnect closes the node's connections, as a network that drops them does.
func (n *node) Disconnect() { n.disconnect() }

// Refuse makes connections to a running node be refused, as a firewall does;
// the node itself goes on: a broker still registers.
func (n *node) Refuse(on bool) error {
	n.c.enter()
	defer n.c.mu.Unlock()
	n.shut()
	if on {
		return nil
	}
	return n.listen()
}
