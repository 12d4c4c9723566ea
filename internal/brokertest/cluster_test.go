// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestStartAnswersAtOnce(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v, Slaves: 1})
		g.Expect(string(call(t, c.NameServerAddrs()[1], 106, nil).Body)).To(ContainSubstring(brokerB))
		narrow(t, c, brokerA, 8, 4)
		g.Expect(c.NameServer(1).Route(orders)[brokerA].Write).To(Equal(4))
		g.Expect(c.Recorder().Changing()).To(HaveLen(1))
	})
}

func TestStartIsFast(t *testing.T) {
	best := time.Hour
	for range 20 { // the fastest, for the machine may be busy
		began := time.Now()
		c := start(t, brokertest.Options{Slaves: 1, Proxies: 1})
		best = min(best, time.Since(began))
		c.Stop()
	}
	NewWithT(t).Expect(best).To(BeNumerically("<", 50*time.Millisecond))
}

func TestP02_BrokerIDsAreBareIntegers(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v, Slaves: 1})
		body := string(call(t, c.NameServerAddrs()[0], 106, nil).Body)
		g.Expect(body).To(MatchRegexp(`"brokerAddrs":\{0:"127\.0\.0\.1:\d+",1:"127\.0\.0\.1:\d+"\}`))
		c.Broker(brokerA).Stop()
		body = string(call(t, c.NameServerAddrs()[0], 106, nil).Body)
		g.Expect(body).To(MatchRegexp(`"broker-a":\{"brokerAddrs":\{1:"`), "no master is no id 0")
	})
}

func TestStopLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		g.Expect(err).NotTo(HaveOccurred())
		return len(entries)
	}
	one := func() {
		c, err := brokertest.New(brokertest.Options{Proxies: 2, Slaves: 1})
		g.Expect(err).NotTo(HaveOccurred())
		c.CreateTopic(orders, 4, 4)
		held := c.Inject(brokertest.Fault{Code: 28, Do: brokertest.Delay()})
		caller := dial(t, c.Broker(brokerA).Addr())
		_, err = caller.send(28, nil, "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(held.Await(t.Context())).To(Succeed())
		c.NameServer(0).Hang()
		_, err = dial(t, c.Broker(brokerB).Addr()).send(17, topicArgs(orders, 4, 2), "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Eventually(func() int { return c.NameServer(1).Route(orders)[brokerB].Write }).Should(Equal(2))
		silent := dial(t, c.Proxy(0).GRPCAddr())
		c.Stop()
		c.Stop()
		_, _ = caller.conn.Close(), silent.conn.Close()
	}
	one()
	runtime.GC()
	goroutines, fds := runtime.NumGoroutine(), files()
	for range 5 {
		one()
	}
	g.Eventually(runtime.NumGoroutine).Should(BeNumerically("<=", goroutines))
	g.Eventually(files).Should(BeNumerically("<=", fds+10), "the callers' own sockets of this test may be open")
}

func TestNodesKeepTheirAddress(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	addr, booted := b.Addr(), b.Booted()
	b.Stop()
	_, err := dialError(addr)
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	c.Advance(time.Minute)
	b.Start()
	g.Expect(b.Addr()).To(Equal(addr))
	g.Expect(b.Booted()).To(Equal(booted.Add(time.Minute)))
	g.Expect(call(t, addr, 351, map[string]string{"topic": orders}).Code).To(BeZero())
}

func TestRefuseIsNotStop(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	g.Expect(b.Refuse(true)).To(Succeed())
	_, err := dialError(b.Addr())
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	c.Advance(5 * time.Minute)
	g.Expect(c.NameServer(0).Route(orders)).To(HaveKey(brokerA), "it still registers")
	g.Expect(b.Refuse(false)).To(Succeed())
	g.Expect(call(t, b.Addr(), 28, nil).Code).To(BeZero())
}

func TestHungNodeAnswersNobody(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	caller := dial(t, b.Addr())
	b.Hang()
	_, err := caller.send(17, topicArgs(orders, 8, 4), "")
	g.Expect(err).NotTo(HaveOccurred())
	c.Advance(3 * time.Minute)
	g.Expect(c.NameServer(0).Route(orders)).NotTo(HaveKey(brokerA), "silent for two minutes")
	g.Expect(writes(c)).To(Equal(8))
	c.Recorder().RequireNoCalls(t)
	b.Resume()
	reply, err := caller.receive()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reply.Code).To(BeZero())
	g.Expect(writes(c)).To(Equal(4), "what it was asked is done late")
	c.Advance(30 * time.Second)
	g.Expect(c.NameServer(0).Route(orders)).To(HaveKey(brokerA))
}

func TestR03_AnotherBrokerAtTheAddress(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	other := brokertest.Start(t, brokertest.Options{ClusterName: "another", Clock: c.Clock()})
	a := c.Broker(brokerA)
	a.Impersonate(other.Broker(brokerA))
	body := string(call(t, a.Addr(), 26, nil).Body)
	g.Expect(body).To(ContainSubstring("brokerClusterName=another"))
	g.Expect(call(t, a.Addr(), 351, map[string]string{"topic": orders}).Code).To(Equal(17))
	a.Impersonate(nil)
	g.Expect(string(call(t, a.Addr(), 26, nil).Body)).To(ContainSubstring("brokerClusterName=lockstep"))
}

func TestR01_ARestartIsAnotherProcess(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	boot := func() string {
		return regexpFind(g, `"bootTimestamp":"(\d+)"`, call(t, b.Addr(), 28, nil).Body)
	}
	first := boot()
	c.Advance(time.Second)
	g.Expect(boot()).To(Equal(first))
	b.Restart()
	g.Expect(boot()).NotTo(Equal(first))
}

func TestAForeignClustersBrokerIsInTheRoute(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	foreign, err := c.AddForeignBroker("broker-x", "another")
	g.Expect(err).NotTo(HaveOccurred())
	foreign.PutTopic(brokertest.TopicConfig{Name: orders, Read: 2, Write: 2, Perm: 6})
	route := string(call(t, c.NameServerAddrs()[0], 105, map[string]string{"topic": orders}).Body)
	g.Expect(route).To(ContainSubstring(`"cluster":"another"`))
	g.Expect(c.BrokerNames()).To(ContainElement("broker-x"))
}

func TestAMixOfReleases(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{BrokerVersions: map[string]brokertest.Version{brokerB: brokertest.V497}})
	g.Expect(call(t, c.Broker(brokerA).Addr(), 351, map[string]string{"topic": orders}).Code).To(BeZero())
	g.Expect(call(t, c.Broker(brokerB).Addr(), 351, map[string]string{"topic": orders}).Code).To(Equal(3))
}

func TestRestartWithOldState(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	b := c.Broker(brokerA)
	c.Commit("g", orders, brokerA, 7, 3)
	old := b.Save()
	narrow(t, c, brokerA, 4, 4)
	c.Commit("g", orders, brokerA, 7, 9)
	b.RestartWith(old)
	topic, has := b.Topic(orders)
	g.Expect(has).To(BeTrue())
	g.Expect(topic).To(And(HaveField("Read", 8), HaveField("Write", 8)))
	g.Expect(c.NameServer(0).Route(orders)[brokerA]).To(HaveField("Write", 8))
	at, _ := c.Committed("g", orders, brokerA, 7)
	g.Expect(at).To(Equal(int64(3)))
	g.Expect(c.History(orders)).To(ContainElement(HaveField("By", "a restart with old state")))
}

func TestACallDoesNotOutliveTheProcess(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	held := c.Inject(brokertest.Fault{Code: 17, Times: 1, Do: brokertest.Delay()})
	caller := dial(t, c.Broker(brokerA).Addr())
	_, err := caller.send(17, topicArgs(orders, 8, 4), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(held.Await(t.Context())).To(Succeed())
	c.Broker(brokerA).Restart()
	held.Release()
	_, err = caller.receive()
	g.Expect(err).To(HaveOccurred())
	narrow(t, c, brokerA, 8, 2)
	g.Expect(c.History(orders)).To(HaveLen(3), "two creations and one change: the held one died with its process")
}
