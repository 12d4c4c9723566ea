// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const group = "CG_A"

func seeds(look snapshot.TopicLook, all ...resize.Seed) Order {
	return Order{Topic: topic, Look: look, Step: resize.Step{Kind: resize.StepSetOffsets, Seeds: all}}
}

func on(broker string, queue int, offset int64) resize.Seed {
	return resize.Seed{Group: group, Broker: broker, Queue: queue, Offset: offset}
}

// committed is the group's offset; -1 if it has none.
func (r *rig) committed(broker string, queue int) int64 {
	if at, has := r.Committed(group, topic, broker, queue); has {
		return at
	}
	return -1
}

func TestR12_SeedsAreSetAndReadBack(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.CreateTopic(topic, 8, 4)
		r.CreateGroup(group)
		look := r.look()
		r.Recorder().Reset()
		out := r.do(seeds(look, on("broker-a", 4, 0), on("broker-a", 5, 7), on("broker-b", 6, 0), on("broker-b", 9, 3)))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.g.Expect(out.Sent()).To(BeTrue())
		r.g.Expect(r.committed("broker-a", 4)).To(Equal(int64(0)))
		r.g.Expect(r.committed("broker-a", 5)).To(Equal(int64(7)))
		r.g.Expect(r.committed("broker-b", 6)).To(Equal(int64(0)))
		r.g.Expect(r.committed("broker-b", 9)).To(Equal(int64(3)), "retired queues have entries too")
		r.Recorder().RequireChangingCalls(t, 4)

		// Again nothing is due.
		r.Recorder().Reset()
		out = r.do(seeds(look, on("broker-a", 4, 0), on("broker-a", 5, 7)))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.g.Expect(out.Sent()).To(BeFalse())
		r.Recorder().RequireNoChangingCalls(t)
	})
}

// A group that got an entry of its own since the look needs no seed, and one
// whose entry moved is left alone.
func TestR35_EntriesThatMovedAreLeftAlone(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 8, 4)
	r.CreateGroup(group)
	r.Commit(group, topic, "broker-a", 1, 10)
	look := r.look()
	r.Commit(group, topic, "broker-a", 0, 5)
	r.Commit(group, topic, "broker-a", 1, 11)
	r.Recorder().Reset()
	out := r.do(seeds(look, on("broker-a", 0, 0), on("broker-a", 1, 0)))
	r.g.Expect(out.Seeds).To(HaveLen(1))
	r.g.Expect(out.Seeds[0].Seed.Queue).To(Equal(1))
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("its entry has moved from 10 to 11")))
	r.g.Expect(r.committed("broker-a", 0)).To(Equal(int64(5)))
	r.g.Expect(r.committed("broker-a", 1)).To(Equal(int64(11)))
	r.Recorder().RequireNoChangingCalls(t)
}

// An acknowledged offset is set over an entry that stands where it stood.
func TestR06_AnAcknowledgedOffsetIsSetWhileNobodyIsConnected(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Proxies: 1}, 4, 4)
	r.CreateGroup(group)
	r.Commit(group, topic, "broker-a", 0, 900)
	o := seeds(r.look(), on("broker-a", 0, 12))
	o.Step.Vacant = []string{group}

	member := r.JoinGRPC(brokertest.GRPCSpec{Group: group, Subscriptions: map[string]string{topic: "*"}})
	out := r.do(o)
	var occupied *OccupiedError
	r.g.Expect(errors.As(out.Err(), &occupied)).To(BeTrue(), "%v", out.Err())
	r.g.Expect(occupied.Why).To(ContainSubstring(member.ClientID()))
	r.g.Expect(r.committed("broker-a", 0)).To(Equal(int64(900)))
	member.Leave()

	unknown := r.Inject(brokertest.Fault{Node: "broker-b", Code: 203, Do: brokertest.Answer(1, "broken")})
	r.g.Expect(errors.As(r.do(o).Err(), &occupied)).To(BeTrue())
	r.g.Expect(occupied.Why).To(ContainSubstring("is not known"))
	unknown.Remove()

	r.g.Expect(r.do(o).Err()).NotTo(HaveOccurred())
	r.g.Expect(r.committed("broker-a", 0)).To(Equal(int64(12)))
}

func TestR14_AMissingGroupIsCopiedFromAnotherMaster(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, _ := withTopic(t, brokertest.Options{Version: v}, 4, 4)
		g := brokertest.DefaultGroup(group)
		g.RetryMaxTimes = 3
		r.Broker("broker-a").PutGroup(g)
		out := r.do(seeds(r.look(), on("broker-b", 0, 0), on("broker-b", 1, 0)))
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		copied, there := r.Broker("broker-b").Group(group)
		r.g.Expect(there).To(BeTrue())
		r.g.Expect(copied.RetryMaxTimes).To(Equal(3))
		r.g.Expect(r.committed("broker-b", 1)).To(Equal(int64(0)))
		r.Recorder().RequireChangingCalls(t, 3)
	})
}

func TestR14_AGroupThatNobodyKnowsIsNotMadeUp(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	out := r.do(seeds(look, on("broker-b", 0, 0), on("broker-b", 1, 0)))
	r.g.Expect(out.Seeds).To(HaveLen(2))
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("no other broker of the cluster knows it either")))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestSeed_AMemberThatOwnsTheQueueWins(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	r.CreateGroup(group)
	o := seeds(r.look(), on("broker-a", 0, 0))
	// A member commits between the seed and its read-back.
	held := r.Inject(brokertest.Fault{Code: 15, Times: 1, Do: brokertest.DelayReply()})
	done := make(chan Outcome, 1)
	go func() {
		out, _ := r.Do(awaited(t), o)
		done <- out
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.Commit(group, topic, "broker-a", 0, 42)
	held.Release()
	var out Outcome
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&out))
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("is 42 now; a member has put its own over it")))
}

func TestSeed_TheReadBackDecides(t *testing.T) {
	for name, fault := range broken() {
		t.Run(name, func(t *testing.T) {
			r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
			r.CreateGroup(group)
			r.writeTimeout = 200 * time.Millisecond
			o := seeds(r.look(), on("broker-a", 0, 3))
			r.Inject(brokertest.Fault{Code: 15, Do: fault.do})
			out := r.do(o)
			if fault.applied {
				r.g.Expect(out.Err()).NotTo(HaveOccurred())
				return
			}
			var failed *SeedError
			r.g.Expect(errors.As(out.Err(), &failed)).To(BeTrue())
			r.g.Expect(failed.Seed).To(Equal(on("broker-a", 0, 3)))
			r.g.Expect(r.committed("broker-a", 0)).To(Equal(int64(-1)))
		})
	}
}

func TestSeed_APendingResetSwallowsIt(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	r.CreateGroup(group)
	r.g.Expect(r.Produce(topic, "broker-a", 0, 5)).To(Succeed())
	client := rocketmq.New(r.o.Wire())
	r.g.Expect(client.ResetOffset(t.Context(), r.master("broker-a"), topic, group, 0, 2)).To(Succeed())
	out := r.do(seeds(r.look(), on("broker-a", 0, 4)))
	r.g.Expect(errors.Is(out.Err(), rocketmq.ErrResetPending)).To(BeTrue(), "%v", out.Err())
}

func TestSeed_WhatIsNotKnownIsNotSent(t *testing.T) {
	for name, code := range map[string]int{"offsets": 43, "groups": 201, "identity": 26} {
		t.Run(name, func(t *testing.T) {
			r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
			r.CreateGroup(group)
			o := seeds(r.look(), on("broker-a", 0, 0), on("broker-a", 1, 0))
			r.Inject(brokertest.Fault{Node: "broker-a", Code: code, Do: brokertest.NoBody()})
			out := r.do(o)
			r.g.Expect(out.Seeds).To(HaveLen(2))
			r.Recorder().RequireNoChangingCalls(t)
		})
	}
	t.Run("the look's own offsets", func(t *testing.T) {
		r, look := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
		b := look.Brokers["broker-a"]
		b.Committed = snapshot.Unknown[map[string]map[int]int64]("no answer")
		look.Brokers["broker-a"] = b
		r.g.Expect(r.do(seeds(look, on("broker-a", 0, 0))).Err()).To(HaveOccurred())
		r.Recorder().RequireNoChangingCalls(t)
	})
}

func TestR03_ASeedGoesToTheProcessThatWasLookedAt(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	r.CreateGroup(group)
	o := seeds(r.look(), on("broker-a", 0, 0))
	r.clock.Step(time.Second)
	r.Broker("broker-a").Restart()
	var process *ProcessError
	err := r.do(o).Err()
	r.g.Expect(errors.As(err, &process)).To(BeTrue(), "%v", err)
	r.Recorder().RequireNoChangingCalls(t)
}

func TestR02_ASeedIsNotSentTooLate(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	r.CreateGroup(group)
	o := seeds(r.look(), on("broker-a", 0, 0))
	o.Step.NotAfter = r.clock.Now().Add(time.Second)
	held := r.Inject(brokertest.Fault{Code: 201, Times: 1, Do: brokertest.Delay()})
	done := make(chan Outcome, 1)
	go func() {
		out, _ := r.Do(awaited(t), o)
		done <- out
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.clock.Step(time.Minute)
	held.Release()
	var out Outcome
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&out))
	var late *TooLateError
	r.g.Expect(errors.As(out.Err(), &late)).To(BeTrue())
	r.Recorder().RequireNoChangingCalls(t)
}
