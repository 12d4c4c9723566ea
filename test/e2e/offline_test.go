// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func offlineCases() []testCase {
	return []testCase{{name: "Q21 R20 an offline group blocks by name until it is waived", run: offline}}
}

func offline(s *scene) {
	name := s.name("TOPIC_OFFLINE")
	topic := s.topic(name, 4)
	s.ready(topic)
	group := "CG_REPORT_" + name
	s.committed(group, name, 4)
	for range 3 {
		s.send("broker-b", name, 3, nil)
	}
	s.resize(topic, 2)
	said := s.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, v1alpha1.ReasonGroupOffline)
	s.Expect(said.Message).To(And(
		ContainSubstring("group "+group+" has no members"), ContainSubstring("3 messages unread"),
		ContainSubstring("broker-b/3"), ContainSubstring("spec.resize.waivers")))
	s.Expect(topic.Status.Change.WaitsFor[0].Group).To(Equal(group))
	s.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
	s.Expect(s.stored("broker-b", name).Config.ReadQueues).To(Equal(4))

	// A waiver for another number does not count.
	s.edit(topic, func(t *v1alpha1.Topic) {
		t.Spec.Resize.Waivers = []v1alpha1.Waiver{{Group: group, ToQueues: 1, Reason: "meant for another change"}}
	})
	s.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, v1alpha1.ReasonGroupOffline)
	s.Expect(s.stored("broker-b", name).Config.ReadQueues).To(Equal(4))

	s.edit(topic, func(t *v1alpha1.Topic) {
		t.Spec.Resize.Waivers = []v1alpha1.Waiver{{Group: group, ToQueues: 2, Reason: "the report is retired"}}
	})
	s.asDeclared(topic)
	s.counts(name, 2, 2)
	s.Expect(topic.Status.GivenUp).To(HaveLen(1))
	given := topic.Status.GivenUp[0]
	s.Expect(given.Group).To(Equal(group))
	s.Expect(*given.Messages).To(Equal(int64(3)))
	s.Expect(given.Queues).To(ConsistOf("broker-b/3:3"))
}
