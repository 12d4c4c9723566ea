// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// readThen reads one request, then does do.
func readThen(do func(nc net.Conn, req *Command)) func(net.Conn) {
	return func(nc net.Conn) {
		if req, err := ReadCommand(nc, 0); err == nil {
			do(nc, req)
		}
	}
}

func answerFrame(req *Command, body string) []byte {
	resp := NewResponse(req, RespSuccess, "")
	resp.Body = []byte(body)
	frame, err := AppendCommand(nil, resp)
	if err != nil {
		panic(err)
	}
	return frame
}

// TestConnectionThatDies lets the peer end the connection in every way between
// a request and its whole answer.
func TestConnectionThatDies(t *testing.T) {
	frame := func(req *Command) []byte { return answerFrame(req, "the body") }
	for _, tc := range []struct {
		name string
		say  func(req *Command) []byte
		kind Kind
		text string
	}{
		{"without a byte", func(*Command) []byte { return nil }, Closed, "does it require TLS"},
		{"in the length", func(r *Command) []byte { return frame(r)[:3] }, Closed, "in the middle of a frame"},
		{"in the header", func(r *Command) []byte { return frame(r)[:20] }, Closed, "in the middle of a frame"},
		{"after the header", func(r *Command) []byte { f := frame(r); return f[:len(f)-8] }, Closed, "in the middle of a frame"},
		{"in the body", func(r *Command) []byte { f := frame(r); return f[:len(f)-1] }, Closed, "in the middle of a frame"},
		{"after another frame", func(r *Command) []byte { return answerFrame(&Command{Opaque: r.Opaque + 1}, "") }, Closed, "the peer closed the connection"},
		{"after nonsense", func(*Command) []byte { return []byte{0, 0, 0, 4, 0, 0, 0, 1, 'x'} }, Malformed, "header length"},
		{"P07 after HTTP", func(*Command) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\nhunter2") }, WrongEndpoint, "speaks HTTP"},
		{"P07 after TLS", func(*Command) []byte { return []byte("\x15\x03\x03\x00\x02\x02\x46") }, WrongEndpoint, "TLS"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			addr := startRaw(t, readThen(func(nc net.Conn, req *Command) { _, _ = nc.Write(tc.say(req)) }))
			c := newTestClient(t, Options{})
			_, err := c.Invoke(withTimeout(t, 10*time.Second), addr, &Command{Code: ReqUpdateAndCreateTopic})
			g.Expect(err).To(MatchError(tc.kind))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"), "K43: nothing of what a foreign peer said")
			e := asError(t, err)
			g.Expect(e.Addr).To(Equal(addr))
			g.Expect(e.Code).To(Equal(ReqUpdateAndCreateTopic))
			g.Expect(e.Sent).To(BeTrue(), "a change may have happened")
			g.Eventually(func() uint64 { return c.Generation(addr) }).Should(BeZero())
		})
	}
}

func TestTLSRequiredIsSaid(t *testing.T) {
	g := NewWithT(t)
	addr := startRaw(t, readThen(func(net.Conn, *Command) {}))
	_, err := newTestClient(t, Options{}).Invoke(t.Context(), addr, &Command{Code: 106})
	g.Expect(err).To(MatchError(ErrTLSRequired))
	g.Expect(err).To(MatchError(io.EOF))
	g.Expect(err.Error()).To(Equal(addr + ": GET_BROKER_CLUSTER_INFO (106): connection closed: the peer closed the plain connection without an answer; does it require TLS, or is this no port of RocketMQ remoting? (EOF)"))
}

// TestDeathFailsAllPendingCalls also checks that each error names its own call.
func TestDeathFailsAllPendingCalls(t *testing.T) {
	g := NewWithT(t)
	const calls = 10
	var arrived sync.WaitGroup
	arrived.Add(calls)
	s := startServer(t, nil, func(*serverConn, *Command) { arrived.Done() })
	c := newTestClient(t, Options{})
	failures := make(chan *Error, calls)
	for i := range calls {
		go func() {
			_, err := c.Invoke(withTimeout(t, time.Minute), s.addr, &Command{Code: 1000 + i})
			failures <- asError(t, err)
		}()
	}
	arrived.Wait()
	s.hangUp()
	codes := map[int]bool{}
	for range calls {
		e := <-failures
		g.Expect(e.Kind).To(Equal(Closed))
		g.Expect(e.Sent).To(BeTrue())
		codes[e.Code] = true
	}
	g.Expect(codes).To(HaveLen(calls))
}

func TestReconnect(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	c := newTestClient(t, Options{})
	g.Expect(c.Generation(s.addr)).To(BeZero())
	_, first, err := c.InvokeInfo(t.Context(), s.addr, &Command{Code: 28})
	g.Expect(err).NotTo(HaveOccurred())
	_, again, err := c.InvokeInfo(t.Context(), s.addr, &Command{Code: 28})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Generation).To(Equal(first.Generation))

	s.hangUp()
	g.Eventually(func() uint64 { return c.Generation(s.addr) }).Should(BeZero())
	_, second, err := c.InvokeInfo(t.Context(), s.addr, &Command{Code: 28})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.Generation).NotTo(Equal(first.Generation))
	g.Expect(second.Generation).To(Equal(c.Generation(s.addr)))
	g.Expect(s.dials()).To(Equal(2))
}

// TestR03_InvokeOn sends only to the process that was identified.
func TestR03_InvokeOn(t *testing.T) {
	g := NewWithT(t)
	var changes atomic.Int32
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		if req.Code == ReqUpdateAndCreateTopic {
			changes.Add(1)
		}
		c.send(t, NewResponse(req, RespSuccess, ""))
	})
	c := newTestClient(t, Options{})
	change := &Command{Code: ReqUpdateAndCreateTopic}
	_, _, err := c.InvokeOn(t.Context(), s.addr, 0, change)
	g.Expect(err).To(MatchError(ErrOtherConnection), "nobody was identified yet")

	_, proof, err := c.InvokeInfo(t.Context(), s.addr, &Command{Code: ReqGetBrokerConfig})
	g.Expect(err).NotTo(HaveOccurred())
	_, info, err := c.InvokeOn(t.Context(), s.addr, proof.Generation, change)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Generation).To(Equal(proof.Generation))
	g.Expect(changes.Load()).To(Equal(int32(1)))

	s.hangUp()
	g.Eventually(func() uint64 { return c.Generation(s.addr) }).Should(BeZero())
	for range 2 {
		_, _, err = c.InvokeOn(t.Context(), s.addr, proof.Generation, change)
		g.Expect(err).To(MatchError(ErrOtherConnection))
		g.Expect(err).To(MatchError(Closed))
		g.Expect(asError(t, err).Sent).To(BeFalse())
		_, err = c.Invoke(t.Context(), s.addr, &Command{Code: ReqGetBrokerConfig})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(changes.Load()).To(Equal(int32(1)), "the next process got no change")
}

func TestIdleClose(t *testing.T) {
	g := NewWithT(t)
	hold := make(chan *Command, 1)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		if req.Code == 1000 {
			hold <- req
			return
		}
		if req.Code == 1001 {
			c.send(t, NewResponse(<-hold, RespSuccess, ""))
		}
		c.send(t, NewResponse(req, RespSuccess, ""))
	})
	c := newTestClient(t, Options{IdleTimeout: 100 * time.Millisecond})
	slow := make(chan error)
	go func() {
		_, err := c.Invoke(t.Context(), s.addr, &Command{Code: 1000})
		slow <- err
	}()
	g.Eventually(hold).Should(HaveLen(1))
	generation := c.Generation(s.addr)
	g.Consistently(func() uint64 { return c.Generation(s.addr) }, 300*time.Millisecond).Should(Equal(generation), "a call waits, so it is not idle")
	_, err := c.Invoke(t.Context(), s.addr, &Command{Code: 1001})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-slow).NotTo(HaveOccurred())
	g.Eventually(func() uint64 { return c.Generation(s.addr) }).Should(BeZero())
	c.mu.Lock()
	g.Expect(c.conns).To(BeEmpty())
	c.mu.Unlock()
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.dials()).To(Equal(2))
}

// TestIdleCloseNeverFailsACall closes for idleness about as often as calls
// begin: whoever meets it gets another connection.
func TestIdleCloseNeverFailsACall(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	c := newTestClient(t, Options{IdleTimeout: 100 * time.Microsecond})
	for range 300 {
		_, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 30})
		g.Expect(err).NotTo(HaveOccurred())
	}
}

// TestO20_SilentConnectionIsReplaced has a name whose address changes while the
// old host is gone without a word: no call to it ever ends, and the next one
// resolves the name again.
func TestO20_SilentConnectionIsReplaced(t *testing.T) {
	g := NewWithT(t)
	gone := startServer(t, nil, func(c *serverConn, req *Command) {
		if req.Code == 1 {
			c.send(t, NewResponse(req, RespSuccess, ""))
		}
	})
	successor := startServer(t, nil, nil)
	var target atomic.Value
	target.Store(gone.addr)
	var asked atomic.Value
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		asked.Store(addr)
		return (&net.Dialer{}).DialContext(ctx, network, target.Load().(string))
	}})
	const addr = "namesrv-0.namesrv:9876"
	_, err := c.Invoke(t.Context(), addr, &Command{Code: 1})
	g.Expect(err).NotTo(HaveOccurred())
	old := c.Generation(addr)
	waiting := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := c.Invoke(ctx, addr, &Command{Code: 2})
		waiting <- err
	}()
	target.Store(successor.addr)
	_, err = c.Invoke(withTimeout(t, 50*time.Millisecond), addr, &Command{Code: 3})
	g.Expect(err).To(MatchError(Timeout))
	g.Expect(c.Generation(addr)).To(BeZero(), "the silent connection takes no new calls")

	_, info, err := c.InvokeInfo(t.Context(), addr, &Command{Code: 106})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.RemoteAddr).To(Equal(successor.addr))
	g.Expect(info.Generation).NotTo(Equal(old))
	g.Expect(asked.Load()).To(Equal(addr), "the name is dialled, not what it once resolved to")
	g.Consistently(waiting, 50*time.Millisecond).ShouldNot(Receive(), "a call that still waits keeps the old connection")
	cancel()
	g.Expect(<-waiting).To(MatchError(Canceled))
	g.Eventually(func() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.conns) }).Should(Equal(1))
	g.Expect(c.Generation(addr)).To(Equal(info.Generation), "the end of the old connection leaves its successor alone")
}

func TestP04_LargeAnswerFailsOnlyItsCall(t *testing.T) {
	g := NewWithT(t)
	var held *Command
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		switch req.Code {
		case ReqGetTopicConfig:
			held = req
		case ReqGetAllTopicConfig:
			c.raw(answerFrame(req, strings.Repeat("x", 5000)))
			c.send(t, NewResponse(held, RespSuccess, ""))
		default:
			c.send(t, NewResponse(req, RespSuccess, ""))
		}
	})
	c := newTestClient(t, Options{MaxFrame: 4000})
	single := make(chan error)
	go func() {
		_, err := c.Invoke(t.Context(), s.addr, &Command{Code: ReqGetTopicConfig})
		single <- err
	}()
	g.Eventually(func() int {
		cn := c.current(s.addr)
		if cn == nil {
			return 0
		}
		cn.mu.Lock()
		defer cn.mu.Unlock()
		n := 0
		for _, p := range cn.pending {
			if !p.sent.IsZero() {
				n++
			}
		}
		return n
	}).Should(Equal(1))
	resp, err := c.Invoke(t.Context(), s.addr, &Command{Code: ReqGetAllTopicConfig})
	g.Expect(err).To(MatchError(TooLarge))
	g.Expect(resp).To(BeNil(), "what it would have said is unknown")
	g.Expect(asError(t, err).Code).To(Equal(ReqGetAllTopicConfig))
	g.Expect(<-single).NotTo(HaveOccurred())
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.dials()).To(Equal(1))
}

func TestP04_LargeRequestIsNotSent(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, nil)
	c := newTestClient(t, Options{})
	_, err := c.Invoke(t.Context(), s.addr, &Command{Code: ReqUpdateAndCreateTopicList, Body: make([]byte, DefaultMaxFrame)})
	g.Expect(err).To(MatchError(TooLarge))
	g.Expect(asError(t, err).Sent).To(BeFalse())
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).NotTo(HaveOccurred(), "the connection is not harmed")
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 200050, Encoding: Binary})
	g.Expect(err).To(MatchError(Malformed))
}

// TestPeerThatDoesNotRead fills the socket: the write ends with its timeout and
// the calls behind it with their own.
func TestPeerThatDoesNotRead(t *testing.T) {
	g := NewWithT(t)
	release := make(chan struct{})
	addr := startRaw(t, func(net.Conn) { <-release })
	defer close(release)
	c := newTestClient(t, Options{WriteTimeout: 200 * time.Millisecond})
	failures := make(chan error, 3)
	for range cap(failures) {
		go func() {
			_, err := c.Invoke(t.Context(), addr, &Command{Code: ReqUpdateAndCreateTopicList, Body: make([]byte, 15<<20)})
			failures <- err
		}()
	}
	for range cap(failures) {
		g.Expect(<-failures).To(MatchError(Closed))
	}

	c = newTestClient(t, Options{WriteTimeout: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	held := make(chan error)
	go func() {
		_, err := c.Invoke(ctx, addr, &Command{Code: ReqUpdateAndCreateTopicList, Body: make([]byte, 15<<20)})
		held <- err
	}()
	g.Eventually(func() uint64 { return c.Generation(addr) }).ShouldNot(BeZero())
	_, err := c.Invoke(withTimeout(t, 50*time.Millisecond), addr, &Command{Code: 17})
	g.Expect(err).To(MatchError(Timeout), "a call is not held up by a write that is")
	cancel()
	g.Expect(<-held).To(MatchError(Canceled), "nor is the call whose write it is")
}

// TestP07_LastWordsAreHeard has a peer that answers HTTP before it has read the
// request and then resets the connection under the writer.
func TestP07_LastWordsAreHeard(t *testing.T) {
	g := NewWithT(t)
	addr := startRaw(t, func(nc net.Conn) {
		var b [8]byte
		_, _ = io.ReadFull(nc, b[:])
		_, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	})
	_, err := newTestClient(t, Options{}).Invoke(t.Context(), addr, &Command{Code: 18, Body: make([]byte, 15<<20)})
	g.Expect(err).To(MatchError(WrongEndpoint))
}
