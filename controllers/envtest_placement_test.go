// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

// onBrokers places a Topic.
func onBrokers(names ...v1alpha1.BrokerName) func(*v1alpha1.Topic) {
	return func(t *v1alpha1.Topic) { t.Spec.Placement = &v1alpha1.Placement{Brokers: names} }
}

// there are read, write and permission of the topic on a broker; empty where it
// does not have it.
func (w *world) there(broker, topic string) string {
	c, has := w.mq.Broker(broker).Topic(topic)
	if !has {
		return ""
	}
	return fmt.Sprintf("r%d w%d perm %d", c.Read, c.Write, c.Perm)
}

// TestR14_BrokerThatLeavesThePlacementIsDrained takes a topic at rest from a
// broker: an operator that was started after the edit does so as well.
func TestR14_BrokerThatLeavesThePlacementIsDrained(t *testing.T) {
	for name, meanwhile := range map[string]bool{"the operator sees the edit": false, "the operator is away during the edit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{})
			w.cluster()
			topic := w.topic("orders", 3, shortDelay, onBrokers("broker-a", "broker-b"))
			w.asDeclared(topic)
			w.Expect(w.notes()).To(BeEmpty(), "nothing but the status says where the topic was declared")
			w.mq.Watch(orders)
			w.mq.CreateGroup("CG_A")
			w.mq.Join(brokertest.MemberSpec{Group: "CG_A", Subscriptions: map[string]string{orders: "*"}, From: "CONSUME_FROM_FIRST_OFFSET"})
			w.Expect(w.mq.Produce(orders, "broker-a", 1, 5)).To(Succeed())

			if meanwhile {
				w.stop()
			}
			edit(w, topic, onBrokers("broker-b"))
			if meanwhile {
				w.restart()
			}
			w.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionFalse, "")
			w.Eventually(w.there).WithArguments("broker-a", orders).WithTimeout(patience).Should(Equal("r3 w3 perm 4"), "closed to producers first")
			w.Consistently(w.there).WithArguments("broker-a", orders).WithTimeout(3*time.Second).Should(Equal("r3 w3 perm 4"), "CG_A has unread messages there")
			w.Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic)).To(Succeed())
			w.Expect(topic.Status.Brokers[0].State).To(Equal(v1alpha1.TopicBrokerChanging))
			w.Expect(topic.Finalizers).To(ContainElement(v1alpha1.Finalizer), "rule R23")

			w.mq.Consume("CG_A", orders, 1000)
			w.asDeclared(topic)
			w.Expect(w.there("broker-a", orders)).To(BeEmpty())
			w.Expect(w.there("broker-b", orders)).To(Equal("r3 w3 perm 6"))
			w.Expect(topic.Status.Brokers).To(HaveLen(1))
			w.mq.RequireInvariants(t)
			w.mq.RequireAllDelivered(t, orders, "CG_A")
		})
	}
}

// TestR14_BrokerThatNeverWasInThePlacementIsLeftAlone is the other side of it.
func TestR14_BrokerThatNeverWasInThePlacementIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.mq.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: orders, Read: 5, Write: 5, Perm: 6, FilterType: "SINGLE_TAG"})
	w.cluster()
	topic := w.topic("orders", 3, shortDelay, onBrokers("broker-b"))
	w.asDeclared(topic)
	w.Expect(topic.Status.Brokers[0].State).To(Equal(v1alpha1.TopicBrokerForeign))
	w.resize(topic, 2)
	w.asDeclared(topic)
	w.Expect(w.there("broker-a", orders)).To(Equal("r5 w5 perm 6"))
	w.Expect(w.there("broker-b", orders)).To(Equal("r2 w2 perm 6"))
}
