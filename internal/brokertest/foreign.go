// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"net"
	"sync"
)

// foreignPort is a listener that is not remoting: it greets with an HTTP/2
// SETTINGS frame, as gRPC servers do, and closes when the client speaks.
type foreignPort struct {
	addr string
	ln   net.Listener
	wg   sync.WaitGroup

	mu    sync.Mutex
	ended bool
	conns map[net.Conn]struct{}
}

func (f *foreignPort) open() error {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for gRPC: %w", err)
	}
	f.ln, f.addr, f.conns = ln, ln.Addr().String(), map[net.Conn]struct{}{}
	f.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return // closed
			}
			if f.keep(conn) {
				f.wg.Go(func() { f.greet(conn) })
			}
		}
	})
	return nil
}

// keep notes a connection for close; false means that close came first.
func (f *foreignPort) keep(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		_ = conn.Close()
		return false
	}
	f.conns[conn] = struct{}{}
	return true
}

func (f *foreignPort) greet(conn net.Conn) {
	settings := []byte{0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xff}
	_, _ = conn.Write(settings)
	_, _ = conn.Read(make([]byte, 1)) // until the client speaks or leaves
	_ = conn.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, conn)
}

func (f *foreignPort) close() {
	if f.ln == nil {
		return
	}
	_ = f.ln.Close()
	f.mu.Lock()
	f.ended = true
	for conn := range f.conns {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}
