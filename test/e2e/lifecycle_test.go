// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

func lifecycleCases() []testCase {
	return []testCase{
		{name: "a topic is created on every broker and routed by every name server", run: created},
		{name: "K02 an existing topic is adopted as it is, and never shrunk for that", run: adopted},
		{name: "O01 a topic is kept when its object goes", run: kept},
		{name: "K01 a topic is deleted by policy when nobody needs it, else on confirmation", run: deleted},
		{name: "growth opens reads before writes and gives known groups a place to begin", run: grown},
	}
}

func created(s *scene) {
	name := s.name("TOPIC_CREATED")
	topic := s.topic(name, 6)
	s.ready(topic)
	s.counts(name, 6, 6)
	s.asDeclared(topic)
	s.Expect(topic.Status.Brokers).To(HaveLen(2))
	s.Expect(topic.Finalizers).To(BeEmpty(), "nothing is open, and the topic is kept")
	s.Expect(*topic.Status.NameServers.Agreeing).To(Equal(int32(2)))
}

func adopted(s *scene) {
	name := s.name("TOPIC_ADOPTED")
	s.makeTopic(name, 6)
	topic := s.topic(name, 4)
	found := s.is(topic, v1alpha1.ConditionAdoptedLarger, metav1.ConditionTrue, v1alpha1.ReasonAdoptedLarger)
	s.Expect(found.Message).NotTo(BeEmpty())
	s.counts(name, 6, 6)
	// An edit says that fewer are meant.
	s.resize(topic, 3)
	s.asDeclared(topic)
	s.counts(name, 3, 3)
}

func kept(s *scene) {
	name := s.name("TOPIC_KEPT")
	topic := s.topic(name, 2)
	s.ready(topic)
	s.Expect(s.w.Client.Delete(s.Context(), topic)).To(Succeed())
	s.gone(topic)
	s.counts(name, 2, 2)
}

func deleted(s *scene) {
	name := s.name("TOPIC_DELETED")
	topic := s.topic(name, 2, deletes)
	s.ready(topic)
	s.Expect(s.w.Client.Delete(s.Context(), topic)).To(Succeed())
	s.gone(topic)
	s.absent(name)

	// A member is connected: the deletion waits and says what for.
	name = s.name("TOPIC_DELETED")
	topic = s.topic(name, 2, deletes)
	s.ready(topic)
	group := "CG_" + name
	reader := s.client(objectName(group), world.Go, 1, "consume", "--topic="+name, "--group="+group)
	s.Expect(s.w.Client.Delete(s.Context(), topic)).To(Succeed())
	said := s.is(topic, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConfirmationNeeded)
	s.Expect(said.Message).To(And(ContainSubstring(group), ContainSubstring(v1alpha1.AnnotationConfirmDelete), ContainSubstring(name)))
	s.counts(name, 2, 2)
	s.edit(topic, func(t *v1alpha1.Topic) { t.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: name} })
	s.gone(topic)
	s.absent(name)
	s.untouched(reader)
}

func deletes(t *v1alpha1.Topic) { t.Spec.DeletionPolicy = v1alpha1.DeletionDelete }

func grown(s *scene) {
	name := s.name("TOPIC_GROWN")
	topic := s.topic(name, 2)
	s.ready(topic)
	group := "CG_" + name
	s.committed(group, name, 2)
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 4)
		s.asDeclared(topic)
	})
	s.Expect(seen).To(Equal([]pair{{2, 2}, {4, 2}, {4, 4}}), "read and write, one after the other")
	for queue := 2; queue < 4; queue++ {
		at, there, err := s.mq.CommittedOffset(s.Context(), s.master("broker-a").Addr, name, group, queue)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(there).To(BeTrue(), "R12: queue %d", queue)
		s.Expect(at).To(BeZero())
	}
}
