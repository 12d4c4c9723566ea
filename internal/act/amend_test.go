// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// drifted is a topic that somebody's tool has written over.
func drifted() brokertest.TopicConfig {
	return brokertest.TopicConfig{Name: topic, Read: 32, Write: 16, Perm: 4, FilterType: "MULTI_TAG", SysFlag: 1, Order: true,
		Attributes: map[string]string{"message.type": "NORMAL", "reserve.time": "72"}}
}

// amendment puts back permission and message type as seen on broker-a.
func (r *rig) amendment(look snapshot.TopicLook) Amendment {
	config := look.Brokers["broker-a"].Config
	stored, _ := config.Get()
	return Amendment{
		Master: r.master("broker-a"), Process: config.Origin().From, Expect: stored.Config,
		Amend: func(have snapshot.TopicConfig) snapshot.TopicConfig {
			have.Perm = snapshot.PermReadWrite
			if have.Attributes != nil {
				have.Attributes["message.type"] = "FIFO"
			}
			return have
		},
	}
}

func TestQ27_WhatNobodyDeclaredStays(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.Broker("broker-a").PutTopic(drifted())
		was, _ := r.Broker("broker-a").Topic(topic)
		look := r.look()
		r.Recorder().Reset()
		result := r.Amend(t.Context(), r.amendment(look))
		r.g.Expect(result.Err).NotTo(HaveOccurred())
		is, _ := r.Broker("broker-a").Topic(topic)
		was.Perm = 6
		if v != brokertest.V497 {
			was.Attributes["message.type"] = "FIFO"
		} else {
			was.Order = is.Order // 4.9 resets it at every change
		}
		r.g.Expect(is).To(Equal(was))
		r.Recorder().RequireChangingCalls(t, 1)
	})
}

func TestQ28_AttributesTravelWithSignsAndOnlyWhereTheyDiffer(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.Broker("broker-a").PutTopic(drifted())
	look := r.look()
	r.g.Expect(r.Amend(t.Context(), r.amendment(look)).Err).NotTo(HaveOccurred())
	calls := r.Recorder().Calls(brokertest.WithCode(17))
	r.g.Expect(calls).To(HaveLen(1))
	r.g.Expect(calls[0].Args).To(HaveKeyWithValue("attributes", "+message.type=FIFO"))

	// Only the permission differs now: no attribute is sent, which keeps them.
	config, _ := r.Broker("broker-a").Topic(topic)
	config.Perm = 2
	r.Broker("broker-a").PutTopic(config)
	look = r.look()
	r.Recorder().Reset()
	r.g.Expect(r.Amend(t.Context(), r.amendment(look)).Err).NotTo(HaveOccurred())
	calls = r.Recorder().Calls(brokertest.WithCode(17))
	r.g.Expect(calls).To(HaveLen(1))
	r.g.Expect(calls[0].Args).NotTo(HaveKey("attributes"))
	is, _ := r.Broker("broker-a").Topic(topic)
	r.g.Expect(is.Attributes).To(Equal(map[string]string{"message.type": "FIFO", "reserve.time": "72"}))
}

func TestO12_NothingIsSentWhenNothingDiffers(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		r.Broker("broker-a").PutTopic(drifted())
		r.g.Expect(r.Amend(t.Context(), r.amendment(r.look())).Err).NotTo(HaveOccurred())
		before, registrations := r.Broker("broker-a").TopicDataVersion(), r.Broker("broker-a").Registrations()
		r.Recorder().Reset()
		for range 10 {
			result := r.Amend(t.Context(), r.amendment(r.look()))
			r.g.Expect(result.Err).NotTo(HaveOccurred())
			r.g.Expect(result.Sent).To(BeFalse())
		}
		r.Recorder().RequireNoChangingCalls(t)
		r.g.Expect(r.Broker("broker-a").TopicDataVersion()).To(Equal(before))
		r.g.Expect(r.Broker("broker-a").Registrations()).To(Equal(registrations))
	})
}

func TestAmend_QueueCountsAreNotItsBusiness(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.Broker("broker-a").PutTopic(drifted())
	m := r.amendment(r.look())
	m.Amend = func(have snapshot.TopicConfig) snapshot.TopicConfig { have.ReadQueues = 16; return have }
	r.g.Expect(r.Amend(t.Context(), m).Err).To(MatchError(ContainSubstring("must not change queue counts")))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestR18_AnAmendmentOfWhatChangedSinceIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*brokertest.TopicConfig){
		"counts":     func(c *brokertest.TopicConfig) { c.Write = 8 },
		"attributes": func(c *brokertest.TopicConfig) { c.Attributes["reserve.time"] = "1" },
		"order":      func(c *brokertest.TopicConfig) { c.Order = false },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, brokertest.Options{Brokers: 1})
			r.Broker("broker-a").PutTopic(drifted())
			m := r.amendment(r.look())
			config := drifted()
			edit(&config)
			r.Broker("broker-a").PutTopic(config)
			var foreign *ForeignChangeError
			r.g.Expect(errors.As(r.Amend(t.Context(), m).Err, &foreign)).To(BeTrue())
			r.Broker("broker-a").DropTopic(topic)
			r.g.Expect(errors.As(r.Amend(t.Context(), m).Err, &foreign)).To(BeTrue())
			r.g.Expect(foreign.Found).To(Equal("absent"))
			r.Recorder().RequireNoChangingCalls(t)
		})
	}
}

func TestR03_AnAmendmentProvesThePeer(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 3})
	r.Broker("broker-a").PutTopic(drifted())
	m := r.amendment(r.look())
	r.Broker("broker-a").Impersonate(r.Broker("broker-c"))
	var identity *rocketmq.IdentityError
	r.g.Expect(errors.As(r.Amend(t.Context(), m).Err, &identity)).To(BeTrue())
	r.Recorder().RequireNoChangingCalls(t)
}

func TestO25_AnAmendmentWaitsForNameServers(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.Broker("broker-a").PutTopic(drifted())
	m := r.amendment(r.look())
	r.g.Expect(r.NameServer(1).Restart()).To(Succeed())
	r.g.Expect(r.Amend(t.Context(), m).Err).To(BeAssignableToTypeOf(&observe.IncompleteError{}))
	r.Recorder().RequireNoChangingCalls(t)
	r.Advance(30 * time.Second)
	r.g.Expect(r.Amend(t.Context(), m).Err).NotTo(HaveOccurred())
}
