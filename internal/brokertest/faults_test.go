// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// writes reads the write count that broker-a has.
func writes(c *brokertest.Cluster) int {
	topic, _ := c.Broker(brokerA).Topic(orders)
	return topic.Write
}

func TestFaultsOnAChange(t *testing.T) {
	noReply := func(g Gomega, _ *remoting.Command, err error) { g.Expect(err).To(HaveOccurred()) }
	success := func(g Gomega, r *remoting.Command, err error) {
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Code).To(BeZero())
	}
	for _, tc := range []struct {
		do      brokertest.Effect
		applied bool
		seen    func(g Gomega, r *remoting.Command, err error)
	}{
		{brokertest.Answer(2, "[TIMEOUT_CLEAN_QUEUE]"), false, func(g Gomega, r *remoting.Command, err error) {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Code).To(Equal(2))
			g.Expect(r.Remark).To(Equal("[TIMEOUT_CLEAN_QUEUE]"))
		}},
		{brokertest.ForeignRemark(), false, func(g Gomega, r *remoting.Command, err error) {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Code).To(Equal(1))
			g.Expect(len(r.Remark)).To(BeNumerically(">", 1000))
		}},
		{brokertest.Lose(), false, success},
		{brokertest.HangUp(), false, func(g Gomega, _ *remoting.Command, err error) {
			g.Expect(errors.Is(err, io.EOF)).To(BeTrue())
		}},
		{brokertest.HangUpAfter(), true, noReply},
		{brokertest.Cut(), true, func(g Gomega, _ *remoting.Command, err error) {
			g.Expect(errors.Is(err, io.ErrUnexpectedEOF)).To(BeTrue())
		}},
	} {
		t.Run(tc.do.String(), func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{})
			f := c.Inject(brokertest.Fault{Node: brokerA, Code: 17, Times: 1, Do: tc.do})
			r, err := dial(t, c.Broker(brokerA).Addr()).try(17, topicArgs(orders, 8, 4), "")
			tc.seen(g, r, err)
			g.Expect(writes(c)).To(Equal(map[bool]int{true: 4, false: 8}[tc.applied]))
			g.Expect(f.Hits()).To(Equal(1))
			calls := c.Recorder().Changing()
			g.Expect(calls).To(HaveLen(1))
			g.Expect(calls[0].Fault).To(Equal(tc.do.String()))
			g.Expect(calls[0].Applied).To(Equal(tc.applied))
			narrow(t, c, brokerA, 8, 2)
			g.Expect(writes(c)).To(Equal(2), "only one call was disturbed")
		})
	}
}

func TestDropsAnswerNothing(t *testing.T) {
	for _, tc := range []struct {
		do      brokertest.Effect
		applied bool
	}{{brokertest.Drop(), false}, {brokertest.DropReply(), true}} {
		t.Run(tc.do.String(), func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{})
			f := c.Inject(brokertest.Fault{Code: 17, Times: 1, Do: tc.do})
			caller := dial(t, c.Broker(brokerA).Addr())
			_, err := caller.send(17, topicArgs(orders, 8, 4), "")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(f.Await(t.Context())).To(Succeed())
			g.Eventually(func() bool { return c.Recorder().Calls()[0].Applied || !tc.applied }).Should(BeTrue())
			second, err := caller.send(28, nil, "")
			g.Expect(err).NotTo(HaveOccurred())
			r, err := caller.receive()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Opaque).To(Equal(second), "the first reply was dropped")
			g.Expect(writes(c)).To(Equal(map[bool]int{true: 4, false: 8}[tc.applied]))
		})
	}
}

func TestDelaysHoldUntilReleased(t *testing.T) {
	for _, tc := range []struct {
		do     brokertest.Effect
		before int
	}{{brokertest.Delay(), 8}, {brokertest.DelayReply(), 4}} {
		t.Run(tc.do.String(), func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{})
			f := c.Inject(brokertest.Fault{Code: 17, Do: tc.do})
			caller := dial(t, c.Broker(brokerA).Addr())
			opaque, err := caller.send(17, topicArgs(orders, 8, 4), "")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(f.Await(t.Context())).To(Succeed())
			g.Eventually(func() int { return writes(c) }).Should(Equal(tc.before))
			other, err := caller.try(28, nil, "")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(other.Opaque).NotTo(Equal(opaque), "other calls on the connection go on")
			f.Release()
			r, err := caller.receive()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Opaque).To(Equal(opaque))
			g.Expect(writes(c)).To(Equal(4))
		})
	}
}

func TestSpoiledBodies(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	addr := c.Broker(brokerA).Addr()
	whole := call(t, addr, 21, nil).Body
	c.Inject(brokertest.Fault{Code: 21, Times: 1, Do: brokertest.HalfBody()})
	c.Inject(brokertest.Fault{Code: 21, Times: 1, Do: brokertest.NoBody()})
	c.Inject(brokertest.Fault{Code: 21, Times: 1, Do: brokertest.Body(func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(orders), []byte("others"))
	})})
	g.Expect(call(t, addr, 21, nil).Body).To(HaveLen(len(whole) / 2))
	empty := call(t, addr, 21, nil)
	g.Expect(empty.Code).To(BeZero())
	g.Expect(empty.Body).To(BeEmpty())
	g.Expect(string(call(t, addr, 21, nil).Body)).To(And(ContainSubstring("others"), Not(ContainSubstring(orders))))
	g.Expect(call(t, addr, 21, nil).Body).To(Equal(whole))
}

func TestFaultsChooseTheirCalls(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	f := c.Inject(brokertest.Fault{
		Node: brokerB, Code: 30, Skip: 1, Times: 2, Do: brokertest.Answer(1, "no"),
		Match: func(call brokertest.Call) bool { return call.Args["queueId"] == "3" },
	})
	ask := func(broker string, id int) int {
		return call(t, c.Broker(broker).Addr(), 30, queueArgs(orders, id)).Code
	}
	g.Expect([]int{ask(brokerA, 3), ask(brokerB, 2), ask(brokerB, 3)}).To(Equal([]int{0, 0, 0}))
	g.Expect([]int{ask(brokerB, 3), ask(brokerB, 3), ask(brokerB, 3)}).To(Equal([]int{1, 1, 0}))
	g.Expect(f.Hits()).To(Equal(2))

	all := c.Inject(brokertest.Fault{Do: brokertest.Answer(1, "no")})
	g.Expect(ask(brokerA, 0)).To(Equal(1))
	g.Expect(call(t, c.NameServerAddrs()[0], 106, nil).Code).To(Equal(1))
	all.Remove()
	g.Expect(ask(brokerA, 0)).To(BeZero())
	c.Inject(brokertest.Fault{Do: brokertest.Answer(1, "no")})
	c.ClearFaults()
	g.Expect(ask(brokerA, 0)).To(BeZero())
}

func TestAwaitEndsWithTheContext(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	f := c.Inject(brokertest.Fault{Code: 17, Do: brokertest.Drop()})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	g.Expect(f.Await(ctx)).To(MatchError(context.DeadlineExceeded))
}

func TestTheForeignRemarkIsHostile(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	var raw string
	c.Inject(brokertest.Fault{Code: 28, Do: brokertest.ForeignRemark()})
	raw = call(t, c.Broker(brokerA).Addr(), 28, nil).Remark
	g.Expect(raw).To(And(ContainSubstring("\x1b["), ContainSubstring("\u202e"), ContainSubstring("\n"), ContainSubstring("\x00")))
	g.Expect(utf8.RuneCountInString(raw)).To(BeNumerically(">", 10_000))
}
