// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// fault is what the server does with one request.
type fault int

const (
	answer      fault = iota
	answerError       // with code SYSTEM_BUSY
	answerTwice
	answerAfterNext // holds the answer until the next request came
	askBefore       // sends a request of its own first, with the same opaque
	answerStranger  // answers an opaque that nobody waits for
	keepSilent
	hangUpBefore
	cutInHeader
	cutInBody
	speakNonsense
	answerTooLarge
	faults // how many there are
)

// allowed lists how a call may end that met the fault itself; beside these,
// any call may find its connection ended by the fault of another.
func (f fault) allowed() []Kind {
	switch f {
	case answerError:
		return []Kind{Busy}
	case keepSilent, answerAfterNext, answerStranger:
		return []Kind{Timeout}
	case hangUpBefore, cutInHeader, cutInBody:
		return []Kind{Closed}
	case speakNonsense:
		return []Kind{Malformed}
	case answerTooLarge:
		return []Kind{TooLarge}
	default:
		return nil
	}
}

// faultyServer answers with the request's body and follows the orders that the
// requests bring along in a header field.
type faultyServer struct {
	t    *testing.T
	mu   sync.Mutex
	held []func()
}

func (s *faultyServer) serve(c *serverConn, req *Command) {
	order, err := strconv.Atoi(req.ExtFields["fault"])
	if err != nil {
		s.t.Errorf("request without an order: %v", req)
	}
	s.mu.Lock()
	held := s.held
	s.held = nil
	if fault(order) == answerAfterNext {
		s.held = []func(){func() { c.raw(answerFrame(req, string(req.Body))) }}
	}
	s.mu.Unlock()
	good := answerFrame(req, string(req.Body))
	switch fault(order) {
	case answer:
		c.raw(good)
	case answerError:
		c.send(s.t, NewResponse(req, RespSystemBusy, "later"))
	case answerTwice:
		c.raw(append(good, answerFrame(req, "a second answer")...))
	case askBefore:
		c.send(s.t, &Command{Code: ReqGetConsumerRunningInfo, Opaque: req.Opaque, Body: []byte("no answer")})
		c.raw(good)
	case answerStranger:
		c.raw(answerFrame(&Command{Opaque: req.Opaque + 1<<20}, "for nobody"))
	case hangUpBefore:
		c.nc.Close()
	case cutInHeader:
		c.raw(good[:15])
		c.nc.Close()
	case cutInBody:
		c.raw(good[:len(good)-1])
		c.nc.Close()
	case speakNonsense:
		c.raw([]byte{0, 0, 0, 9, 9, 0, 0, 2, '{', '}', 0, 0, 0})
	case answerTooLarge:
		c.raw(answerFrame(req, string(make([]byte, 2000))))
	}
	for _, answerHeld := range held {
		answerHeld()
	}
}

// TestFaults sends calls of many goroutines to a server that misbehaves as
// drawn. Every call ends in time: with its own answer, or with an error of a
// kind that its fault, or the end of its connection, explains.
func TestFaults(t *testing.T) {
	s := startServer(t, nil, (&faultyServer{t: t}).serve)
	c := newTestClient(t, Options{MaxFrame: 1000, MaxInFlight: 4})
	serial := 0
	rapid.Check(t, func(rt *rapid.T) {
		orders := rapid.SliceOfN(rapid.IntRange(0, int(faults)-1), 1, 12).Draw(rt, "orders")
		outcomes := make([]error, len(orders))
		var work sync.WaitGroup
		for i, order := range orders {
			serial++
			body := strconv.Itoa(serial)
			work.Go(func() { outcomes[i] = faultyCall(t, c, s.addr, order, body) })
		}
		work.Wait()
		for i, err := range outcomes {
			if err != nil {
				rt.Fatalf("call %d of %v: %v", i, orders, err)
			}
		}
	})
}

// faultyCall returns an error when a call ends as it must not.
func faultyCall(t *testing.T, c *Client, addr string, order int, body string) error {
	resp, info, err := c.InvokeInfo(withTimeout(t, 100*time.Millisecond), addr, &Command{
		Code: ReqGetMaxOffset, ExtFields: map[string]string{"fault": strconv.Itoa(order)}, Body: []byte(body),
	})
	if err == nil {
		switch {
		case fault(order).allowed() != nil && fault(order) != answerAfterNext:
			return errors.New("it succeeded")
		case string(resp.Body) != body:
			return errors.New("it got the answer of another call: " + string(resp.Body))
		case info.Generation == 0 || info.Sent.IsZero() || info.Received.Before(info.Sent):
			return errors.New("its answer has no moment")
		}
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return err
	case e.Addr != addr || e.Code != ReqGetMaxOffset:
		return errors.New("the error names another call: " + e.Error())
	case e.Sent == info.Sent.IsZero():
		return errors.New("the error and the information differ on whether it was sent")
	case slices.Contains(fault(order).allowed(), e.Kind):
		return nil
	// What the connection died of may be the fault of another call, and on a
	// slow machine any call may run out of time before it is sent or answered.
	case e.Kind == Closed, e.Kind == Malformed, e.Kind == Timeout, e.Kind == Busy, e.Kind == Unreachable:
		return nil
	}
	return err
}

// TestFaultsOneByOne leaves no other call to blame.
func TestFaultsOneByOne(t *testing.T) {
	for order := range faults {
		t.Run(strconv.Itoa(int(order)), func(t *testing.T) {
			g := NewWithT(t)
			s := startServer(t, nil, (&faultyServer{t: t}).serve)
			c := newTestClient(t, Options{MaxFrame: 1000})
			timeout := 10 * time.Second
			if slices.Contains(order.allowed(), Timeout) {
				timeout = 100 * time.Millisecond
			}
			for _, body := range []string{"first", "second"} {
				resp, err := c.Invoke(withTimeout(t, timeout), s.addr, &Command{
					Code: ReqGetMaxOffset, ExtFields: map[string]string{"fault": strconv.Itoa(int(order))}, Body: []byte(body),
				})
				if order.allowed() == nil {
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(string(resp.Body)).To(Equal(body))
				} else {
					g.Expect(err).To(Or(MatchError(order.allowed()[0]), MatchError(Unreachable)))
				}
			}
			resp, err := c.Invoke(withTimeout(t, 10*time.Second), s.addr, &Command{
				Code: ReqGetMaxOffset, ExtFields: map[string]string{"fault": "0"}, Body: []byte("after"),
			})
			g.Expect(err).NotTo(HaveOccurred(), "the next call finds its way")
			g.Expect(string(resp.Body)).To(Equal("after"))
		})
	}
}
