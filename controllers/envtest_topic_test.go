// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func TestTopicIsCreatedOnEveryBroker(t *testing.T) {
	for _, version := range brokertest.Versions() {
		t.Run(version.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{Version: version})
			cluster := w.cluster()
			w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReachable)
			topic := w.topic("orders", 4)
			w.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
			for _, name := range w.mq.BrokerNames() {
				config, there := w.mq.Broker(name).Topic("TOPIC_ORDERS")
				w.Expect(there).To(BeTrue())
				w.Expect(config.Read).To(Equal(4))
				w.Expect(config.Write).To(Equal(4))
			}
		})
	}
}

func TestTopicShrinksAndGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8, func(t *v1alpha1.Topic) {
		t.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: second()}
	})
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
	w.mq.Watch("TOPIC_ORDERS")
	base := topic.DeepCopy()
	topic.Spec.Queues.PerBroker = 4
	w.Expect(w.client.Patch(w.ctx, topic, clientMergeFrom(base))).To(Succeed())
	w.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared)
	w.mq.RequireInvariants(t)
}

// A thousand new topics at once are common. Each costs one status write, and no
// look at its offsets: whoever created a topic knows that nothing is stranded
// in it.
func TestK41_ANewTopicIsWrittenOnceAndNotLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	cluster := w.cluster()
	w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReachable)
	w.mq.Recorder().Reset()
	before := w.writes.count()
	topic := w.topic("orders", 4)
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
	w.Expect(w.writes.count()-before).To(BeNumerically("<=", 2), "the topic's status, and the cluster's number of topics")
	w.Expect(topic.Status.Adoption.ReadQueues).To(HaveValue(BeZero()), "it was found nowhere")
	for _, call := range w.mq.Recorder().Calls() {
		w.Expect(call.Code).NotTo(Equal(remoting.ReqGetAllConsumerOffset))
	}
}
