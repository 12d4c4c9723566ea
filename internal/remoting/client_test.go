// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestInvoke(t *testing.T) {
	for _, encoding := range []Encoding{JSON, Binary} {
		t.Run(encoding.String(), func(t *testing.T) {
			g := NewWithT(t)
			seen := make(chan *Command, 1)
			s := startServer(t, nil, func(c *serverConn, req *Command) {
				seen <- req
				resp := NewResponse(req, RespSuccess, "not set any response code")
				resp.ExtFields = map[string]string{"offset": "7"}
				resp.Body = []byte("body")
				c.send(t, resp)
			})
			c := newTestClient(t, Options{})
			req := &Command{Code: ReqGetMaxOffset, ExtFields: map[string]string{"topic": "T"}, Body: []byte("x"), Encoding: encoding}
			before := time.Now()
			resp, info, err := c.InvokeInfo(t.Context(), s.addr, req)
			g.Expect(err).NotTo(HaveOccurred(), "a remark is no failure")
			g.Expect(resp.ExtFields).To(HaveKeyWithValue("offset", "7"))
			g.Expect(string(resp.Body)).To(Equal("body"))
			g.Expect(resp.Encoding).To(Equal(encoding))

			got := <-seen
			g.Expect(got.Language).To(Equal("GO"))
			g.Expect(got.Version).To(BeNumerically(">=", 401))
			g.Expect(got.Flag).To(BeZero())
			g.Expect(got.ExtFields).To(Equal(req.ExtFields))
			g.Expect(req).To(Equal(&Command{Code: ReqGetMaxOffset, ExtFields: map[string]string{"topic": "T"}, Body: []byte("x"), Encoding: encoding}),
				"the request of the caller is not changed")

			g.Expect(info.Generation).To(Equal(c.Generation(s.addr)))
			g.Expect(info.RemoteAddr).To(Equal(s.addr))
			g.Expect(info.Sent).To(BeTemporally(">=", before))
			g.Expect(info.Received).To(BeTemporally(">=", info.Sent))
		})
	}
}

func TestInvokeKeepsLanguageAndVersionOfTheCaller(t *testing.T) {
	g := NewWithT(t)
	seen := make(chan *Command, 1)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		seen <- req
		c.send(t, NewResponse(req, RespSuccess, ""))
	})
	_, err := newTestClient(t, Options{}).Invoke(t.Context(), s.addr, &Command{Code: 105, Language: "JAVA", Version: 317, Opaque: 99, Flag: 3})
	g.Expect(err).NotTo(HaveOccurred())
	got := <-seen
	g.Expect(got.Language).To(Equal("JAVA"))
	g.Expect(got.Version).To(Equal(317))
	g.Expect(got.Flag).To(BeZero(), "a request is no response, and its answer is waited for")
	g.Expect(got.Opaque).NotTo(Equal(int32(99)), "the opaque is the client's")
}

func TestInvokeReturnsAnswerAndError(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		resp := NewResponse(req, RespTopicNotExist, "No topic\nroute info")
		resp.ExtFields = map[string]string{"a": "b"}
		c.send(t, resp)
	})
	resp, err := newTestClient(t, Options{}).Invoke(t.Context(), s.addr, &Command{Code: ReqGetRouteInfoByTopic})
	g.Expect(err).To(MatchError(NotFound))
	g.Expect(resp.ExtFields).To(HaveKeyWithValue("a", "b"))
	e := asError(t, err)
	g.Expect(e.Addr).To(Equal(s.addr))
	g.Expect(e.Code).To(Equal(ReqGetRouteInfoByTopic))
	g.Expect(e.ResponseCode).To(Equal(RespTopicNotExist))
	g.Expect(e.Sent).To(BeTrue())
	g.Expect(err.Error()).To(Equal(s.addr + ": GET_ROUTEINFO_BY_TOPIC (105): not found: answered TOPIC_NOT_EXIST (17): No topic route info"))
}

// TestInvokeOutOfOrder answers calls in the reverse order of their arrival,
// with a request of the server between any call and its response.
func TestInvokeOutOfOrder(t *testing.T) {
	g := NewWithT(t)
	const calls = 20
	var mu sync.Mutex
	var held []*Command
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		mu.Lock()
		defer mu.Unlock()
		if held = append(held, req); len(held) < calls {
			return
		}
		for i := len(held) - 1; i >= 0; i-- {
			c.send(t, &Command{Code: ReqNotifyConsumerIdsChanged, Opaque: held[i].Opaque, Flag: flagOneway})
			c.send(t, &Command{Code: ReqGetConsumerRunningInfo, Opaque: held[i].Opaque})
			resp := NewResponse(held[i], RespSuccess, "")
			resp.Body = held[i].Body
			c.send(t, resp)
		}
	})
	c := newTestClient(t, Options{})
	var work sync.WaitGroup
	for i := range calls {
		work.Go(func() {
			resp, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 30, Body: []byte(strconv.Itoa(i))})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(resp.Body)).To(Equal(strconv.Itoa(i)))
		})
	}
	work.Wait()
	g.Expect(s.dials()).To(Equal(1), "one connection for all calls")
}

func TestHandlerAnswersServerRequests(t *testing.T) {
	g := NewWithT(t)
	answers := make(chan *Command, 1)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		if req.IsResponse() {
			answers <- req
			return
		}
		c.send(t, &Command{Code: ReqNotifyConsumerIdsChanged, Opaque: 70, Flag: flagOneway})
		c.send(t, &Command{Code: ReqConsumeMessageDirectly, Opaque: 71, Encoding: Binary})
		c.send(t, &Command{Code: ReqGetConsumerRunningInfo, Opaque: 72})
		c.send(t, NewResponse(req, RespSuccess, ""))
	})
	var codes []int
	c := newTestClient(t, Options{Handler: func(addr string, req *Command) *Command {
		g.Expect(addr).To(Equal(s.addr))
		codes = append(codes, req.Code)
		if req.Code == ReqConsumeMessageDirectly {
			return nil
		}
		return &Command{Code: RespRequestCodeNotSupported, Remark: "not here"}
	}})
	_, err := c.Invoke(t.Context(), s.addr, &Command{Code: 28})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(codes).To(Equal([]int{40, 309, 307}))
	var got *Command
	g.Eventually(answers).Should(Receive(&got))
	g.Expect(got.Opaque).To(Equal(int32(72)), "neither the one-way request nor the nil answer was answered")
	g.Expect(got.Code).To(Equal(RespRequestCodeNotSupported))
	g.Expect(got.Remark).To(Equal("not here"))
}

func TestTimeoutWhileOtherCallsGoOn(t *testing.T) {
	g := NewWithT(t)
	release := make(chan *Command, 1)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		switch req.Code {
		case 1000:
			release <- req
		case 1001:
			slow := <-release
			c.send(t, NewResponse(slow, RespSystemError, "too late for anybody"))
			c.send(t, NewResponse(req, RespSuccess, ""))
		default:
			c.send(t, NewResponse(req, RespSuccess, ""))
		}
	})
	c := newTestClient(t, Options{})
	slow := make(chan error)
	go func() {
		_, err := c.Invoke(withTimeout(t, 300*time.Millisecond), s.addr, &Command{Code: 1000})
		slow <- err
	}()
	var err error
	for done := false; !done; {
		_, callErr := c.Invoke(t.Context(), s.addr, &Command{Code: 1})
		g.Expect(callErr).NotTo(HaveOccurred())
		select {
		case err = <-slow:
			done = true
		default:
		}
	}
	g.Expect(err).To(MatchError(Timeout))
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(asError(t, err).Sent).To(BeTrue())
	g.Expect(err.Error()).To(Equal(s.addr + ": request 1000 (1000): timeout: no answer in time"))

	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 1001})
	g.Expect(err).NotTo(HaveOccurred(), "the late answer disturbs nobody")
	g.Expect(s.dials()).To(Equal(1), "a slow call is no reason to dial again while others are answered")
}

func TestCancel(t *testing.T) {
	g := NewWithT(t)
	arrived := make(chan struct{}, 1)
	s := startServer(t, nil, func(*serverConn, *Command) { arrived <- struct{}{} })
	c := newTestClient(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(fmt.Errorf("shutting down"))
	}()
	_, err := c.Invoke(ctx, s.addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(Canceled))
	g.Expect(asError(t, err).Sent).To(BeTrue())
	g.Expect(c.Generation(s.addr)).NotTo(BeZero(), "the connection stays")
}

func TestDefaultTimeout(t *testing.T) {
	g := NewWithT(t)
	s := startServer(t, nil, func(*serverConn, *Command) {})
	_, err := newTestClient(t, Options{Timeout: 50 * time.Millisecond}).Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(Timeout))
}

func TestInFlightIsBounded(t *testing.T) {
	g := NewWithT(t)
	release := make(chan struct{})
	arrived := make(chan *Command, 10)
	s := startServer(t, nil, func(c *serverConn, req *Command) {
		arrived <- req
		if len(arrived) == 2 {
			go func() {
				<-release
				for range 2 {
					c.send(t, NewResponse(<-arrived, RespSuccess, ""))
				}
			}()
		}
	})
	c := newTestClient(t, Options{MaxInFlight: 2})
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			_, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 30})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	g.Eventually(arrived).Should(HaveLen(2))
	_, err := c.Invoke(withTimeout(t, 50*time.Millisecond), s.addr, &Command{Code: 17})
	g.Expect(err).To(MatchError(Busy))
	g.Expect(asError(t, err).Sent).To(BeFalse(), "a call without a place was not sent")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Invoke(ctx, s.addr, &Command{Code: 17})
	g.Expect(err).To(MatchError(Canceled))
	close(release)
	work.Wait()
}

func TestClose(t *testing.T) {
	g := NewWithT(t)
	arrived := make(chan struct{}, 1)
	s := startServer(t, nil, func(*serverConn, *Command) { arrived <- struct{}{} })
	c := newTestClient(t, Options{})
	failed := make(chan error)
	go func() {
		_, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{Code: 30})
		failed <- err
	}()
	<-arrived
	g.Expect(c.Close()).To(Succeed())
	err := <-failed
	g.Expect(err).To(MatchError(Canceled))
	g.Expect(err).To(MatchError(ErrClientClosed))
	_, err = c.Invoke(t.Context(), s.addr, &Command{Code: 30})
	g.Expect(err).To(MatchError(ErrClientClosed))
	g.Expect(c.Close()).To(Succeed(), "a second Close is harmless")
}

func TestCloseDuringDial(t *testing.T) {
	g := NewWithT(t)
	dialling := make(chan struct{})
	c := newTestClient(t, Options{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		close(dialling)
		<-ctx.Done()
		return nil, ctx.Err()
	}, DialTimeout: time.Hour})
	failed := make(chan error)
	go func() {
		_, err := c.Invoke(t.Context(), "broker:10911", &Command{Code: 30})
		failed <- err
	}()
	<-dialling
	g.Expect(c.Close()).To(Succeed())
	g.Expect(<-failed).To(MatchError(ErrClientClosed))
}
