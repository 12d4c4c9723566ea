// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestR15_WhatIsSeenPending(t *testing.T) {
	pending := func(r *rig, topic string) snapshot.Pending {
		return must(r.look(topic, LookOptions{Groups: NoGroups}).Brokers["broker-a"].Pending)
	}
	t.Run("delay levels, of all topics", func(t *testing.T) {
		forEachVersion(t, func(t *testing.T, v brokertest.Version) {
			r := start(t, brokertest.Options{Version: v, Brokers: 1})
			r.CreateTopic("TOPIC_A", 4, 4)
			r.CreateTopic("TOPIC_B", 4, 4)
			r.g.Expect(pending(r, "TOPIC_A").Zero()).To(BeTrue())
			r.g.Expect(r.ProduceDelayed("TOPIC_B", "broker-a", 3, 5, 2)).To(Succeed())
			p := pending(r, "TOPIC_A")
			r.g.Expect(p.Zero()).To(BeFalse())
			r.g.Expect(p.Delay[5]).To(Equal(snapshot.Progress{Delivered: 0, Max: 2}))
			r.Advance(time.Minute + time.Second)
			r.g.Expect(pending(r, "TOPIC_A").Zero()).To(BeTrue())
		})
	})
	t.Run("timers, of this topic", func(t *testing.T) {
		r := start(t, brokertest.Options{Brokers: 1})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.CreateTopic("TOPIC_B", 4, 4)
		r.g.Expect(r.ProduceTimer("TOPIC_A", "broker-a", 2, 90*time.Second, 3)).To(Succeed())
		r.g.Expect(pending(r, "TOPIC_A").Timers).To(Equal(int64(3)))
		r.g.Expect(pending(r, "TOPIC_B").Timers).To(BeZero())
		r.Advance(2 * time.Minute)
		r.g.Expect(pending(r, "TOPIC_A").Zero()).To(BeTrue())
	})
	t.Run("a wheel that is behind", func(t *testing.T) {
		r := start(t, brokertest.Options{Brokers: 1})
		r.CreateTopic("TOPIC_A", 4, 4)
		r.Broker("broker-a").HoldTimerIntake(true)
		r.g.Expect(r.ProduceTimer("TOPIC_A", "broker-a", 2, 90*time.Second, 3)).To(Succeed())
		p := pending(r, "TOPIC_A")
		r.g.Expect(p.Timers).To(BeZero(), "the count does not show what the wheel has not read")
		r.g.Expect(p.TimersBehind).To(BeNumerically(">", 0))
		r.g.Expect(p.Zero()).To(BeFalse())
	})
	t.Run("half messages", func(t *testing.T) {
		forEachVersion(t, func(t *testing.T, v brokertest.Version) {
			r := start(t, brokertest.Options{Version: v, Brokers: 1})
			r.CreateTopic("TOPIC_A", 4, 4)
			half, err := r.ProduceHalf("TOPIC_A", "broker-a", 2)
			r.g.Expect(err).NotTo(HaveOccurred())
			r.g.Expect(pending(r, "TOPIC_A").Halves).To(BeNumerically(">", 0))
			r.g.Expect(half.Commit()).To(BeTrue())
			r.Advance(time.Minute)
			r.g.Expect(pending(r, "TOPIC_A").Halves).To(BeZero())
		})
	})
}
