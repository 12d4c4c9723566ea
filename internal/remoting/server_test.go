// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
)

// testServer is a TCP server on a port of the kernel's choice. It hands every
// request to serve, on the goroutine of the connection.
type testServer struct {
	addr  string
	serve func(*serverConn, *Command)

	ln    net.Listener
	work  sync.WaitGroup
	mu    sync.Mutex
	conns []*serverConn
}

// serverConn is the server's side of a connection.
type serverConn struct {
	nc net.Conn
	mu sync.Mutex
}

func (c *serverConn) send(t *testing.T, cmd *Command) {
	frame, err := AppendCommand(nil, cmd)
	if err != nil {
		t.Error(err)
	}
	c.raw(frame)
}

// raw writes bytes as they are. The client may have hung up.
func (c *serverConn) raw(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.nc.Write(b)
}

// startServer runs a server that reads commands and passes them to serve. With
// a nil serve it answers everything with SUCCESS.
func startServer(t *testing.T, config *tls.Config, serve func(*serverConn, *Command)) *testServer {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	s := &testServer{addr: ln.Addr().String(), serve: serve, ln: ln}
	if serve == nil {
		s.serve = func(c *serverConn, req *Command) { c.send(t, NewResponse(req, RespSuccess, "")) }
	}
	s.work.Go(func() { s.accept(config) })
	t.Cleanup(s.stop)
	return s
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func (s *testServer) accept(config *tls.Config) {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			return
		}
		if config != nil {
			nc = tls.Server(nc, config)
		}
		c := &serverConn{nc: nc}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		s.work.Go(func() {
			defer nc.Close()
			for {
				req, err := ReadCommand(nc, 0)
				if err != nil {
					return
				}
				s.serve(c, req)
			}
		})
	}
}

// dials returns how many connections were accepted.
func (s *testServer) dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// hangUp closes all connections and goes on listening.
func (s *testServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.nc.Close()
	}
}

func (s *testServer) stop() {
	s.ln.Close()
	s.hangUp()
	s.work.Wait()
}

// startRaw runs a server that hands each connection to serve and then closes it.
func startRaw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln := listen(t, "127.0.0.1:0")
	var work sync.WaitGroup
	work.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer nc.Close()
				serve(nc)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		work.Wait()
	})
	return ln.Addr().String()
}

// newTestClient returns a client that is closed at the end of the test, and
// then has left no goroutine behind.
func newTestClient(t *testing.T, opts Options) *Client {
	t.Helper()
	before := gleak.Goroutines()
	c := NewClient(opts)
	t.Cleanup(func() {
		g := NewWithT(t)
		g.Expect(c.Close()).To(Succeed())
		g.Expect(c.conns).To(BeEmpty())
		g.Expect(c.peers).To(BeEmpty())
		g.Eventually(gleak.Goroutines).WithTimeout(5*time.Second).ShouldNot(gleak.HaveLeaked(before), "goroutines of the client")
	})
	return c
}

func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// asError returns err as an *Error and fails the test when it is none.
func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	NewWithT(t).Expect(ok).To(BeTrue(), "%v is an *Error", err)
	return e
}
