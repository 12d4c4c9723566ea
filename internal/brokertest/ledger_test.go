// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestTheLedgerNamesEveryWayToLose(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, c *brokertest.Cluster)
		lost int
		why  string
	}{
		{"nothing happened", func(*testing.T, *brokertest.Cluster) {}, 0, ""},
		{"all consumed, then cut", func(t *testing.T, c *brokertest.Cluster) {
			c.Consume("g", orders, -1)
			narrow(t, c, brokerA, 4, 4)
		}, 0, ""},
		{"cut in one step", func(t *testing.T, c *brokertest.Cluster) { narrow(t, c, brokerA, 4, 4) }, 3, "not readable"},
		{"reads below writes", func(t *testing.T, c *brokertest.Cluster) { narrow(t, c, brokerA, 2, 8) }, 3, "not readable"},
		{"offset skipped ahead", func(_ *testing.T, c *brokertest.Cluster) { c.Commit("g", orders, brokerA, 7, 2) }, 2, "behind it"},
		{"offset beyond the end", func(_ *testing.T, c *brokertest.Cluster) { c.Commit("g", orders, brokerA, 7, 99) }, 3, "behind it"},
		{"no entry, queue start not in memory", func(_ *testing.T, c *brokertest.Cluster) { c.Broker(brokerA).EvictPageCache() }, 3, "behind it"},
		{"no read permission", func(_ *testing.T, c *brokertest.Cluster) {
			c.Broker(brokerA).PutTopic(brokertest.TopicConfig{Name: orders, Read: 8, Write: 8, Perm: 2})
		}, 3, "not readable"},
		{"topic deleted", func(_ *testing.T, c *brokertest.Cluster) { c.Broker(brokerA).DropTopic(orders) }, 3, "gone"},
		{"topic deleted and made again", func(_ *testing.T, c *brokertest.Cluster) {
			c.Broker(brokerA).DropTopic(orders)
			c.CreateTopic(orders, 8, 8)
		}, 3, "deleted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{})
			g.Expect(c.Produce(orders, brokerA, 7, 3)).To(Succeed())
			tc.do(t, c)
			lost := c.Lost(orders, "g")
			g.Expect(lost).To(HaveLen(tc.lost))
			for _, l := range lost {
				g.Expect(l.Why).To(ContainSubstring(tc.why))
			}
			f := &failures{}
			c.RequireNothingLost(f, orders, "g")
			if tc.lost > 0 {
				g.Expect(f.texts).To(HaveLen(1))
			} else {
				g.Expect(f.texts).To(BeEmpty())
			}
		})
	}
}

func TestWhatAFilterPassesOverIsNotLost(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	c.Join(brokertest.MemberSpec{Group: "g", Subscriptions: map[string]string{orders: "PAID || SENT"}})
	g.Expect(c.ProduceTagged(orders, brokerA, 0, 2, "PAID")).To(Succeed())
	g.Expect(c.ProduceTagged(orders, brokerA, 0, 3, "REFUND")).To(Succeed())
	g.Expect(c.Consume("g", orders, -1)).To(HaveLen(2))
	c.RequireNothingLost(t, orders, "g")
	f := &failures{}
	c.RequireAllDelivered(f, orders, "g")
	g.Expect(f.texts).NotTo(BeEmpty())
}

func TestQ04_AGroupWithoutEntryStartsAtTheEnd(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 0, 5)).To(Succeed())
	g.Expect(c.Consume("young", orders, -1)).To(HaveLen(5), "Q07: a young topic is read from its start")
	c.Broker(brokerA).EvictPageCache()
	g.Expect(c.Consume("late", orders, -1)).To(BeEmpty())
	c.Join(brokertest.MemberSpec{Group: "first", From: "CONSUME_FROM_FIRST_OFFSET", Subscriptions: map[string]string{orders: "*"}})
	g.Expect(c.Consume("first", orders, -1)).To(HaveLen(5))
	g.Expect(c.Lost(orders, "young", "late", "first")).To(HaveLen(5))
}

func TestADisabledGroupReadsNothing(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	g.Expect(c.Produce(orders, brokerA, 0, 5)).To(Succeed())
	cfg := brokertest.DefaultGroup("g")
	cfg.ConsumeEnable = false
	c.Broker(brokerA).PutGroup(cfg)
	g.Expect(c.Consume("g", orders, -1)).To(BeEmpty())
	_, has := c.Committed("g", orders, brokerA, 0)
	g.Expect(has).To(BeFalse())
}

// A shrink in the right order loses nothing whatever traffic does; the same
// traffic with a cut before the drain loses exactly what was left.
func TestPropertyOfTheLedgerUnderAShrink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewGomega(func(message string, _ ...int) { t.Fatalf("%s", message) })
		v := rapid.SampledFrom(brokertest.Versions()).Draw(t, "version")
		c := brokertest.Start(t, brokertest.Options{Version: v, Brokers: 1})
		c.CreateTopic(orders, 8, 8)
		groups := []string{"g1", "g2"}
		traffic := func() {
			for range rapid.IntRange(0, 4).Draw(t, "sends") {
				g.Expect(c.ProduceBy(0, orders, rapid.IntRange(1, 9).Draw(t, "n"))).To(Succeed())
			}
			for _, group := range groups {
				c.Consume(group, orders, rapid.IntRange(0, 12).Draw(t, "take"))
			}
		}
		put := func(read, write int) {
			c.Broker(brokerA).PutTopic(brokertest.TopicConfig{Name: orders, Read: read, Write: write, Perm: 6})
		}
		traffic()
		put(8, 3)
		traffic()
		drained := rapid.Bool().Draw(t, "drained")
		left := 0
		for _, group := range groups {
			for q := 3; q < 8; q++ {
				if drained {
					c.ConsumeQueue(group, orders, brokerA, q, -1)
				}
				at, _ := c.Committed(group, orders, brokerA, q)
				left += int(c.Broker(brokerA).MaxOffset(orders, q) - at)
			}
		}
		put(3, 3)
		traffic()
		g.Expect(c.Lost(orders, groups...)).To(HaveLen(left))
		if drained {
			g.Expect(left).To(BeZero())
		}
		put(8, 3)
		for _, group := range groups {
			c.Consume(group, orders, -1)
			c.RequireAllDelivered(t, orders, group)
		}
		for _, m := range c.Messages(orders) {
			for _, group := range groups {
				g.Expect(c.Deliveries(m, group)).To(Equal(1), fmt.Sprintf("%s to %s", m, group))
			}
		}
		c.Stop()
	})
}
