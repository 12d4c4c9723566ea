// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"unsafe"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// received is a topic as it is decoded from the wire: every string is its own.
func received(name string) *rocketmqv1alpha1.Topic {
	t := &rocketmqv1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{
		Namespace: strings.Clone("shop"), Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		Annotations: map[string]string{"a": "b"},
	}}
	t.Status.Conditions = []metav1.Condition{{Type: strings.Clone("Ready"), Reason: strings.Clone("AsNeeded"), Message: strings.Clone("4 queues per broker")}}
	t.Status.Brokers = []rocketmqv1alpha1.TopicBrokerStatus{{Name: strings.Clone("broker-a"), State: "InSync"}}
	t.Status.Claim = &rocketmqv1alpha1.Claim{Identity: strings.Clone("shop/broker-a@10.0.0.1:10911"), UID: "u"}
	return t
}

func TestCacheKeepsOneCopyOfWhatTopicsSayAlike(t *testing.T) {
	g := NewWithT(t)
	a, b := received("a"), received("b")
	for _, topic := range []*rocketmqv1alpha1.Topic{a, b} {
		want := topic.DeepCopy()
		want.ManagedFields = nil
		got, err := shareStrings(topic)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want), "nothing else changes")
	}
	same := func(x, y string) { g.Expect(unsafe.StringData(x)).To(BeIdenticalTo(unsafe.StringData(y)), x) }
	same(a.Namespace, b.Namespace)
	same(a.Status.Conditions[0].Type, b.Status.Conditions[0].Type)
	same(a.Status.Conditions[0].Message, b.Status.Conditions[0].Message)
	same(a.Status.Brokers[0].Name, b.Status.Brokers[0].Name)
	same(a.Status.Claim.Identity, b.Status.Claim.Identity)

	other := &corev1.ConfigMap{}
	g.Expect(shareStrings(other)).To(BeIdenticalTo(other), "what is no Topic, such as a tombstone, passes")
}
