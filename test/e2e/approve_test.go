// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func approveCases() []testCase {
	return []testCase{{name: "each cut waits for its own approval, and a stale one does nothing", run: approved}}
}

// approved shrinks a topic by hand: writes wait for the first approval, reads
// for the second, and the first does not count for the second.
func approved(s *scene) {
	name := s.name("TOPIC_APPROVED")
	topic := s.topic(name, 4, func(t *v1alpha1.Topic) { t.Spec.Resize.Mode = v1alpha1.ResizeApprove })
	s.asDeclared(topic)
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 2)
		s.is(topic, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval)
		first := s.approval(topic, "")
		s.approve(topic, first+"-of-yesterday")
		s.staysAt(name, pair{4, 4})

		s.approve(topic, first)
		second := s.approval(topic, first)
		s.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
		s.staysAt(name, pair{4, 2})

		s.approve(topic, second)
		s.asDeclared(topic)
	})
	s.Expect(seen).To(Equal([]pair{{4, 4}, {4, 2}, {2, 2}}))
	s.counts(name, 2, 2)
}

// approval waits until the change asks for an approval other than the one
// before, and returns it.
func (s *scene) approval(topic *v1alpha1.Topic, before string) string {
	s.Helper()
	found := ""
	s.Eventually(func() (string, error) {
		found = ""
		err := s.w.Client.Get(s.Context(), keyOf(topic), topic)
		if topic.Status.Change != nil {
			found = topic.Status.Change.Approval
		}
		return found, err
	}).ShouldNot(Or(BeEmpty(), Equal(before)))
	said := topic.Status.Change.WaitsFor
	s.Expect(said).NotTo(BeEmpty())
	s.Expect(said[0].Reason).To(Equal(v1alpha1.ReasonAwaitingApproval))
	s.Expect(said[0].Message).NotTo(BeEmpty())
	s.Logf("%s: %s", found, said[0].Message)
	return found
}

func (s *scene) approve(topic *v1alpha1.Topic, value string) {
	s.Helper()
	s.edit(topic, func(t *v1alpha1.Topic) { t.Annotations = map[string]string{v1alpha1.AnnotationApprove: value} })
}

// staysAt checks that a broker shows the same for several looks.
func (s *scene) staysAt(topic string, want pair) {
	s.Helper()
	s.Consistently(func() (pair, error) {
		found, err := s.mq.TopicConfig(s.Context(), s.master("broker-a").Addr, topic)
		return pair{found.Config.ReadQueues, found.Config.WriteQueues}, err
	}, 5*time.Second, time.Second/2).Should(Equal(want))
}
