// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestSlavesCopyTheirMasterNowAndThen(t *testing.T) {
	for v, period := range map[brokertest.Version]time.Duration{
		brokertest.V497: 10 * time.Second, brokertest.V533: time.Minute, brokertest.V550: time.Minute,
	} {
		t.Run(v.String(), func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{Version: v, Slaves: 1})
			slave := c.Replica(brokerA, 1)
			c.Advance(period)
			narrow(t, c, brokerA, 8, 4)
			topic, _ := slave.Topic(orders)
			g.Expect(topic.Write).To(Equal(8))
			c.Advance(period)
			topic, _ = slave.Topic(orders)
			g.Expect(topic.Write).To(Equal(4))
		})
	}
}

func TestAChangeOfASlaveIsUndone(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Slaves: 1})
	slave := c.Replica(brokerA, 1)
	g.Expect(call(t, slave.Addr(), 17, topicArgs(orders, 2, 2)).Code).To(BeZero())
	topic, _ := slave.Topic(orders)
	g.Expect(topic.Read).To(Equal(2))
	g.Expect(c.NameServer(0).Route(orders)[brokerA].Read).To(Equal(8))
	g.Expect(c.History(orders)).To(HaveLen(2), "only masters have a history: one creation each")
	c.Advance(time.Minute)
	topic, _ = slave.Topic(orders)
	g.Expect(topic.Read).To(Equal(8))
}

func TestMessagesStayReadableOnTheSlave(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{Slaves: 1})
	c.Advance(time.Minute)
	g.Expect(c.Produce(orders, brokerA, 3, 2)).To(Succeed())
	c.Broker(brokerA).Stop()
	g.Expect(maxOffset(t, c.Replica(brokerA, 1), 3)).To(Equal("2"))
	g.Expect(c.Produce(orders, brokerA, 3, 1)).To(MatchError(brokertest.ErrDown))
}

func TestO23_ASlaveOf533LosesTopicsByAttributes(t *testing.T) {
	for v, kept := range map[brokertest.Version]bool{brokertest.V533: false, brokertest.V550: true} {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v, Slaves: 1})
		slave := c.Replica(brokerA, 1)
		c.Advance(time.Minute)
		_, has := slave.Topic(orders)
		g.Expect(has).To(BeTrue())
		c.Broker(brokerA).PutTopic(brokertest.TopicConfig{
			Name: orders, Read: 8, Write: 8, Perm: 6, Attributes: map[string]string{"message.type": "FIFO"},
		})
		c.Advance(time.Minute)
		_, has = slave.Topic(orders)
		g.Expect(has).To(Equal(kept), v.String())
	}
}
