// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

func TestTheInvariantIsJudgedAfterEveryChange(t *testing.T) {
	for _, tc := range []struct {
		name        string
		read, write int
		broken      bool
	}{
		{"equal", 4, 4, false}, {"wider reads", 8, 1, false}, {"wider writes", 2, 8, true},
		{"no write", 8, 0, true}, {"below zero", 8, -1, true}, {"nothing", 0, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := start(t, brokertest.Options{})
			c.Watch(orders)
			narrow(t, c, brokerB, tc.read, tc.write)
			narrow(t, c, brokerB, 8, 8) // it is the moment that counts
			f := &failures{}
			c.RequireInvariants(f)
			if tc.broken {
				g.Expect(f.texts).To(HaveLen(1))
				g.Expect(c.Violations()).To(HaveLen(1))
			} else {
				g.Expect(f.texts).To(BeEmpty())
				g.Expect(c.Violations()).To(BeEmpty())
			}
		})
	}
}

func TestOnlyWatchedTopicsAreJudged(t *testing.T) {
	g := NewWithT(t)
	c := start(t, brokertest.Options{})
	narrow(t, c, brokerA, 2, 8)
	c.RequireInvariants(t)
	c.Watch(orders)
	g.Expect(c.Violations()).To(HaveLen(1), "the state at the start of the watch counts")
}

func TestTheHistoryTellsWhoChangedWhat(t *testing.T) {
	g := NewWithT(t)
	c := brokertest.Start(t, brokertest.Options{})
	narrow(t, c, brokerA, 8, 8)
	narrow(t, c, brokerA, 8, 8) // no change on 5.x
	narrow(t, c, brokerA, 8, 4)
	c.Broker(brokerA).PutTopic(brokertest.TopicConfig{Name: orders, Read: 4, Write: 4, Perm: 6})
	c.Broker(brokerA).DropTopic(orders)
	h := c.History(orders)
	g.Expect(h).To(HaveLen(4))
	g.Expect(h[0].Before).To(BeNil())
	g.Expect(h[1].By).To(ContainSubstring("writeQueueNums=4"))
	g.Expect(h[1].String()).To(ContainSubstring("r=8 w=8 perm=6 -> r=8 w=4 perm=6"))
	g.Expect(h[2].By).To(Equal("somebody else"))
	g.Expect(h[3].After).To(BeNil())
}

func TestP11_R17_ABatchWithOneUnchangedEntryDoesNothing(t *testing.T) {
	for _, v := range []brokertest.Version{brokertest.V533, brokertest.V550} {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		entry := func(topic string, n string) string {
			return `{"topicName":"` + topic + `","readQueueNums":` + n + `,"writeQueueNums":` + n + `,"perm":6,"topicFilterType":"SINGLE_TAG","attributes":{}}`
		}
		body := `{"topicConfigList":[` + entry("fresh", "2") + `,` + entry(orders, "8") + `]}`
		g.Expect(call(t, c.Broker(brokerA).Addr(), 18, nil, body).Code).To(BeZero())
		_, has := c.Broker(brokerA).Topic("fresh")
		g.Expect(has).To(BeFalse())
		body = `{"topicConfigList":[` + entry("fresh", "2") + `,` + entry(orders, "4") + `]}`
		before := c.Broker(brokerA).Registrations()
		g.Expect(call(t, c.Broker(brokerA).Addr(), 18, nil, body).Code).To(BeZero())
		g.Expect(c.NameServer(0).Route("fresh")).To(HaveKey(brokerA))
		g.Expect(c.Broker(brokerA).Registrations()).To(Equal(before+1), "one registration for the batch")
	}
}

func TestRegistrationsAreCounted(t *testing.T) {
	for v, more := range map[brokertest.Version]int{brokertest.V497: 1, brokertest.V533: 0, brokertest.V550: 0} {
		g := NewWithT(t)
		c := start(t, brokertest.Options{Version: v})
		b := c.Broker(brokerA)
		registrations, version := b.Registrations(), b.TopicDataVersion()
		narrow(t, c, brokerA, 8, 8)
		g.Expect(b.Registrations()).To(Equal(registrations+more), v.String())
		g.Expect(b.TopicDataVersion()).To(Equal(version + int64(more)))
		narrow(t, c, brokerA, 8, 4)
		g.Expect(b.Registrations()).To(Equal(registrations + more + 1))
	}
}
