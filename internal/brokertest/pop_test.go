// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestPOPOffsetsMeanHandedOut(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 7, 3)).To(Succeed())
	got := c.Pop("g", orders, all, time.Minute)
	g.Expect(got).To(HaveLen(3))
	at, _ := c.Committed("g", orders, brokerA, 7)
	g.Expect(at).To(Equal(int64(3)), "at the end with no acknowledgement")
	g.Expect(got[0].Ack()).To(Succeed())
	narrow(t, c, brokerA, 4, 4)
	g.Expect(got[1].Ack()).To(MatchError(ContainSubstring("code 13")), "the queue is no longer readable")
	c.RequireNothingLost(t, orders, "g")

	c.Advance(63 * time.Second)
	again := c.Pop("g", orders, all, time.Minute)
	g.Expect(again).To(HaveLen(2))
	for _, m := range again {
		g.Expect(m.Topic).To(Equal("%RETRY%g_orders"))
		g.Expect(m.Ack()).To(Succeed())
	}
	g.Expect(got[1].Ack()).To(MatchError(brokertest.ErrLate))
	c.RequireAllDelivered(t, orders, "g")
}

func TestPOPLeavesATraceOnTheBroker(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	ask := map[string]string{"group": "g", "topic": orders}
	addr := c.Broker(brokerA).Addr()
	g.Expect(string(call(t, addr, 345, ask).Body)).NotTo(ContainSubstring("subscriptionData"))
	c.Pop("g", orders, all, time.Minute)
	g.Expect(string(call(t, addr, 345, ask).Body)).To(ContainSubstring("subscriptionData"))
	g.Expect(call(t, addr, 203, map[string]string{"consumerGroup": "g"}).Code).To(Equal(206))
}

func TestQ05_POPSkipsOnNewBrokersToo(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	added, err := c.AddBroker("broker-c")
	g.Expect(err).NotTo(HaveOccurred())
	added.PutTopic(brokertest.TopicConfig{Name: orders, Read: 1, Write: 1, Perm: 6})
	g.Expect(c.Produce(orders, "broker-c", 0, 9)).To(Succeed())
	added.EvictPageCache()
	g.Expect(c.Pop("g", orders, all, time.Minute)).To(HaveLen(1), "it begins at the last message")
	g.Expect(c.Lost(orders, "g")).To(HaveLen(8))
}

// record is a heartbeat record of a proxy.
type record struct {
	ClientID      string `json:"clientId"`
	HeartbeatType string `json:"heartbeatType"`
	ChannelData   string `json:"channelData"`
	Subscriptions []struct {
		Topic     string `json:"topic"`
		SubString string `json:"subString"`
	} `json:"subscriptionDataSet"`
}

func records(g Gomega, c *brokertest.Cluster) []record {
	var out []record
	for _, m := range c.Messages("DefaultHeartBeatSyncerTopic") {
		var r record
		g.Expect(json.Unmarshal([]byte(m.Body), &r)).To(Succeed())
		out = append(out, r)
	}
	return out
}

func TestGRPCMembersAreSeenOnProxiesOnly(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 2})
	m := c.JoinGRPC(brokertest.GRPCSpec{Group: "g", Hostname: "shop-1", Subscriptions: map[string]string{orders: "PAID"}})
	ask := map[string]string{"consumerGroup": "g"}
	g.Expect(call(t, c.Broker(brokerA).Addr(), 203, ask).Code).To(Equal(206))
	for _, addr := range c.ProxyAddrs() {
		g.Expect(members(t, addr, "g")).To(ContainSubstring(m.ClientID()))
		g.Expect(string(call(t, addr, 38, ask).Body)).To(ContainSubstring(m.ClientID()))
		g.Expect(call(t, addr, 17, topicArgs(orders, 1, 1)).Code).To(Equal(3))
		g.Expect(call(t, addr, 28, nil).Code).To(Equal(3))
	}

	first := records(g, c)
	g.Expect(first).To(HaveLen(1))
	g.Expect(first[0].Subscriptions).To(ConsistOf(HaveField("SubString", "PAID")))
	g.Expect(first[0].ChannelData).NotTo(ContainSubstring("extendAttribute"), "the first record lacks the settings")
	c.Advance(10 * time.Second)
	second := records(g, c)
	g.Expect(second).To(HaveLen(2))
	g.Expect(second[1].ChannelData).To(And(ContainSubstring("extendAttribute"), ContainSubstring(`\"hostname\":\"shop-1\"`)))
	g.Expect([]int64{c.Broker(brokerA).MaxOffset("DefaultHeartBeatSyncerTopic", 0), c.Broker(brokerB).MaxOffset("DefaultHeartBeatSyncerTopic", 0)}).
		To(Equal([]int64{1, 1}), "records go to the masters in turn")

	m.Leave()
	last := records(g, c)
	g.Expect(last[len(last)-1].HeartbeatType).To(Equal("UNREGISTER"))
	g.Expect(call(t, c.ProxyAddrs()[1], 203, ask).Code).To(Equal(206))
}

func TestAKilledGRPCMemberNeverUnregisters(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 1})
	m := c.JoinGRPC(brokertest.GRPCSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	m.Kill()
	c.Advance(2 * time.Minute)
	g.Expect(call(t, c.ProxyAddrs()[0], 203, map[string]string{"consumerGroup": "g"}).Code).To(BeZero())
	c.Advance(time.Second)
	g.Expect(call(t, c.ProxyAddrs()[0], 203, map[string]string{"consumerGroup": "g"}).Code).To(Equal(206))
	for _, r := range records(g, c) {
		g.Expect(r.HeartbeatType).To(Equal("REGISTER"))
	}
}

func TestAProxyThatRestartedIsBlindForAMoment(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 2})
	c.JoinGRPC(brokertest.GRPCSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	c.Proxy(1).Stop()
	g.Expect(c.Proxy(1).Start()).To(Succeed())
	ask := map[string]string{"consumerGroup": "g"}
	g.Expect(call(t, c.ProxyAddrs()[1], 203, ask).Code).To(Equal(206))
	c.Advance(10 * time.Second)
	g.Expect(call(t, c.ProxyAddrs()[1], 203, ask).Code).To(BeZero())
}

func TestProxiesAreBlindToEachOtherWithoutTheirGroup(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 2, Settings: map[string]string{"autoCreateSubscriptionGroup": "false"}})
	c.JoinGRPC(brokertest.GRPCSpec{Group: "g", Subscriptions: map[string]string{orders: "*"}})
	ask := map[string]string{"consumerGroup": "g"}
	g.Expect(call(t, c.ProxyAddrs()[0], 203, ask).Code).To(BeZero())
	g.Expect(call(t, c.ProxyAddrs()[1], 203, ask).Code).To(Equal(206))
	c.CreateGroup("CID_DefaultHeartBeatSyncerTopic")
	c.Advance(10 * time.Second)
	g.Expect(call(t, c.ProxyAddrs()[1], 203, ask).Code).To(BeZero())
}

func TestP07_AGRPCPortIsNotRemoting(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Proxies: 1})
	_, err := dial(t, c.Proxy(0).GRPCAddr()).try(106, nil, "")
	g.Expect(err).To(MatchError(ContainSubstring("wrong endpoint")))
}

func TestProxiesNeedFive(t *testing.T) {
	g := NewWithT(t)
	_, err := brokertest.New(brokertest.Options{Version: brokertest.V497, Proxies: 1})
	g.Expect(err).To(HaveOccurred())
}
