// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/net/http2"
)

func TestDialFailures(t *testing.T) {
	ln := listen(t, "127.0.0.1:0")
	closed := ln.Addr().String()
	ln.Close()
	failWith := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	for _, tc := range []struct {
		name, addr, text string
		dial             func(context.Context, string, string) (net.Conn, error)
	}{
		{"refused", closed, "connect: connection refused", nil},
		{"no port", "namesrv", "the address is not host:port", nil},
		{"no host", ":9876", "the address is not host:port", nil},
		{"empty port", "namesrv:", "the address is not host:port", nil},
		{"O20 name that does not resolve", "namesrv.invalid:9876", "the name \"namesrv.invalid\" ", nil},
		{"O20 name that does not exist", "namesrv:9876", "the name \"namesrv\" does not resolve",
			failWith(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "namesrv", IsNotFound: true}})},
		{"O20 name service that fails", "namesrv:9876", "the name \"namesrv\" cannot be resolved now: server misbehaving",
			failWith(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "namesrv", Server: "10.96.0.10:53"}})},
		{"no route", "10.255.255.1:9876", "no route to host",
			failWith(&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH})},
		{"silence", "10.255.255.1:9876", "no connection in time", func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
		}},
		{"another failure", "a:1", "boom", failWith(errors.New("boom"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := newTestClient(t, Options{DialContext: tc.dial, DialTimeout: 2 * time.Second})
			_, err := c.Invoke(withTimeout(t, 20*time.Second), tc.addr, &Command{Code: ReqGetBrokerClusterInfo})
			g.Expect(err).To(MatchError(Unreachable))
			g.Expect(err.Error()).To(HavePrefix(tc.addr + ": GET_BROKER_CLUSTER_INFO (106): unreachable: " + tc.text))
			g.Expect(asError(t, err).Sent).To(BeFalse())
			g.Expect(c.Generation(tc.addr)).To(BeZero())
		})
	}
}

func TestCallThatEndsBeforeItsDial(t *testing.T) {
	g := NewWithT(t)
	c := newTestClient(t, Options{DialTimeout: time.Hour, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	_, err := c.Invoke(withTimeout(t, 20*time.Millisecond), "a:1", &Command{Code: 106})
	g.Expect(err).To(MatchError(Unreachable))
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Invoke(ctx, "a:1", &Command{Code: 106})
	g.Expect(err).To(MatchError(Canceled))
}

// TestDialIsShared begins many calls at once; one of them gives up meanwhile.
func TestDialIsShared(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	var dials atomic.Int32
	release := make(chan struct{})
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		<-release
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	_, err := c.Invoke(withTimeout(t, 20*time.Millisecond), s.addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(Unreachable), "the call that began the dial gives up")
	var work sync.WaitGroup
	for range 20 {
		work.Go(func() {
			_, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 30})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	close(release)
	work.Wait()
	g.Expect(dials.Load()).To(Equal(int32(1)))
}

// TestFailedDialIsSharedButItsErrorIsNot checks that each error names its own
// call.
func TestFailedDialIsSharedButItsErrorIsNot(t *testing.T) {
	g := NewWithT(t)
	const calls = 10
	var waiting atomic.Int32
	release := make(chan struct{})
	c := newTestClient(t, Options{
		Credentials: func(context.Context) (Credentials, error) {
			waiting.Add(1)
			return Credentials{}, nil
		},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-release
			return nil, errors.New("no luck")
		},
	})
	failures := make(chan *Error, calls)
	for i := range calls {
		go func() {
			_, err := c.Invoke(withTimeout(t, 10*time.Second), "a:1", &Command{Code: 1000 + i})
			failures <- asError(t, err)
		}()
	}
	g.Eventually(waiting.Load).Should(Equal(int32(calls)))
	close(release)
	codes := map[int]bool{}
	for range calls {
		e := <-failures
		g.Expect(e.Kind).To(Equal(Unreachable))
		codes[e.Code] = true
	}
	g.Expect(codes).To(HaveLen(calls))
}

func TestFailedDialIsTriedAnew(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	var dials atomic.Int32
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) == 1 {
			return nil, errors.New("not yet")
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	_, err := c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(Unreachable))
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).NotTo(HaveOccurred())
}

// TestPeerThatHangsUpAtOnce must not make a call dial for ever.
func TestPeerThatHangsUpAtOnce(t *testing.T) {
	g := NewWithT(t)
	addr := startRaw(t, func(net.Conn) {})
	var dials atomic.Int32
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	_, err := c.Invoke(withTimeout(t, 10*time.Second), addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(Closed))
	g.Expect(dials.Load()).To(BeNumerically("<=", maxAttempts))
}

// speakFirst holds back reading until something was written. The HTTP/2 server
// below writes its SETTINGS on another goroutine and may otherwise have hung up
// on the strange greeting before they are out.
type speakFirst struct {
	net.Conn
	once  sync.Once
	spoke chan struct{}
}

func (c *speakFirst) Read(p []byte) (int, error) {
	<-c.spoke
	return c.Conn.Read(p)
}

func (c *speakFirst) Write(p []byte) (int, error) {
	defer c.once.Do(func() { close(c.spoke) })
	return c.Conn.Write(p)
}

// TestP07_RealHTTP2Server calls a server of golang.org/x/net/http2.
func TestP07_RealHTTP2Server(t *testing.T) {
	g := NewWithT(t)
	addr := startRaw(t, func(nc net.Conn) {
		quiet := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
		(&http2.Server{}).ServeConn(&speakFirst{Conn: nc, spoke: make(chan struct{})}, &http2.ServeConnOpts{BaseConfig: quiet})
	})
	_, err := newTestClient(t, Options{}).Invoke(withTimeout(t, 10*time.Second), addr, &Command{Code: ReqGetBrokerClusterInfo})
	g.Expect(err).To(MatchError(WrongEndpoint))
	g.Expect(err.Error()).To(ContainSubstring("gRPC"))
}
