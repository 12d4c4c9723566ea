// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

// brokerGone waits until a broker is Gone in the status and returns what the
// annotation has to be.
func (w *world) brokerGone(cluster *v1alpha1.BrokerCluster, broker string) (value string) {
	w.t.Helper()
	w.Eventually(func() string {
		w.Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		for _, b := range cluster.Status.Brokers {
			if b.Name == broker {
				value = v1alpha1.ForgetBrokerValue(b)
				w.Expect(b.Message).To(ContainSubstring(value), "the status says how")
			}
		}
		return value
	}, patience).ShouldNot(BeEmpty())
	return value
}

// A broker that was taken down for good would keep every topic unknown for ever.
// Absence alone never proves that; a person can say it.
func TestO33_ABrokerThatIsGoneForGoodIsForgottenOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	cluster := w.cluster()
	topic := w.topic("orders", 4, func(t *v1alpha1.Topic) { t.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: second()} })
	w.ready(topic)
	w.mq.Broker("broker-b").Stop()
	value := w.brokerGone(cluster, "broker-b")
	w.resize(topic, 8)
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionUnknown, "")
	w.Expect(w.counts("TOPIC_ORDERS")).NotTo(ContainSubstring("8"), "an unknown broker unlocks nothing")

	annotate(w, cluster, v1alpha1.AnnotationForgetBroker, value)
	w.is(cluster, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReachable)
	w.asDeclared(topic)
	config, _ := w.mq.Broker("broker-a").Topic("TOPIC_ORDERS")
	w.Expect(config.Read).To(Equal(8))
	w.Eventually(func() []string { return w.events(v1alpha1.ReasonBrokerForgotten) }, patience).ShouldNot(BeEmpty())

	// Back and gone again, it is not forgotten by the word that was given before.
	w.mq.Broker("broker-b").Start()
	w.Eventually(func() int {
		config, _ := w.mq.Broker("broker-b").Topic("TOPIC_ORDERS")
		return config.Write
	}, patience).Should(Equal(8), "it counts again")
	w.mq.Broker("broker-b").Stop()
	again := w.brokerGone(cluster, "broker-b")
	w.Expect(again).NotTo(Equal(value))
	w.Consistently(func() string { return w.brokerGone(cluster, "broker-b") }, 2*time.Second).Should(Equal(again))
}
