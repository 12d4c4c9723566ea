// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestQ18_SendsAreTakenUpToTheLargerCount(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		old := c.NewProducer(0, orders)
		narrow(t, c, brokerA, 8, 4)
		g.Expect(old.Send(16)).To(Succeed(), "a producer with the old route still fills q4..7")
		g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("1"))
		g.Expect(c.ProduceBy(0, orders, 12)).To(Succeed())
		g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("1"), "one with the new route does not")
		narrow(t, c, brokerA, 4, 4)
		g.Expect(c.Produce(orders, brokerA, 7, 1)).To(MatchError(ContainSubstring("request queueId[7] is illegal")))
		g.Expect(old.Send(16)).NotTo(Succeed())
	})
}

func TestQ20_StatsEndAtTheReadCount(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		c.Commit("g", orders, brokerA, 0, 0)
		g.Expect(c.Produce(orders, brokerA, 7, 5)).To(Succeed())
		narrow(t, c, brokerA, 4, 4)
		stats := string(call(t, c.Broker(brokerA).Addr(), 208, map[string]string{"consumerGroup": "g", "topic": orders}).Body)
		g.Expect(stats).NotTo(ContainSubstring(`"queueId":7`))
		g.Expect(string(call(t, c.Broker(brokerA).Addr(), 202, map[string]string{"topic": orders}).Body)).NotTo(ContainSubstring(`"queueId":7`))
		g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("5"), "call 30 alone shows them")
		g.Expect(c.Lost(orders, "g")).To(HaveLen(5))
	})
}

func TestQ19_R11_LateMessagesLandOnRetiredQueues(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		b := c.Broker(brokerA)
		g.Expect(c.ProduceDelayed(orders, brokerA, 7, 5, 2)).To(Succeed()) // level 5 is a minute
		half, err := c.ProduceHalf(orders, brokerA, 5)
		g.Expect(err).NotTo(HaveOccurred())
		if v != brokertest.V497 {
			g.Expect(c.ProduceTimer(orders, brokerA, 6, 75*time.Second, 1)).To(Succeed())
			g.Expect(string(call(t, b.Addr(), 61, nil).Body)).To(ContainSubstring(`"orders":{"count":1`))
		}
		progress := string(call(t, b.Addr(), 28, nil).Body)
		if v == brokertest.V497 {
			g.Expect(progress).NotTo(ContainSubstring("scheduleMessageOffset_5"), "a level that never delivered is not shown")
		} else {
			g.Expect(progress).To(ContainSubstring(`"scheduleMessageOffset_5":"0,2"`))
		}
		narrow(t, c, brokerA, 4, 4)

		c.Advance(59 * time.Second)
		g.Expect(maxOffset(t, b, 7)).To(Equal("0"))
		c.Advance(time.Second)
		g.Expect(maxOffset(t, b, 7)).To(Equal("2"))
		g.Expect(string(call(t, b.Addr(), 28, nil).Body)).To(ContainSubstring(`"scheduleMessageOffset_5":"2,2"`))
		c.Advance(15 * time.Second)
		if v != brokertest.V497 {
			g.Expect(maxOffset(t, b, 6)).To(Equal("1"))
			g.Expect(string(call(t, b.Addr(), 61, nil).Body)).NotTo(ContainSubstring(orders))
		}
		g.Expect(maxOffset(t, b, 5)).To(Equal("0"))
		g.Expect(half.Commit()).To(BeTrue())
		g.Expect(maxOffset(t, b, 5)).To(Equal("1"))

		for _, m := range c.Messages(orders) {
			g.Expect(m.Properties).NotTo(Or(HaveKey("DELAY"), HaveKey("REAL_TOPIC")), "it lands without the mark of its wait")
		}
		late := len(c.Messages(orders))
		g.Expect(c.Lost(orders, "g")).To(HaveLen(late))
		narrow(t, c, brokerA, 8, 4)
		g.Expect(c.Lost(orders, "g")).To(BeEmpty())
		g.Expect(c.Consume("g", orders, -1)).To(HaveLen(late))
		c.RequireAllDelivered(t, orders, "g")
	})
}

func TestR15_WhatWaitsCanBeUnseen(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	b.HoldTimerIntake(true)
	g.Expect(c.ProduceTimer(orders, brokerA, 6, time.Minute, 1)).To(Succeed())
	g.Expect(string(call(t, b.Addr(), 61, nil).Body)).NotTo(ContainSubstring(orders))
	g.Expect(string(call(t, b.Addr(), 28, nil).Body)).To(ContainSubstring(`"timerOffsetBehind":"1"`))
	b.HoldTimerIntake(false)
	g.Expect(string(call(t, b.Addr(), 61, nil).Body)).To(ContainSubstring(orders))

	half, err := c.ProduceHalf(orders, brokerA, 5)
	g.Expect(err).NotTo(HaveOccurred())
	open := `"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:0}`
	g.Expect(string(call(t, b.Addr(), 43, nil).Body)).To(ContainSubstring(open))
	c.Advance(time.Hour)
	g.Expect(string(call(t, b.Addr(), 43, nil).Body)).NotTo(ContainSubstring(open), "given up after its check-backs")
	g.Expect(half.Commit()).To(BeTrue(), "and yet it can be committed")
	g.Expect(maxOffset(t, b, 5)).To(Equal("1"))
	c.Advance(73 * time.Hour)
	b.ExpireOld()
	g.Expect(half.Commit()).To(BeFalse(), "until the log forgets it")
}

func TestLateDeliveryHeldAndBrokerDown(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	g.Expect(c.ProduceDelayed(orders, brokerA, 7, 1, 1)).To(Succeed())
	b.HoldLate(true)
	c.Advance(time.Minute)
	g.Expect(b.MaxOffset(orders, 7)).To(BeZero())
	b.HoldLate(false)
	g.Expect(b.MaxOffset(orders, 7)).To(Equal(int64(1)))
	g.Expect(c.ProduceDelayed(orders, brokerA, 7, 1, 1)).To(Succeed())
	b.Stop()
	c.Advance(time.Minute)
	b.Start()
	g.Expect(b.MaxOffset(orders, 7)).To(Equal(int64(2)), "a broker that was down delivers when it is back")
}

func TestR04_MaxOffsetsShowDispatchedMessagesOnly(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	b.HoldDispatch(true)
	g.Expect(c.Produce(orders, brokerA, 7, 3)).To(Succeed())
	g.Expect(maxOffset(t, b, 7)).To(Equal("0"))
	g.Expect(string(call(t, b.Addr(), 28, nil).Body)).To(MatchRegexp(`"dispatchBehindBytes":"[1-9]\d*"`))
	narrow(t, c, brokerA, 4, 4)
	b.HoldDispatch(false)
	g.Expect(maxOffset(t, b, 7)).To(Equal("3"))
	g.Expect(string(call(t, b.Addr(), 28, nil).Body)).To(ContainSubstring(`"dispatchBehindBytes":"0"`))
	g.Expect(c.Lost(orders, "g")).To(HaveLen(3))
}

func TestR06_ExpiredMessagesAreNotLost(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 7, 4)).To(Succeed())
	c.Broker(brokerA).Expire(orders, 7, 3)
	g.Expect(call(t, c.Broker(brokerA).Addr(), 31, queueArgs(orders, 7)).ExtFields["offset"]).To(Equal("3"))
	narrow(t, c, brokerA, 4, 4)
	g.Expect(c.Lost(orders, "g")).To(HaveLen(1))
}

func TestR11_ALogThatLostItsTail(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 7, 5)).To(Succeed())
	c.Broker(brokerA).Truncate(orders, 7, 2)
	g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("2"))
	g.Expect(c.Produce(orders, brokerA, 7, 1)).To(Succeed())
	g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("3"))
	g.Expect(c.Messages(orders)).To(HaveLen(3))
}

func TestQ23_DeleteAndCreateAgainSkips(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Version: brokertest.V497})
	g.Expect(c.Produce(orders, brokerA, 0, 9)).To(Succeed())
	g.Expect(c.Consume("g", orders, -1)).To(HaveLen(9))
	g.Expect(call(t, c.Broker(brokerA).Addr(), 215, map[string]string{"topic": orders}).Code).To(BeZero())
	narrow(t, c, brokerA, 8, 8)
	g.Expect(c.Produce(orders, brokerA, 0, 4)).To(Succeed())
	g.Expect(c.Lost(orders, "g")).To(HaveLen(4), "the offset of 4.9 is beyond the new end")
	g.Expect(c.Consume("g", orders, -1)).To(BeEmpty())
}
