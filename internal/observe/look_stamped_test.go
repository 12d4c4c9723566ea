// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR15_R42_WhatWaitsIsAttributedToTopicAndQueue(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v, Brokers: 1})
		r.CreateTopic("TOPIC_A", 8, 4)
		r.CreateTopic("TOPIC_B", 8, 8)
		pending := func(opts LookOptions) snapshot.Pending {
			return must(r.look("TOPIC_A", opts).Brokers["broker-a"].Pending)
		}
		r.g.Expect(r.ProduceDelayed("TOPIC_B", "broker-a", 6, 5, 70)).To(Succeed())
		p := pending(LookOptions{})
		r.g.Expect(p.Delay[5].Max).To(Equal(int64(70)))
		r.g.Expect(p.Own[5]).To(BeEmpty())
		r.g.Expect(p.Own).To(HaveKey(5), "read in full, and none is this topic's")
		r.g.Expect(p.Zero()).To(BeTrue(), "what other topics wait for is no reason to wait")

		r.g.Expect(r.ProduceDelayed("TOPIC_A", "broker-a", 2, 5, 3)).To(Succeed())
		r.g.Expect(r.ProduceDelayed("TOPIC_A", "broker-a", 6, 5, 1)).To(Succeed())
		p = pending(LookOptions{})
		r.g.Expect(p.Own[5]).To(Equal(map[int]int64{2: 3, 6: 1}))
		r.g.Expect(p.Left(5, 4)).To(Equal(int64(1)), "stamped with a queue that retires")
		r.g.Expect(p.Left(5, 0)).To(Equal(int64(4)))

		_, err := r.ProduceHalf("TOPIC_B", "broker-a", 7)
		r.g.Expect(err).NotTo(HaveOccurred())
		p = pending(LookOptions{})
		r.g.Expect(p.Halves).To(BeNumerically(">", 0))
		r.g.Expect(p.LeftHalves(0)).To(BeZero())
		_, err = r.ProduceHalf("TOPIC_A", "broker-a", 5)
		r.g.Expect(err).NotTo(HaveOccurred())
		r.g.Expect(pending(LookOptions{}).OwnHalves).To(Equal(map[int]int64{5: 1}))

		p = pending(LookOptions{Groups: NoGroups})
		r.g.Expect(p.Own).To(BeNil(), "only a proof reads them")
		r.g.Expect(p.Left(5, 4)).To(Equal(int64(74)), "what is not attributed may be any queue's")
		r.Recorder().RequireNoForbiddenCalls(t)
	})
}

func TestR42_MoreThanTheBoundIsNotAttributed(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	r.g.Expect(r.ProduceDelayed("TOPIC_B", "broker-a", 3, 5, maxStamped+1)).To(Succeed())
	r.g.Expect(r.ProduceDelayed("TOPIC_B", "broker-a", 3, 6, 2)).To(Succeed())
	p := must(r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"].Pending)
	r.g.Expect(p.Own).NotTo(HaveKey(5))
	r.g.Expect(p.Left(5, 3)).To(Equal(int64(maxStamped + 1)))
	r.g.Expect(p.Own).To(HaveKey(6), "one level that is too long takes nothing from the others")
}

func TestR42_WhatCannotBeReadIsNotAttributed(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.g.Expect(r.ProduceDelayed("TOPIC_A", "broker-a", 3, 5, 40)).To(Succeed())
	const pullMessage = 11
	r.Inject(brokertest.Fault{Node: "broker-a", Code: pullMessage, Do: brokertest.Answer(2, "busy")})
	p := must(r.look("TOPIC_A", LookOptions{}).Brokers["broker-a"].Pending)
	r.g.Expect(p.Own).NotTo(HaveKey(5))
	r.g.Expect(p.Left(5, 0)).To(Equal(int64(40)))
}
