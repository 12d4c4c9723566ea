// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func plainTopics(n int) []snapshot.TopicConfig {
	var topics []snapshot.TopicConfig
	for i := range n {
		topics = append(topics, plainTopic(fmt.Sprintf("T-%d", i)))
	}
	return topics
}

func TestP11_BatchLeavesOutWhatExists(t *testing.T) {
	g := NewWithT(t)
	same, narrower := plainTopic("T-0"), plainTopic("T-2")
	narrower.ReadQueues, narrower.WriteQueues = 16, 16
	s := newTopicStore(513, same, narrower)
	wanted := plainTopics(4)
	wanted[3].Attributes = map[string]string{"message.type": "DELAY"}
	batch, err := s.client().CreateTopics(t.Context(), fakeMaster(), wanted)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(batch).To(Equal(TopicBatch{
		Sent:     []string{"T-1", "T-3"},
		Existing: map[string]snapshot.TopicConfig{"T-0": same, "T-2": narrower},
	}))
	g.Expect(s.codes()).To(Equal([]int{26, 28, 21, 18}))
	g.Expect(s.of(18)[0].body).To(MatchJSON(`{"topicConfigList":[
		{"topicName":"T-1","readQueueNums":8,"writeQueueNums":8,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false,"attributes":{}},
		{"topicName":"T-3","readQueueNums":8,"writeQueueNums":8,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false,"attributes":{"+message.type":"DELAY"}}]}`))
	g.Expect(s.topics).To(HaveLen(4))
	g.Expect(s.topics["T-2"]).To(Equal(narrower), "a batch narrows nothing (R17)")
	g.Expect(s.topics["T-3"]).To(Equal(wanted[3]))
}

func TestR17_NothingToCreateNothingIsSent(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(513, plainTopics(3)...)
	batch, err := s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(3))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(batch.Existing).To(HaveLen(3))
	g.Expect(s.changing()).To(BeEmpty())

	s.reset()
	batch, err = s.client().CreateTopics(t.Context(), fakeMaster(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(batch.Sent).To(BeEmpty())
	g.Expect(s.codes()).To(BeEmpty())
}

// TestR17_SinglesReadAgain creates on brokers without call 18, and reads anew
// every few creations.
func TestR17_SinglesReadAgain(t *testing.T) {
	for _, version := range []int{407, 453} {
		g := NewWithT(t)
		s := newTopicStore(version)
		late := plainTopic("T-30")
		late.ReadQueues, late.WriteQueues = 64, 64
		s.on(remoting.ReqUpdateAndCreateTopic, func(r *remoting.Command) *remoting.Command {
			if r.ExtFields["topic"] == "T-10" {
				s.topics["T-30"] = late // somebody else is faster
			}
			return s.put(r)
		})
		batch, err := s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(40))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(batch.Sent).To(HaveLen(39))
		g.Expect(batch.Existing).To(Equal(map[string]snapshot.TopicConfig{"T-30": late}))
		g.Expect(s.topics["T-30"]).To(Equal(late))
		g.Expect(s.of(21)).To(HaveLen(3))
		g.Expect(s.of(17)).To(HaveLen(39))
		g.Expect(s.of(28)).To(HaveLen(1))
	}
}

func TestCreateTopics_PartialFailureSaysWhatMayBeThere(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(407)
	s.on(remoting.ReqUpdateAndCreateTopic, func(r *remoting.Command) *remoting.Command {
		if r.ExtFields["topic"] == "T-2" {
			return &remoting.Command{Code: remoting.RespSystemBusy, Remark: "[TIMEOUT_CLEAN_QUEUE]"}
		}
		return s.put(r)
	})
	batch, err := s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(5))
	g.Expect(err).To(MatchError(remoting.Busy))
	g.Expect(batch.Sent).To(Equal([]string{"T-0", "T-1", "T-2"}))
	g.Expect(s.topics).To(HaveLen(2))

	s = newTopicStore(513)
	s.fail(remoting.ReqUpdateAndCreateTopicList, &remoting.Error{Addr: fakeAddr, Code: 18, Kind: remoting.Closed})
	batch, err = s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(5))
	g.Expect(err).To(MatchError(remoting.Closed))
	g.Expect(batch.Sent).To(BeEmpty(), "it never left")
	s.fail(remoting.ReqUpdateAndCreateTopicList, &remoting.Error{Addr: fakeAddr, Code: 18, Kind: remoting.Timeout, Sent: true})
	batch, err = s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(5))
	g.Expect(err).To(MatchError(remoting.Timeout))
	g.Expect(batch.Sent).To(HaveLen(5), "it may have been carried out")
}

func TestCreateTopics_OneBadOneNothingIsAsked(t *testing.T) {
	bad := map[string]snapshot.TopicConfig{"name": plainTopic("a b"), "system": plainTopic("TBW102")}
	for name, change := range map[string]func(*snapshot.TopicConfig){
		"queues":    func(c *snapshot.TopicConfig) { c.WriteQueues = 0 },
		"attribute": func(c *snapshot.TopicConfig) { c.Attributes = map[string]string{"a": ""} },
		"static":    func(c *snapshot.TopicConfig) { c.Static = true },
		"twice":     func(c *snapshot.TopicConfig) { c.Name = "T-0" },
	} {
		config := plainTopic("bad")
		change(&config)
		bad[name] = config
	}
	for name, config := range bad {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newTopicStore(513)
			_, err := s.client().CreateTopics(t.Context(), fakeMaster(), append(plainTopics(3), config))
			var refused *NotSentError
			g.Expect(errors.As(err, &refused)).To(BeTrue())
			g.Expect(s.codes()).To(BeEmpty())
		})
	}
}

func TestCreateTopics_UnreadableTableCreatesNothing(t *testing.T) {
	for _, version := range []int{407, 513} {
		g := NewWithT(t)
		s := newTopicStore(version)
		s.body(remoting.ReqGetAllTopicConfig, `{"topicConfigTable":{}`)
		_, err := s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(3))
		g.Expect(err).To(MatchError(remoting.Malformed))
		g.Expect(s.changing()).To(BeEmpty())
	}
}

func TestR03_BatchProvesTheMaster(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(407)
	wrong := fakeMaster()
	wrong.Name = "broker-b"
	_, err := s.client().CreateTopics(t.Context(), wrong, plainTopics(3))
	g.Expect(err).To(BeAssignableToTypeOf(&IdentityError{}))
	g.Expect(s.codes()).To(Equal([]int{26}))

	// The broker is replaced while topics are created one by one.
	s = newTopicStore(407)
	s.on(remoting.ReqUpdateAndCreateTopic, func(r *remoting.Command) *remoting.Command {
		s.generation++
		return s.put(r)
	})
	batch, err := s.client().CreateTopics(t.Context(), fakeMaster(), plainTopics(3))
	g.Expect(err).To(MatchError(remoting.ErrOtherConnection))
	g.Expect(batch.Sent).To(Equal([]string{"T-0"}))
	g.Expect(slices.Contains(s.codes(), 18)).To(BeFalse())
}
