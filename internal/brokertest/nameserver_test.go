// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestO25_ANameServerThatRestarted(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		ns := c.NameServer(1)
		g.Expect(ns.Restart()).To(Succeed())
		g.Expect(ns.Topics()).To(BeEmpty())
		g.Expect(call(t, ns.Addr(), 106, nil).Body).To(BeEquivalentTo(`{"brokerAddrTable":{},"clusterAddrTable":{}}`))

		args := topicArgs("fresh", 1, 1)
		g.Expect(call(t, c.Broker(brokerA).Addr(), 17, args).Code).To(BeZero())
		if v == brokertest.V497 {
			g.Expect(ns.Topics()).To(Equal([]string{"fresh"}), "one topic passes for the broker's table")
		} else {
			g.Expect(ns.Topics()).To(BeEmpty(), "one topic of an unknown broker is not taken")
		}
		c.Advance(30 * time.Second)
		g.Expect(ns.Route(orders)).To(HaveKey(brokerB))
		if v == brokertest.V497 {
			g.Expect(ns.Route(orders)).NotTo(HaveKey(brokerA), "the same data version is not looked at again")
		} else {
			g.Expect(ns.Route(orders)).To(HaveKey(brokerA))
			g.Expect(ns.Route("fresh")).To(HaveKey(brokerA))
		}
	})
}

func TestAChangeIsRoutedBeforeItsReply(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		narrow(t, c, brokerA, 8, 4)
		for i := range 2 {
			g.Expect(c.NameServer(i).Route(orders)[brokerA]).To(Equal(brokertest.RouteQueues{Read: 8, Write: 4, Perm: 6}))
			g.Expect(c.NameServer(i).Route(orders)[brokerB]).To(Equal(brokertest.RouteQueues{Read: 8, Write: 8, Perm: 6}))
		}
	})
}

func TestANameServerThatMissedItCatchesUp(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		c.NameServer(1).MissRegistrations(true)
		narrow(t, c, brokerA, 8, 4)
		g.Expect(c.NameServer(0).Route(orders)[brokerA].Write).To(Equal(4))
		g.Expect(c.NameServer(1).Route(orders)[brokerA].Write).To(Equal(8))
		if v != brokertest.V497 { // 4.9 registers again at the repeat
			c.NameServer(1).MissRegistrations(false)
			narrow(t, c, brokerA, 8, 4)
			g.Expect(c.NameServer(1).Route(orders)[brokerA].Write).To(Equal(8), "a repeat mends nothing")
		}
		c.NameServer(1).MissRegistrations(false)
		c.Advance(30 * time.Second)
		g.Expect(c.NameServer(1).Route(orders)[brokerA].Write).To(Equal(4))
	})
}

func TestAStoppedBrokerLeavesTheRoutesAtOnce(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.Broker(brokerB).Stop()
	route := string(call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": orders}).Body)
	g.Expect(route).NotTo(ContainSubstring(brokerB))
	c.Broker(brokerB).Start()
	route = string(call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": orders}).Body)
	g.Expect(route).To(ContainSubstring(brokerB))
}

func TestQ30_ARouteThatDiffersFromTheBroker(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.NameServer(1).SetRoute(orders, brokerA, &brokertest.RouteQueues{Read: 8, Write: 8, Perm: 4})
	g.Expect(string(call(t, c.NameServerAddrs()[1], 105, map[string]string{"topic": orders}).Body)).To(ContainSubstring(`"perm":4`))
	g.Expect(string(call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": orders}).Body)).NotTo(ContainSubstring(`"perm":4`))
	c.Advance(time.Minute)
	g.Expect(c.NameServer(1).Route(orders)[brokerA].Perm).To(Equal(4), "an unchanged table does not mend it")
	c.NameServer(1).SetRoute(orders, brokerA, nil)
	g.Expect(c.NameServer(1).Route(orders)).NotTo(HaveKey(brokerA))
	c.Advance(time.Minute)
	g.Expect(c.NameServer(1).Route(orders)).To(HaveKey(brokerA), "a missing topic comes back on 5.x")
}

func TestBrokerPermissionMasksTheRoute(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.Broker(brokerA).SetSetting("brokerPermission", "4")
	g.Expect(c.NameServer(0).Route(orders)[brokerA].Perm).To(Equal(4))
	g.Expect(c.NameServer(0).Route(orders)[brokerB].Perm).To(Equal(6))
}

func TestQ10_OrderConfigurationOverridesTheWriteCount(t *testing.T) {
	for _, enabled := range []bool{false, true} {
		g := NewWithT(t)
		c := start(t, brokertest.Options{OrderMessageEnable: enabled})
		for i := range 2 {
			c.NameServer(i).SetKV("ORDER_TOPIC_CONFIG", orders, "broker-a:8;broker-b:8")
		}
		for _, b := range c.BrokerNames() {
			narrow(t, c, b, 8, 4)
		}
		body := string(call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": orders}).Body)
		g.Expect(c.ProduceBy(0, orders, 16)).To(Succeed())
		if !enabled {
			g.Expect(body).NotTo(ContainSubstring("orderTopicConf"))
			g.Expect(c.Broker(brokerA).MaxOffset(orders, 7)).To(BeZero())
			continue
		}
		g.Expect(body).To(ContainSubstring(`"orderTopicConf":"broker-a:8;broker-b:8"`))
		g.Expect(c.Broker(brokerA).MaxOffset(orders, 7)).To(Equal(int64(1)))
		topic, _ := c.Broker(brokerA).Topic(orders)
		g.Expect(topic.Order).To(BeTrue(), "name servers tell brokers to set it")
	}
}

func TestTheOrderFlagByRelease(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		args := topicArgs(orders, 8, 8)
		args["order"] = "true"
		g.Expect(call(t, c.Broker(brokerA).Addr(), 17, args).Code).To(BeZero())
		topic, _ := c.Broker(brokerA).Topic(orders)
		g.Expect(topic.Order).To(Equal(v != brokertest.V497))
	})
}
