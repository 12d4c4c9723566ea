// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	. "github.com/onsi/gomega"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const (
	v4 = 407
	v5 = 513
)

func have(edit ...func(*snapshot.TopicConfig)) snapshot.TopicConfig {
	c := snapshot.TopicConfig{Name: "T", ReadQueues: 8, WriteQueues: 8, Perm: snapshot.PermReadWrite, FilterType: "SINGLE_TAG", Attributes: map[string]string{"reserve.time": "9"}}
	for _, e := range edit {
		e(&c)
	}
	return c
}

func TestQ27_WhatIsNotDeclaredStays(t *testing.T) {
	g := NewWithT(t)
	odd := have(func(c *snapshot.TopicConfig) { c.Order, c.SysFlag, c.FilterType = true, 3, "MULTI_TAG" })
	got := withDeclared(&rocketmqv1alpha1.TopicSpec{}, odd)
	g.Expect(got.Equal(odd)).To(BeTrue(), "an empty spec declares read-write and nothing else")
	g.Expect(got.ReadQueues).To(Equal(8), "queue counts are the planner's")
}

func TestQ27_Q28_DriftIsSaidFieldByField(t *testing.T) {
	spec := &rocketmqv1alpha1.TopicSpec{
		MessageType: rocketmqv1alpha1.MessageTypeFIFO, Order: rocketmqv1alpha1.OrderOrdered,
		Attributes: []rocketmqv1alpha1.Attribute{{Name: "reserve.time", Value: "7"}},
	}
	for name, tc := range map[string]struct {
		have    snapshot.TopicConfig
		version int
		want    string
	}{
		"all of it": {have(func(c *snapshot.TopicConfig) { c.Perm = snapshot.PermRead }), v5,
			"permission is 4, declared 6, order is false, declared true, message.type is not set, declared FIFO, reserve.time is 9, declared 7"},
		"message type replaced by a tool": {have(func(c *snapshot.TopicConfig) {
			c.Order, c.Attributes = true, map[string]string{"message.type": "NORMAL", "reserve.time": "7"}
		}), v5, "message.type is NORMAL, declared FIFO"},
		"nothing": {have(func(c *snapshot.TopicConfig) {
			c.Order, c.Attributes = true, map[string]string{"message.type": "FIFO", "reserve.time": "7", "other": "x"}
		}), v5, ""},
		"4.9 keeps neither attributes nor the order flag": {have(func(c *snapshot.TopicConfig) { c.Attributes = nil }), v4, ""},
		"4.9 keeps the permission":                        {have(func(c *snapshot.TopicConfig) { c.Attributes, c.Perm = nil, snapshot.PermWrite }), v4, "permission is 2, declared 6"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := storable(withDeclared(spec, tc.have), tc.have, tc.version)
			g.Expect(fieldDrift(tc.have, want)).To(Equal(tc.want))
		})
	}
}

func TestO12_EqualConfigIsNoDrift(t *testing.T) {
	g := NewWithT(t)
	spec := &rocketmqv1alpha1.TopicSpec{MessageType: rocketmqv1alpha1.MessageTypeNormal}
	config := have(func(c *snapshot.TopicConfig) { c.Attributes = map[string]string{"message.type": "NORMAL"} })
	g.Expect(fieldDrift(config, withDeclared(spec, config))).To(BeEmpty())
}

func TestWhat4CannotKeepIsSaid(t *testing.T) {
	g := NewWithT(t)
	spec := &rocketmqv1alpha1.TopicSpec{MessageType: rocketmqv1alpha1.MessageTypeFIFO, Order: rocketmqv1alpha1.OrderOrdered}
	g.Expect(notStored(spec, v5)).To(BeEmpty())
	g.Expect(notStored(spec, v4)).To(And(ContainSubstring("message types"), ContainSubstring("the order flag")))
	g.Expect(notStored(&rocketmqv1alpha1.TopicSpec{}, v4)).To(BeEmpty())
}

func TestWithDeclaredChangesNothingItWasGiven(t *testing.T) {
	g := NewWithT(t)
	config := have()
	withDeclared(&rocketmqv1alpha1.TopicSpec{Attributes: []rocketmqv1alpha1.Attribute{{Name: "reserve.time", Value: "1"}}}, config)
	g.Expect(config.Equal(have())).To(BeTrue())
	none := have(func(c *snapshot.TopicConfig) { c.Attributes = nil })
	g.Expect(withDeclared(&rocketmqv1alpha1.TopicSpec{MessageType: rocketmqv1alpha1.MessageTypeDelay}, none).Attributes).To(HaveKeyWithValue("message.type", "DELAY"))
}
