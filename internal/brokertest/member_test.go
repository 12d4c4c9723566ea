// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

const all = -1

func members(t *testing.T, addr, group string) string {
	t.Helper()
	return string(call(t, addr, 203, map[string]string{"consumerGroup": group}).Body)
}

func TestMembersComeAndGo(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		addr := c.Broker(brokerA).Addr()
		m := c.Join(brokertest.MemberSpec{Group: "g", ClientID: "10.0.0.9@1", Subscriptions: map[string]string{orders: "A"}})
		g.Expect(members(t, addr, "g")).To(And(ContainSubstring(`"clientId":"10.0.0.9@1"`), ContainSubstring(`"subString":"A"`)))
		_, has := c.Broker(brokerA).Topic("%RETRY%g")
		g.Expect(has).To(BeTrue())
		c.Advance(10 * time.Minute)
		g.Expect(members(t, addr, "g")).NotTo(BeEmpty(), "a living member sends heartbeats")
		m.Leave()
		g.Expect(call(t, addr, 203, map[string]string{"consumerGroup": "g"}).Code).To(Equal(206))
	})
}

func TestAKilledMemberStaysForTwoMinutes(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	m := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	m.Kill()
	c.Advance(2 * time.Minute)
	g.Expect(call(t, c.Broker(brokerA).Addr(), 38, map[string]string{"consumerGroup": "g"}).Code).To(BeZero())
	c.Advance(time.Second)
	g.Expect(call(t, c.Broker(brokerA).Addr(), 38, map[string]string{"consumerGroup": "g"}).Code).To(Equal(1))
}

func TestABrokerThatRestartsKnowsItsMembersAtTheNextHeartbeat(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	c.Broker(brokerA).Restart()
	g.Expect(call(t, c.Broker(brokerA).Addr(), 203, map[string]string{"consumerGroup": "g"}).Code).To(Equal(206))
	c.Advance(30 * time.Second)
	g.Expect(call(t, c.Broker(brokerA).Addr(), 203, map[string]string{"consumerGroup": "g"}).Code).To(BeZero())
}

func TestOneTableForAGroup(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	addr := c.Broker(brokerA).Addr()
	one := c.Join(brokertest.MemberSpec{Group: "g", SubVersion: 100, Subscriptions: map[string]string{orders: "A || B"}})
	c.Join(brokertest.MemberSpec{Group: "g", SubVersion: 200, Subscriptions: map[string]string{orders: "C"}})
	one.Heartbeat()
	g.Expect(members(t, addr, "g")).To(ContainSubstring(`"subString":"C"`))
	g.Expect(c.ProduceTagged(orders, brokerA, 0, 4, "A")).To(Succeed())
	g.Expect(c.Consume("g", orders, all)).To(BeEmpty(), "what only the other member wants is passed over")
	own := string(call(t, addr, 307, map[string]string{"consumerGroup": "g", "clientId": one.ClientID()}).Body)
	g.Expect(own).To(ContainSubstring(`"subString":"A || B"`))
}

func TestMembersShareTheQueues(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	owned := func(m *brokertest.Member) int {
		body := string(call(t, c.Broker(brokerA).Addr(), 307, map[string]string{"consumerGroup": "g", "clientId": m.ClientID()}).Body)
		return strings.Count(body, `"topic":"orders"}:{`)
	}
	one := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(owned(one)).To(Equal(16))
	two := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	three := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect([]int{owned(one), owned(two), owned(three)}).To(ConsistOf(6, 5, 5))
	for _, b := range c.BrokerNames() {
		narrow(t, c, b, 4, 4)
	}
	g.Expect([]int{owned(one), owned(two), owned(three)}).To(ConsistOf(3, 3, 2))
}

func TestR12_R35_ALiveMemberOverwritesASeed(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 0, 10)).To(Succeed())
	m := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(m.Poll(orders, all)).To(HaveLen(10))
	_, has := c.Committed("g", orders, brokerA, 0)
	g.Expect(has).To(BeFalse(), "positions are committed every five seconds")
	c.Advance(5 * time.Second)
	at, _ := c.Committed("g", orders, brokerA, 0)
	g.Expect(at).To(Equal(int64(10)))

	seed := map[string]string{"consumerGroup": "g", "topic": orders, "queueId": "0", "commitOffset": "0"}
	g.Expect(call(t, c.Broker(brokerA).Addr(), 15, seed).Code).To(BeZero())
	c.Advance(5 * time.Second)
	at, _ = c.Committed("g", orders, brokerA, 0)
	g.Expect(at).To(Equal(int64(10)), "the live member put its own back")
	g.Expect(m.Poll(orders, all)).To(BeEmpty())

	m.Leave()
	g.Expect(call(t, c.Broker(brokerA).Addr(), 15, seed).Code).To(BeZero())
	next := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(next.Poll(orders, all)).To(HaveLen(10), "with nobody connected it counts")
}

func TestR21_BroadcastMembersKeepTheirOwnOffsets(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 7, 3)).To(Succeed())
	m := c.Join(brokertest.MemberSpec{Group: "b", Broadcast: true, Subscriptions: map[string]string{orders: "*"}})
	asked := map[string]string{"consumerGroup": "b", "clientId": m.ClientID()}
	g.Expect(string(call(t, c.Broker(brokerA).Addr(), 307, asked).Body)).To(ContainSubstring(`"commitOffset":-1`))
	g.Expect(m.Read(orders)).To(HaveLen(3))
	g.Expect(string(call(t, c.Broker(brokerA).Addr(), 43, nil).Body)).NotTo(ContainSubstring("@b"))
	g.Expect(m.Positions(orders)[brokerA]).To(HaveKeyWithValue(7, int64(3)))
	g.Expect(string(call(t, c.Broker(brokerA).Addr(), 307, asked).Body)).To(ContainSubstring(`"commitOffset":3`))
	g.Expect(members(t, c.Broker(brokerA).Addr(), "b")).To(ContainSubstring("BROADCASTING"))
}

func TestP12_AMemberThatDoesNotAnswer(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	m := c.Join(brokertest.MemberSpec{Group: "g", Silent: true, Subscriptions: map[string]string{orders: "*"}})
	caller := dial(t, c.Broker(brokerA).Addr())
	_, err := caller.send(307, map[string]string{"consumerGroup": "g", "clientId": m.ClientID()}, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() int { return c.Recorder().Count(brokertest.WithCode(307)) }).Should(Equal(1))
	done := make(chan int, 1)
	go func() {
		if r, err := caller.receive(); err == nil {
			done <- r.Code
		}
	}()
	g.Eventually(func(g Gomega) {
		c.Advance(time.Second)
		g.Expect(done).To(Receive(Equal(207)))
	}).WithPolling(time.Millisecond).Should(Succeed())
}

func TestQ17_SendBackGoesByTheGroupsCountNotTheTopics(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Brokers: 1})
	cfg := brokertest.DefaultGroup("g")
	cfg.RetryQueues = 2
	b := c.Broker(brokerA)
	b.PutGroup(cfg)
	b.PutTopic(brokertest.TopicConfig{Name: "%RETRY%g", Read: 1, Write: 1, Perm: 6})
	g.Expect(c.Produce(orders, brokerA, 0, 40)).To(Succeed())
	for _, m := range c.Consume("g", orders, all) {
		c.SendBack("g", m, 3)
	}
	c.RequireNothingLost(t, orders, "g")
	c.Advance(10 * time.Second)
	beyond := b.MaxOffset("%RETRY%g", 1)
	g.Expect(beyond).To(BeNumerically(">", 0))
	g.Expect(c.Lost(orders, "g")).To(HaveLen(int(beyond)), "half of the retries vanish")
	b.PutTopic(brokertest.TopicConfig{Name: "%RETRY%g", Read: 2, Write: 2, Perm: 6})
	g.Expect(c.Consume("g", "%RETRY%g", all)).To(HaveLen(40))
	c.RequireAllDelivered(t, orders, "g")
}

func TestResetsOf49AreDoneByTheMembers(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{Version: brokertest.V497, Brokers: 2})
	c.CreateTopic(orders, 2, 2)
	g.Expect(c.Produce(orders, brokerA, 0, 4)).To(Succeed())
	m := c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	m.Poll(orders, all)
	m.Persist()
	args := map[string]string{"topic": orders, "group": "g", "timestamp": "0", "isForce": "true"}
	g.Expect(call(t, c.Broker(brokerA).Addr(), 222, args).Code).To(BeZero())
	at, _ := c.Committed("g", orders, brokerA, 0)
	g.Expect(at).To(Equal(int64(4)), "nothing yet")
	c.Advance(10 * time.Second)
	g.Expect(m.Poll(orders, all)).To(HaveLen(4))

	g.Expect(call(t, c.Broker(brokerA).Addr(), 222, args).Code).To(BeZero())
	m.Leave()
	c.Advance(time.Minute)
	g.Expect(c.Consume("g", orders, all)).To(BeEmpty(), "a member that left took the reset with it")
}
