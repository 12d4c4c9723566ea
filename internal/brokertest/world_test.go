// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestTheClockMayBeTheTests(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0))
	c := start(t, brokertest.Options{Clock: clock})
	g.Expect(c.Clock()).To(BeIdenticalTo(clock))
	g.Expect(c.ProduceDelayed(orders, brokerA, 7, 1, 1)).To(Succeed())
	clock.Step(time.Second)
	g.Expect(maxOffset(t, c.Broker(brokerA), 7)).To(Equal("1"), "what is due happens before the next call")
	landed := c.Messages(orders)[0]
	g.Expect(landed.Stored).To(Equal(time.Unix(1_700_000_001, 0)))
}

func TestALongJumpOfTheClock(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 1, Slaves: 1})
	for range 10 {
		c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
		c.JoinGRPC(brokertest.GRPCSpec{Group: "p", Subscriptions: map[string]string{orders: "*"}})
	}
	for level := 1; level <= 18; level++ {
		g.Expect(c.ProduceDelayed(orders, brokerA, level%8, level, 50)).To(Succeed())
	}
	g.Expect(c.ProduceTimer(orders, brokerB, 1, 71*time.Hour, 100)).To(Succeed())
	c.Advance(72 * time.Hour)
	g.Expect(c.Messages(orders)).To(HaveLen(18*50 + 100))
	order := c.Messages(orders)
	for i := 1; i < len(order); i++ {
		g.Expect(order[i].Stored.Before(order[i-1].Stored)).To(BeFalse(), "in the order of being due")
	}
	g.Expect(order[899].Stored).To(Equal(brokertest.Epoch().Add(2 * time.Hour)))
	g.Expect(call(t, c.ProxyAddrs()[0], 203, map[string]string{"consumerGroup": "p"}).Code).To(BeZero())
}

func TestAbandonedTransactions(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	half, err := c.ProduceHalf(orders, brokerA, 3)
	g.Expect(err).NotTo(HaveOccurred())
	progress := func(at string) string { return `"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:` + at + `}` }
	g.Expect(string(call(t, c.Broker(brokerA).Addr(), 43, nil).Body)).To(ContainSubstring(progress("0")))
	g.Expect(half.Rollback()).To(BeTrue())
	g.Expect(string(call(t, c.Broker(brokerA).Addr(), 43, nil).Body)).To(ContainSubstring(progress("1")))
	c.Advance(time.Hour)
	g.Expect(c.Broker(brokerA).MaxOffset(orders, 3)).To(BeZero())
	g.Expect(half.Commit()).To(BeTrue(), "brokers do not check whether it was ended before")
	g.Expect(c.Broker(brokerA).MaxOffset(orders, 3)).To(Equal(int64(1)))
}

func TestQ15_ASendCreatesATopicFromTheTemplate(t *testing.T) {
	for _, on := range []bool{true, false} {
		g := NewWithT(t)
		c := brokertest.Start(t, brokertest.Options{Settings: map[string]string{"autoCreateTopicEnable": strconv.FormatBool(on)}})
		err := c.Produce("made-by-sending", brokerA, 0, 1)
		topic, has := c.Broker(brokerA).Topic("made-by-sending")
		g.Expect(has).To(Equal(on))
		if !on {
			g.Expect(err).To(MatchError(ContainSubstring("code 17")))
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(topic).To(And(HaveField("Read", 4), HaveField("Write", 4)))
		g.Expect(c.NameServer(0).Route("made-by-sending")).To(And(HaveKey(brokerA), Not(HaveKey(brokerB))), "Q12: on one broker only")
	}
}

func TestWhatTestsCanSetUp(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	g.Expect([]any{b.Name(), b.BrokerName(), b.ID(), b.Version()}).To(Equal([]any{brokerA, brokerA, int64(0), brokertest.V550}))

	b.SetStatic(orders)
	g.Expect(string(call(t, b.Addr(), 21, nil).Body)).To(ContainSubstring(`"topicQueueMappingDetailMap":{"orders":{`))
	g.Expect(string(call(t, b.Addr(), 351, map[string]string{"topic": orders, "lo": "true"}).Body)).To(ContainSubstring("mappingDetail"))

	b.SetRequestMode(orders, "g", "POP")
	g.Expect(string(call(t, b.Addr(), 402, nil).Body)).To(ContainSubstring(`"orders":{"g":{"consumerGroup":"g","mode":"POP"`))

	b.SetPulled("reader", orders, 2, 9)
	body := string(call(t, b.Addr(), 43, nil).Body)
	g.Expect(body).To(ContainSubstring(`"pullOffsetTable":{"orders@reader":{2:9}}`))
	g.Expect(body).To(ContainSubstring(`"offsetTable":{}`))

	g.Expect(call(t, b.Addr(), 25, nil, "fileReservedTime=1\nother = x\n").Code).To(BeZero())
	g.Expect(string(call(t, b.Addr(), 26, nil).Body)).To(And(ContainSubstring("fileReservedTime=1\n"), ContainSubstring("other=x\n")))
	g.Expect(c.Produce(orders, brokerA, 0, 2)).To(Succeed())
	c.Advance(2 * time.Hour)
	b.ExpireOld()
	g.Expect(b.MinOffset(orders, 0)).To(Equal(int64(2)))
	g.Expect(c.Lost(orders, "g")).To(BeEmpty(), "expired")
}

func TestDisconnectClosesConnectionsOnly(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	caller := dial(t, c.Broker(brokerA).Addr())
	_, err := caller.try(28, nil, "")
	g.Expect(err).NotTo(HaveOccurred())
	c.Broker(brokerA).Disconnect()
	_, err = caller.try(28, nil, "")
	g.Expect(err).To(HaveOccurred())
	g.Expect(call(t, c.Broker(brokerA).Addr(), 28, nil).Code).To(BeZero())
}

func TestSubscriptionsChange(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 1})
	m := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "PAID"}})
	m.Subscribe(orders, "PAID || REFUND")
	g.Expect(members(t, c.Broker(brokerA).Addr(), "g")).To(ContainSubstring("PAID || REFUND"))
	p := c.JoinGRPC(brokertest.GRPCSpec{Group: "p", Simple: true, Subscriptions: map[string]string{orders: "PAID"}})
	p.Subscribe(orders, "*")
	body := members(t, c.ProxyAddrs()[0], "p")
	g.Expect(body).To(And(ContainSubstring(`"subString":"*"`), ContainSubstring("CONSUME_ACTIVELY")))
}

func TestMembersHeardByOneBrokerOnly(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.Join(brokertest.MemberSpec{Group: "g", Active: true, Brokers: []string{brokerB}, SQL: map[string]string{orders: "a > 1"}})
	ask := map[string]string{"consumerGroup": "g"}
	g.Expect(call(t, c.Broker(brokerA).Addr(), 203, ask).Code).To(Equal(206))
	body := members(t, c.Broker(brokerB).Addr(), "g")
	g.Expect(body).To(And(ContainSubstring(`"expressionType":"SQL92"`), ContainSubstring("CONSUME_ACTIVELY")))
}

func TestAMemberOfABrokerThatHostsNothingOfItsTopics(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	c.Broker(brokerA).PutTopic(brokertest.TopicConfig{Name: orders, Read: 1, Write: 1, Perm: 6})
	c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(call(t, c.Broker(brokerB).Addr(), 203, map[string]string{"consumerGroup": "g"}).Code).To(Equal(206))
}

func TestProxiesPassOffsetsOn(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 1})
	g.Expect(c.Produce(orders, brokerA, 3, 5)).To(Succeed())
	addr := c.ProxyAddrs()[0]
	ask := queueArgs(orders, 3)
	ask["bname"] = brokerA
	g.Expect(call(t, addr, 30, ask).ExtFields).To(HaveKeyWithValue("offset", "5"))
	g.Expect(string(call(t, addr, 105, map[string]string{"topic": orders}).Body)).To(ContainSubstring(brokerA))
	c.Broker(brokerA).Stop()
	g.Expect(call(t, addr, 30, ask).Code).To(Equal(1))
}

func TestOwnedByNobody(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	m := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(c.Produce(orders, brokerA, 0, 2)).To(Succeed())
	c.Broker(brokerA).Hang()
	g.Expect(m.Poll(orders, all)).To(BeEmpty())
	c.Broker(brokerA).Resume()
	g.Expect(m.Poll(orders, all)).To(HaveLen(2))
	m.Leave()
	g.Expect(m.Poll(orders, all)).To(BeEmpty())
}
