// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// newPipeConn returns a connection that nobody reads or writes, and a count of
// how often it told its client that it ended.
func newPipeConn(t *testing.T, opts Options) (*conn, *int) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	ends := 0
	c := newConn(near, "a:1", 1, opts.withDefaults(), func(_ *conn, ended bool) {
		if ended {
			ends++
		}
	})
	t.Cleanup(func() { c.fail(&Error{Kind: Canceled, Err: ErrClientClosed}) })
	return c, &ends
}

func TestAbandonedCallIsNotSent(t *testing.T) {
	g := NewWithT(t)
	c, _ := newPipeConn(t, Options{})
	p, err := c.register()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.unregister(p)).To(BeZero())
	g.Expect(c.beginWrite(p)).To(BeFalse(), "nobody waits, so a change must not happen any more")
	g.Expect(c.wrote).To(BeFalse())
	next, err := c.register()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.beginWrite(next)).To(BeTrue())
	g.Expect(c.unregister(next)).NotTo(BeZero())
}

func TestOpaqueNumbersInUseAreSkipped(t *testing.T) {
	g := NewWithT(t)
	c, _ := newPipeConn(t, Options{})
	c.opaque = -1
	first, err := c.register()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.opaque).To(BeZero())
	c.opaque = -1
	second, err := c.register()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.opaque).To(Equal(int32(1)))
	g.Expect(c.take(0)).To(BeIdenticalTo(first))
	g.Expect(c.take(0)).To(BeNil(), "an answer that comes twice finds nobody")
}

// TestWhoMayLookForAnotherConnection distinguishes ends that a second dial
// mends from ends that it would meet again.
func TestWhoMayLookForAnotherConnection(t *testing.T) {
	closed := &Error{Kind: Closed, Err: io.EOF}
	for _, tc := range []struct {
		name   string
		end    func(*conn)
		harmed bool
	}{
		{"retired", func(c *conn) { c.retired = true }, false},
		{"idle", func(c *conn) { c.fail(&Error{Kind: Closed, Err: errIdle}) }, false},
		{"retired and ended", func(c *conn) { c.fail(&Error{Kind: Closed, Err: errRetired}) }, false},
		{"closed after it had served", func(c *conn) { c.received(time.Now()); c.fail(closed) }, false},
		{"closed before it served", func(c *conn) { c.fail(closed) }, true},
		{"wrong endpoint", func(c *conn) { c.received(time.Now()); c.fail(wrongEndpoint(protoHTTP1)) }, true},
		{"malformed", func(c *conn) { c.received(time.Now()); c.fail(malformed("x")) }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c, _ := newPipeConn(t, Options{})
			tc.end(c)
			p, err := c.register()
			g.Expect(p).To(BeNil())
			if tc.harmed {
				g.Expect(err).To(BeIdenticalTo(c.err))
				return
			}
			g.Expect(err).To(MatchError(errGone))
			g.Expect(err).To(MatchError(Closed))
		})
	}
}

func TestFirstReasonCounts(t *testing.T) {
	g := NewWithT(t)
	c, ends := newPipeConn(t, Options{})
	first := wrongEndpoint(protoHTTP2)
	c.fail(first)
	c.fail(&Error{Kind: Closed})
	g.Expect(c.ended()).To(BeIdenticalTo(first))
	g.Expect(*ends).To(Equal(1))
	c.onIdle()
	g.Expect(c.ended()).To(BeIdenticalTo(first))
}

func TestIdleCountsFromTheFirstCall(t *testing.T) {
	g := NewWithT(t)
	c, _ := newPipeConn(t, Options{IdleTimeout: time.Nanosecond, DialTimeout: time.Hour})
	c.onIdle()
	g.Expect(c.ended()).To(Succeed(), "it waits for the call it was dialled for")
	p, err := c.register()
	g.Expect(err).NotTo(HaveOccurred())
	c.onIdle()
	g.Expect(c.ended()).To(Succeed(), "a call waits")
	c.unregister(p)
	g.Eventually(func() error { c.onIdle(); return c.ended() }).Should(MatchError(errIdle))
}

// TestDialThatEndsAfterClose has a dialler that connects although it was told
// to stop.
func TestDialThatEndsAfterClose(t *testing.T) {
	g := NewWithT(t)
	near, far := net.Pipe()
	defer far.Close()
	dialling := make(chan struct{})
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		close(dialling)
		<-ctx.Done()
		return near, nil
	}})
	failed := make(chan error)
	go func() {
		_, err := c.Invoke(t.Context(), "a:1", &Command{Code: 30})
		failed <- err
	}()
	<-dialling
	g.Expect(c.Close()).To(Succeed())
	g.Expect(<-failed).To(MatchError(ErrClientClosed))
	_, err := far.Read(make([]byte, 1))
	g.Expect(err).To(BeIdenticalTo(io.EOF), "the late connection was closed")
}
