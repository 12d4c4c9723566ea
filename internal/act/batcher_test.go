// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// batching is a rig with a batcher and what it reported.
type batching struct {
	*rig
	b *Batcher

	mu   sync.Mutex
	done map[string]Created // by broker/topic
	n    int
}

func startBatcher(t *testing.T, o brokertest.Options) *batching {
	t.Helper()
	r := &batching{rig: start(t, o), done: map[string]Created{}}
	r.b = NewBatcher(r.Actor, r.clock)
	t.Cleanup(r.b.Close)
	return r
}

func newTopic(name string) snapshot.TopicConfig {
	return snapshot.TopicConfig{Name: name, ReadQueues: 8, WriteQueues: 8, Perm: 6, FilterType: rocketmq.SingleTag,
		Attributes: map[string]string{"message.type": "FIFO"}}
}

func numbered(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("TOPIC_%04d", i))
	}
	return names
}

func (r *batching) ask(broker string, config snapshot.TopicConfig) error {
	return r.b.Create(Creation{Master: r.master(broker), Config: config, Done: func(c Created) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done[c.Broker+"/"+c.Topic] = c
		r.n++
	}})
}

func (r *batching) askAll(broker string, names ...string) {
	r.t.Helper()
	for _, n := range names {
		r.g.Expect(r.ask(broker, newTopic(n))).To(Succeed())
	}
}

func (r *batching) results() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

func (r *batching) result(broker, name string) Created {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[broker+"/"+name]
}

// flushed lets the window pass until n results are there.
func (r *batching) flushed(n int) {
	r.t.Helper()
	r.g.Eventually(func() int {
		if r.clock.HasWaiters() {
			r.clock.Step(BatchWindow)
		}
		return r.results()
	}).WithTimeout(within).Should(Equal(n))
}

// batches are the numbers of topics in each call 18.
func (r *batching) batches() []int {
	var sizes []int
	for _, c := range r.Recorder().Calls(brokertest.WithCode(18)) {
		var body struct {
			List []json.RawMessage `json:"topicConfigList"`
		}
		r.g.Expect(json.Unmarshal([]byte(c.Body), &body)).To(Succeed())
		sizes = append(sizes, len(body.List))
	}
	return sizes
}

func TestK41_CreationsOfAWindowGoInOneRequest(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := startBatcher(t, brokertest.Options{Version: v})
		names := numbered(40)
		r.askAll("broker-a", names...)
		r.askAll("broker-b", names...)
		r.Recorder().RequireNoCalls(t)
		r.flushed(80)
		for _, b := range r.BrokerNames() {
			for _, n := range names {
				config, there := r.Broker(b).Topic(n)
				r.g.Expect(there).To(BeTrue())
				r.g.Expect([]int{config.Read, config.Write, config.Perm}).To(Equal([]int{8, 8, 6}))
				c := r.result(b, n)
				r.g.Expect(c.Err).NotTo(HaveOccurred())
				r.g.Expect(c.Existed).To(BeFalse())
				r.g.Expect(c.Sent).To(BeTrue())
				stored, known := c.Shown.Get()
				r.g.Expect(known && stored.Present).To(BeTrue())
			}
		}
		if v == brokertest.V497 {
			r.Recorder().RequireChangingCalls(t, 80)
		} else {
			r.g.Expect(r.batches()).To(Equal([]int{40, 40}))
			r.Recorder().RequireChangingCalls(t, 2)
			r.g.Expect(r.Recorder().Count(brokertest.WithCode(351))).To(BeZero(), "many are read back at once")
		}
	})
}

func TestK41_AFullBatchDoesNotWait(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	names := numbered(BatchSize + 3)
	r.askAll("broker-a", names[:BatchSize]...)
	r.g.Eventually(r.results).WithTimeout(within).Should(Equal(BatchSize))
	r.askAll("broker-a", names[BatchSize:]...)
	r.g.Consistently(r.results, "50ms").Should(Equal(BatchSize), "the rest waits for its window")
	r.flushed(BatchSize + 3)
	r.g.Expect(r.batches()).To(Equal([]int{BatchSize, 3}))
}

func TestK41_TheLastOfANameWins(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	config := newTopic(topic)
	for _, n := range []int{1, 2, 5} {
		config.ReadQueues, config.WriteQueues = n, n
		r.g.Expect(r.ask("broker-a", config)).To(Succeed())
	}
	config.Attributes["message.type"] = "NORMAL" // the batcher has its own copy
	r.flushed(1)
	r.g.Expect(r.has("broker-a")).To(Equal([3]int{5, 5, 6}))
	is, _ := r.Broker("broker-a").Topic(topic)
	r.g.Expect(is.Attributes).To(HaveKeyWithValue("message.type", "FIFO"))
	r.g.Expect(r.results()).To(Equal(1))
}

// One batch at a time is under way for a broker; another broker does not wait.
func TestK41_OneBatchAtATimePerBroker(t *testing.T) {
	r := startBatcher(t, brokertest.Options{})
	held := r.Inject(brokertest.Fault{Node: "broker-a", Code: 18, Times: 1, Do: brokertest.Delay()})
	r.askAll("broker-a", "TOPIC_1")
	r.g.Eventually(func() int {
		if r.clock.HasWaiters() {
			r.clock.Step(BatchWindow)
		}
		return held.Hits()
	}).WithTimeout(within).Should(Equal(1))
	r.askAll("broker-a", "TOPIC_2")
	r.askAll("broker-b", "TOPIC_1")
	r.flushed(1) // that of broker-b
	r.g.Expect(r.result("broker-b", "TOPIC_1").Err).NotTo(HaveOccurred())
	held.Release()
	r.flushed(3)
	r.g.Expect(r.batches()).To(Equal([]int{1, 1, 1}))
}

// Only first creation goes in a batch: what exists is left as it is, also when
// it appears between the read and the write, and takes nothing from the rest.
func TestR17_WhatExistsIsNeverWrittenByABatch(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := startBatcher(t, brokertest.Options{Version: v, Brokers: 1})
		names := numbered(10)
		r.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: names[3], Read: 64, Write: 64, Perm: 6})
		r.askAll("broker-a", names...)
		r.flushed(10)
		is, _ := r.Broker("broker-a").Topic(names[3])
		r.g.Expect(is.Read).To(Equal(64))
		c := r.result("broker-a", names[3])
		r.g.Expect(c.Existed).To(BeTrue())
		r.g.Expect(c.Err).NotTo(HaveOccurred())
		stored, _ := c.Shown.Get()
		r.g.Expect(stored.Config.ReadQueues).To(Equal(64))
		_, there := r.Broker("broker-a").Topic(names[9])
		r.g.Expect(there).To(BeTrue())
	})
}

func TestP11_AnUnchangedMemberDoesNotHideTheRest(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	names := numbered(8)
	// Between the read and the batch somebody creates the first topic, exactly
	// as wanted, without attributes that would make it differ: the broker then
	// says success and does nothing.
	same := newTopic(names[0])
	same.Attributes = nil
	held := r.Inject(brokertest.Fault{Code: 18, Times: 1, Do: brokertest.Delay()})
	r.g.Expect(r.ask("broker-a", same)).To(Succeed())
	r.askAll("broker-a", names[1:]...)
	r.g.Eventually(func() int {
		if r.clock.HasWaiters() {
			r.clock.Step(BatchWindow)
		}
		return held.Hits()
	}).WithTimeout(within).Should(Equal(1))
	r.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: names[0], Read: 8, Write: 8, Perm: 6})
	held.Release()
	r.flushed(8)
	for _, n := range names {
		r.g.Expect(r.result("broker-a", n).Err).NotTo(HaveOccurred())
		_, there := r.Broker("broker-a").Topic(n)
		r.g.Expect(there).To(BeTrue(), n)
	}
	r.g.Expect(len(r.batches())).To(BeNumerically(">", 1))
}

// A batch that the broker refuses is halved until the one it refuses is alone.
func TestK41_ARefusedBatchIsHalvedDownToTheCulprit(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := startBatcher(t, brokertest.Options{Version: v, Brokers: 1})
		names := numbered(16)
		culprit := names[11]
		r.Inject(brokertest.Fault{Node: "broker-a", Do: brokertest.Answer(1, "no"), Match: func(c brokertest.Call) bool {
			return c.Code == 18 && strings.Contains(c.Body, culprit) || c.Code == 17 && c.Args["topic"] == culprit
		}})
		r.askAll("broker-a", names...)
		r.flushed(16)
		for _, n := range names {
			_, there := r.Broker("broker-a").Topic(n)
			c := r.result("broker-a", n)
			if n == culprit {
				r.g.Expect(there).To(BeFalse())
				var lost *NotStoredError
				r.g.Expect(errors.As(c.Err, &lost)).To(BeTrue(), "%v", c.Err)
				r.g.Expect(c.Err).To(MatchError(remoting.Refused))
				continue
			}
			r.g.Expect(there).To(BeTrue(), n)
			r.g.Expect(c.Err).NotTo(HaveOccurred(), n)
		}
		if v != brokertest.V497 {
			r.g.Expect(r.batches()).To(Equal([]int{16, 8, 8, 4, 2, 2, 1, 1, 4}))
		}
	})
}

// A topic that the client refuses to send harms no other either.
func TestK41_AnInvalidMemberHarmsNoOther(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	names := numbered(6)
	for i, n := range names {
		config := newTopic(n)
		if i == 2 {
			config.WriteQueues = 9
		}
		r.g.Expect(r.ask("broker-a", config)).To(Succeed())
	}
	r.flushed(6)
	for i, n := range names {
		err := r.result("broker-a", n).Err
		if i == 2 {
			var not *rocketmq.NotSentError
			r.g.Expect(errors.As(err, &not)).To(BeTrue(), "%v", err)
			r.g.Expect(r.result("broker-a", n).Sent).To(BeFalse())
		} else {
			r.g.Expect(err).NotTo(HaveOccurred())
		}
	}
}

func TestK41_TheReadBackDecides(t *testing.T) {
	for name, fault := range broken() {
		t.Run(name, func(t *testing.T) {
			r := startBatcher(t, brokertest.Options{Brokers: 1})
			r.writeTimeout = 200 * time.Millisecond
			r.Inject(brokertest.Fault{Code: 18, Do: fault.do})
			r.askAll("broker-a", "TOPIC_1", "TOPIC_2")
			r.flushed(2)
			for _, n := range []string{"TOPIC_1", "TOPIC_2"} {
				if fault.applied {
					r.g.Expect(r.result("broker-a", n).Err).NotTo(HaveOccurred())
				} else {
					r.g.Expect(r.result("broker-a", n).Err).To(HaveOccurred())
				}
			}
		})
	}
}

// Wrong credentials are met once and not once per topic.
func TestO30_AHopelessFailureIsNotTriedAgain(t *testing.T) {
	for name, effect := range map[string]brokertest.Effect{
		"denied": brokertest.Answer(16, "check signature failed."),
		"busy":   brokertest.Answer(2, "[TIMEOUT_CLEAN_QUEUE]"),
		"closed": brokertest.HangUp(),
	} {
		t.Run(name, func(t *testing.T) {
			r := startBatcher(t, brokertest.Options{Brokers: 1})
			r.Inject(brokertest.Fault{Code: 18, Do: effect})
			names := numbered(32)
			r.askAll("broker-a", names...)
			r.flushed(32)
			r.g.Expect(r.batches()).To(HaveLen(1))
			for _, n := range names {
				r.g.Expect(r.result("broker-a", n).Err).To(HaveOccurred())
			}
		})
	}
}

func TestK41_OnlyTheTopicThatDiffersIsNotStored(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	held := r.Inject(brokertest.Fault{Code: 18, Times: 1, Do: brokertest.DelayReply()})
	r.askAll("broker-a", numbered(6)...)
	r.g.Eventually(func() int {
		if r.clock.HasWaiters() {
			r.clock.Step(BatchWindow)
		}
		return held.Hits()
	}).WithTimeout(within).Should(Equal(1))
	r.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: "TOPIC_0004", Read: 2, Write: 2, Perm: 6})
	held.Release()
	r.flushed(6)
	var lost *NotStoredError
	r.g.Expect(errors.As(r.result("broker-a", "TOPIC_0004").Err, &lost)).To(BeTrue())
	r.g.Expect(lost.Found).To(Equal("read 2, write 2, permission 6"))
	r.g.Expect(r.result("broker-a", "TOPIC_0003").Err).NotTo(HaveOccurred())
	r.g.Expect(r.batches()).To(HaveLen(1), "it is somebody else's now")
}

func TestK41_WhatCannotBeReadBackIsUnconfirmed(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 1})
	r.Inject(brokertest.Fault{Code: 21, Skip: 1, Do: brokertest.HalfBody()})
	r.askAll("broker-a", numbered(8)...)
	r.flushed(8)
	var unconfirmed *UnconfirmedError
	r.g.Expect(errors.As(r.result("broker-a", "TOPIC_0000").Err, &unconfirmed)).To(BeTrue())
	r.g.Expect(r.result("broker-a", "TOPIC_0000").Sent).To(BeTrue())
	r.g.Expect(r.batches()).To(HaveLen(1))
}

func TestO25_ABatchWaitsForNameServers(t *testing.T) {
	r := startBatcher(t, brokertest.Options{})
	r.g.Expect(r.NameServer(0).Restart()).To(Succeed())
	r.askAll("broker-a", "TOPIC_1")
	r.flushed(1)
	r.g.Expect(r.result("broker-a", "TOPIC_1").Err).To(BeAssignableToTypeOf(&observe.IncompleteError{}))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestR03_ABatchProvesThePeer(t *testing.T) {
	r := startBatcher(t, brokertest.Options{Brokers: 3})
	r.Broker("broker-a").Impersonate(r.Broker("broker-c"))
	r.askAll("broker-a", "TOPIC_1", "TOPIC_2")
	r.flushed(2)
	var identity *rocketmq.IdentityError
	r.g.Expect(errors.As(r.result("broker-a", "TOPIC_2").Err, &identity)).To(BeTrue())
	r.Recorder().RequireNoChangingCalls(t)
}

func TestK41_BackPressureAndClose(t *testing.T) {
	r := startBatcher(t, brokertest.Options{})
	held := r.Inject(brokertest.Fault{Code: 18, Do: brokertest.Delay()})
	names := numbered(BatchSize + BatchLimit)
	r.askAll("broker-a", names[:BatchSize]...)
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.askAll("broker-a", names[BatchSize:]...)
	r.g.Expect(r.ask("broker-a", newTopic("ONE_TOO_MANY"))).To(MatchError(ErrBatchFull))
	r.g.Expect(r.ask("broker-a", newTopic(names[BatchSize]))).To(Succeed(), "one that waits already takes no room")
	r.g.Expect(r.ask("broker-b", newTopic("ONE_TOO_MANY"))).To(Succeed(), "another broker has its own room")

	r.b.Close()
	r.g.Expect(r.results()).To(Equal(BatchSize), "the batch under way was told of its end")
	r.g.Expect(r.result("broker-a", names[0]).Err).To(HaveOccurred())
	r.g.Expect(r.ask("broker-a", newTopic(topic))).To(MatchError(ErrBatcherClosed))
	r.b.Close()
	held.Release()
	r.g.Expect(r.writers.slots).To(BeEmpty())
}

// A thousand topics for two brokers cost a few requests, not thousands.
func TestK41_AThousandTopicsCostFewCalls(t *testing.T) {
	r := startBatcher(t, brokertest.Options{})
	names := numbered(1000)
	for _, n := range names {
		r.askAll("broker-a", n)
		r.askAll("broker-b", n)
	}
	r.flushed(2000)
	r.g.Expect(slices.Max(r.batches())).To(BeNumerically("<=", BatchSize))
	r.g.Expect(len(r.Recorder().Changing())).To(BeNumerically("<=", 6))
	r.g.Expect(r.Recorder().Count()).To(BeNumerically("<=", 6*12))
}
