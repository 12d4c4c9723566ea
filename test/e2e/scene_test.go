// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// scene is one case at work.
type scene struct {
	*testing.T
	*WithT
	*env
}

func newScene(t *testing.T, e *env) *scene {
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	return &scene{T: t, WithT: g, env: e}
}

// topic declares a Topic. Retired queues are watched for a second only unless an
// edit says otherwise.
func (s *scene) topic(name string, queues int32, edits ...func(*v1alpha1.Topic)) *v1alpha1.Topic {
	s.Helper()
	topic := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: objectName(name)}}
	topic.Spec.ClusterRef = v1alpha1.ClusterReference{Name: cluster, Namespace: platform}
	topic.Spec.TopicName = v1alpha1.TopicName(name)
	topic.Spec.Queues.PerBroker = queues
	topic.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: ptr.To(int64(1))}
	for _, edit := range edits {
		edit(topic)
	}
	s.Expect(s.w.Client.Create(s.Context(), topic)).To(Succeed())
	return topic
}

// edit changes an object as a person does.
func (s *scene) edit(topic *v1alpha1.Topic, change func(*v1alpha1.Topic)) {
	s.Helper()
	s.Expect(s.w.Client.Get(s.Context(), client.ObjectKeyFromObject(topic), topic)).To(Succeed())
	base := topic.DeepCopy()
	change(topic)
	s.Expect(s.w.Client.Patch(s.Context(), topic, client.MergeFrom(base))).To(Succeed())
}

// resize edits the number of queues.
func (s *scene) resize(topic *v1alpha1.Topic, queues int32) {
	s.Helper()
	s.edit(topic, func(t *v1alpha1.Topic) { t.Spec.Queues.PerBroker = queues })
}

// is waits until a condition speaks of the present spec with that status and,
// unless empty, that reason.
func (s *scene) is(object client.Object, kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	s.Helper()
	var found *metav1.Condition
	s.Eventually(func() error {
		if err := s.w.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		found = meta.FindStatusCondition(world.Conditions(object), kind)
		switch {
		case found == nil:
			return fmt.Errorf("%s is absent", kind)
		case found.ObservedGeneration != object.GetGeneration():
			return fmt.Errorf("%s speaks of generation %d, not %d", kind, found.ObservedGeneration, object.GetGeneration())
		case found.Status != status || reason != "" && found.Reason != reason:
			return fmt.Errorf("%s is %s %s, not %s %s", kind, found.Status, found.Reason, status, reason)
		}
		return nil
	}).Should(Succeed(), func() string { return world.Describe(object) })
	return found
}

func (s *scene) ready(object client.Object) {
	s.Helper()
	s.is(object, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}

func (s *scene) asDeclared(topic *v1alpha1.Topic) {
	s.Helper()
	s.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared)
}

// reaches waits until the running change is in one of the stages.
func (s *scene) reaches(topic *v1alpha1.Topic, stages ...v1alpha1.Stage) {
	s.Helper()
	s.Eventually(func() (v1alpha1.Stage, error) {
		err := s.w.Client.Get(s.Context(), client.ObjectKeyFromObject(topic), topic)
		if err != nil || topic.Status.Change == nil {
			return "", err
		}
		return topic.Status.Change.Stage, nil
	}).Should(BeElementOf(stages), func() string { return world.Describe(topic) })
}

// gone waits until an object was removed.
func (s *scene) gone(object client.Object) {
	s.Helper()
	s.Eventually(func() bool {
		return apierrors.IsNotFound(s.w.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object))
	}).Should(BeTrue(), func() string { return world.Describe(object) })
}

// stored is the topic as a broker has it.
func (s *scene) stored(broker, topic string) snapshot.StoredTopic {
	s.Helper()
	found, err := s.mq.TopicConfig(s.Context(), s.master(broker).Addr, topic)
	s.Expect(err).NotTo(HaveOccurred())
	return found
}

// counts waits until every broker and every name server shows these numbers.
func (s *scene) counts(topic string, read, write int) {
	s.Helper()
	s.Eventually(func(g Gomega) {
		for _, master := range s.w.RocketMQ.Masters() {
			found, err := s.mq.TopicConfig(s.Context(), master.Addr, topic)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found.Present).To(BeTrue(), master.Name)
			g.Expect([]int{found.Config.ReadQueues, found.Config.WriteQueues}).To(Equal([]int{read, write}), master.Name)
		}
		for _, address := range s.w.RocketMQ.NameServerAddresses() {
			route, err := s.mq.TopicRoute(s.Context(), address, topic)
			g.Expect(err).NotTo(HaveOccurred())
			for _, master := range s.w.RocketMQ.Masters() {
				routed := route.Queues[master.Name]
				g.Expect([]int{routed.Read, routed.Write}).To(Equal([]int{read, write}), address)
			}
		}
	}).Should(Succeed())
}

// absent waits until no broker has the topic and no name server routes it.
func (s *scene) absent(topic string) {
	s.Helper()
	s.Eventually(func(g Gomega) {
		for _, master := range s.w.RocketMQ.Masters() {
			found, err := s.mq.TopicConfig(s.Context(), master.Addr, topic)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found.Present).To(BeFalse(), master.Name)
		}
		for _, address := range s.w.RocketMQ.NameServerAddresses() {
			route, err := s.mq.TopicRoute(s.Context(), address, topic)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(route.Present).To(BeFalse(), address)
		}
	}).Should(Succeed())
}
