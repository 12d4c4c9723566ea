// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// retryStep asks for the count on both brokers.
func retryStep(look snapshot.TopicLook, expect, want int) Order {
	s := resize.Step{Kind: resize.StepSetRetryQueues}
	for _, broker := range []string{"broker-a", "broker-b"} {
		s.Retry = append(s.Retry, resize.RetryChange{Broker: broker, Group: group, Expect: expect, Want: want,
			Process: look.Brokers[broker].Config.Origin().From})
	}
	return Order{Topic: topic, Look: look, Step: s}
}

func (r *rig) retryQueues(broker string) int {
	addr, _ := r.look().Brokers[broker].Master.Get()
	table, err := r.client.AllGroups(r.t.Context(), addr)
	r.g.Expect(err).NotTo(HaveOccurred())
	return table.Groups[group].RetryQueues
}

func TestQ17_TheCountIsWrittenAndReadBack(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.CreateTopic(topic, 4, 4)
		r.CreateGroup(group)
		look := r.look()
		out := r.do(retryStep(look, 1, 3))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.g.Expect(out.Sent()).To(BeTrue())
		for _, broker := range []string{"broker-a", "broker-b"} {
			r.g.Expect(r.retryQueues(broker)).To(Equal(3))
		}
		r.Recorder().Reset()
		out = r.do(retryStep(look, 1, 3))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.Recorder().RequireNoChangingCalls(t)

		out = r.do(retryStep(look, 5, 4))
		var foreign *RetryCountError
		r.g.Expect(errors.As(out.Err(), &foreign)).To(BeTrue(), "R18: %v", out.Err())
		r.g.Expect(foreign.Found).To(Equal(3))
		r.Recorder().RequireNoChangingCalls(t)
	})
}

func TestQ17_ARetryTopicIsResizedAndNeverMade(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("%RETRY%"+group, 1, 1)
	look, err := r.o.TopicLook(t.Context(), "%RETRY%"+group, observe.LookOptions{Groups: observe.NoGroups})
	r.g.Expect(err).NotTo(HaveOccurred())
	o := order(resize.StepWidenReads, look, counts(3, 1))
	o.Topic = "%RETRY%" + group
	out := r.do(o)
	r.g.Expect(out.Err()).NotTo(HaveOccurred())
	o.Topic = "%RETRY%CG_OTHER"
	out = r.do(o)
	r.g.Expect(out.Err()).To(HaveOccurred())
	var refused *rocketmq.NotSentError
	o = order(resize.StepWidenReads, look, counts(3, 1))
	o.Topic = "%RETRY%TOOLS_CONSUMER"
	r.g.Expect(errors.As(r.do(o).Err(), &refused)).To(BeTrue(), "a built-in group's is not ours")
}
