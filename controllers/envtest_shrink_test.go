// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

// shortDelay declares that no message comes later than a second.
func shortDelay(t *v1alpha1.Topic) { t.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: second()} }

func (w *world) resize(topic *v1alpha1.Topic, queues int32) {
	w.t.Helper()
	edit(w, topic, func(t *v1alpha1.Topic) { t.Spec.Queues.PerBroker = queues })
}

func (w *world) asDeclared(topic *v1alpha1.Topic) {
	w.t.Helper()
	w.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared)
}

// counts are read and write on every broker.
func (w *world) counts(topic string) string {
	s := ""
	for _, b := range w.mq.BrokerNames() {
		c, _ := w.mq.Broker(b).Topic(topic)
		s += fmt.Sprintf("%s r%d w%d ", b, c.Read, c.Write)
	}
	return s
}

// notes are the notes in the operator's namespace.
func (w *world) notes() []string {
	list := &corev1.ConfigMapList{}
	w.Expect(w.client.List(w.ctx, list, client.InNamespace(w.namespace), client.HasLabels{v1alpha1.GroupName + "/note"})).To(Succeed())
	var names []string
	for _, cm := range list.Items {
		names = append(names, cm.Name)
	}
	return names
}

func TestQ01_ShrinkLosesNothingOnAnyVersion(t *testing.T) {
	for _, version := range brokertest.Versions() {
		t.Run(version.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{Version: version})
			w.cluster()
			topic := w.topic("orders", 8, shortDelay)
			w.ready(topic)
			w.mq.Watch(orders)
			for _, group := range []string{"CG_A", "CG_B"} {
				w.mq.CreateGroup(group)
				w.mq.Join(brokertest.MemberSpec{Group: group, Subscriptions: map[string]string{orders: "*"}, From: "CONSUME_FROM_FIRST_OFFSET"})
			}
			for q := range 8 {
				for _, b := range w.mq.BrokerNames() {
					w.Expect(w.mq.Produce(orders, b, q, 3)).To(Succeed())
				}
			}
			w.mq.Consume("CG_A", orders, 1000)
			w.resize(topic, 4)
			w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, "")
			w.sentence(topic, v1alpha1.ConditionDraining, "CG_B")
			w.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
			w.Expect(w.counts(orders)).To(Equal("broker-a r8 w4 broker-b r8 w4 "))
			w.Expect(w.notes()).NotTo(BeEmpty(), "rule K10")
			w.Expect(topic.Finalizers).To(ContainElement(v1alpha1.Finalizer), "rule R23")

			w.mq.Consume("CG_B", orders, 1000)
			w.asDeclared(topic)
			w.Expect(w.counts(orders)).To(Equal("broker-a r4 w4 broker-b r4 w4 "))
			w.mq.RequireInvariants(t)
			w.mq.RequireAllDelivered(t, orders, "CG_A", "CG_B")
			w.mq.Recorder().RequireNoForbiddenCalls(t)
			// Retired ids are looked at now and then until retention has passed
			// (rule R10); the note stays so long, and with it the finalizer.
			w.Consistently(func() []string { return w.notes() }, time.Second).ShouldNot(BeEmpty())
			w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
			w.gone(topic)
			w.Expect(w.notes()).To(BeEmpty())
		})
	}
}

func TestQ21_R20_OfflineGroupBlocksByNameUntilWaivedForThisTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8, shortDelay)
	w.ready(topic)
	w.mq.CreateGroup("old-report")
	w.Expect(w.mq.Produce(orders, "broker-a", 6, 5)).To(Succeed())
	w.mq.Commit("old-report", orders, "broker-a", 6, 2)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, v1alpha1.ReasonGroupOffline)
	w.sentence(topic, v1alpha1.ConditionDraining, "old-report", "no members", "3 messages", "broker-a/6", "spec.resize.waivers")
	w.sentence(topic, v1alpha1.ConditionAsDeclared, "old-report", "3")

	waive := func(to int32) {
		edit(w, topic, func(t *v1alpha1.Topic) {
			t.Spec.Resize.Waivers = []v1alpha1.Waiver{{Group: "old-report", ToQueues: to, Reason: "retired"}}
		})
	}
	waive(2)
	w.Consistently(func() string { return w.counts(orders) }, 3*time.Second).Should(Equal("broker-a r8 w4 broker-b r8 w4 "), "a waiver for another target counts for nothing")
	waive(4)
	w.asDeclared(topic)
	w.Expect(topic.Status.GivenUp).To(HaveLen(1))
	w.Expect(topic.Status.GivenUp[0].Group).To(Equal("old-report"))
	w.Expect(*topic.Status.GivenUp[0].Messages).To(BeEquivalentTo(3))
}

func TestTurnRoundInTheMiddleOfAShrink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8, shortDelay)
	w.ready(topic)
	w.mq.Watch(orders)
	w.mq.CreateGroup("CG")
	w.Expect(w.mq.Produce(orders, "broker-b", 7, 2)).To(Succeed())
	w.mq.Commit("CG", orders, "broker-b", 7, 0)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, "")
	w.resize(topic, 8)
	w.asDeclared(topic)
	w.Expect(w.counts(orders)).To(Equal("broker-a r8 w8 broker-b r8 w8 "))
	w.mq.RequireInvariants(t)
}

func TestR23_DeletionBeforeTheCutStopsAndSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8, shortDelay)
	w.ready(topic)
	w.mq.Watch(orders)
	w.mq.CreateGroup("CG")
	w.Expect(w.mq.Produce(orders, "broker-b", 7, 2)).To(Succeed())
	w.mq.Commit("CG", orders, "broker-b", 7, 0)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, "")
	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.gone(topic)
	w.mq.RequireInvariants(t)
	w.Expect(w.counts(orders)).To(Equal("broker-a r8 w4 broker-b r8 w4 "))
	w.Expect(w.notes()).To(BeEmpty())
	w.Eventually(func() []string { return w.events("Released") }, patience).Should(ContainElement(ContainSubstring("stops in stage Draining")))
}

func TestR23_DeletionDuringTheWatchWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	ten := int64(10)
	topic := w.topic("orders", 8, func(t *v1alpha1.Topic) { t.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: &ten} })
	w.ready(topic)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionRetiredQueuesWatched, metav1.ConditionTrue, v1alpha1.ReasonWatchingRetired)
	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.Consistently(func() error { return w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic) }, 2*time.Second).Should(Succeed())
	w.gone(topic)
	w.Expect(w.notes()).To(BeEmpty())
}

func TestQ09_OrderedTopicIsHeldUntilAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 8, shortDelay, func(t *v1alpha1.Topic) { t.Spec.MessageType = v1alpha1.MessageTypeFIFO })
	w.ready(topic)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOrderForbidden)
	w.Expect(w.counts(orders)).To(Equal("broker-a r8 w8 broker-b r8 w8 "))
	edit(w, topic, func(t *v1alpha1.Topic) { t.Spec.Resize.OrderChange = v1alpha1.OrderChangeAllow })
	w.asDeclared(topic)
	w.Expect(w.counts(orders)).To(Equal("broker-a r4 w4 broker-b r4 w4 "))
}

// The operator dies between any two changing calls of a shrink and the next one
// takes over (case O22).
func TestO22_OperatorKilledAtAnyChangingCall(t *testing.T) {
	t.Parallel()
	// From 5.0 on, what a group without members took may have been popped, and a
	// drain waits a minute for it to come back.
	w := newWorld(t, brokertest.Options{Version: brokertest.V497})
	w.cluster()
	topic := w.topic("orders", 12, shortDelay)
	w.ready(topic)
	w.mq.Watch(orders)
	w.mq.CreateGroup("CG")
	target := int32(12)
	for call := range 4 {
		target -= 2
		fault := w.mq.Inject(brokertest.Fault{Node: []string{"broker-a", "broker-b"}[call%2], Code: 17, Skip: call / 2, Times: 1, Do: brokertest.DelayReply()})
		for q := range int(target) + 2 {
			w.Expect(w.mq.Produce(orders, "broker-a", q, 1)).To(Succeed())
		}
		w.mq.Consume("CG", orders, 1000)
		w.resize(topic, target)
		w.Expect(fault.Await(w.ctx)).To(Succeed(), "call %d is on its way", call)
		w.stop()
		fault.Release()
		w.restart()
		w.asDeclared(topic)
		w.Expect(w.counts(orders)).To(Equal(fmt.Sprintf("broker-a r%[1]d w%[1]d broker-b r%[1]d w%[1]d ", target)))
		fault.Remove()
	}
	w.mq.RequireInvariants(t)
	w.mq.RequireAllDelivered(t, orders, "CG")
}

// Objects restored from a backup come without their status: that costs time,
// never messages (rules K02, K10).
func TestK10_LostStatusCostsTimeNotMessages(t *testing.T) {
	t.Parallel()
	// From 5.0 on, what a group without members took may have been popped, and a
	// drain waits a minute for it to come back.
	w := newWorld(t, brokertest.Options{Version: brokertest.V497})
	w.cluster()
	topic := w.topic("orders", 8, shortDelay)
	w.ready(topic)
	w.mq.Watch(orders)
	w.mq.CreateGroup("CG")
	w.Expect(w.mq.Produce(orders, "broker-b", 7, 2)).To(Succeed())
	w.mq.Commit("CG", orders, "broker-b", 7, 0)
	w.resize(topic, 4)
	w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, "")
	w.stop()
	base := topic.DeepCopy()
	topic.Status = v1alpha1.TopicStatus{ObservedGeneration: -1}
	w.Expect(w.client.Status().Patch(w.ctx, topic, client.MergeFrom(base))).To(Succeed())
	w.restart()
	w.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, "")
	w.mq.Consume("CG", orders, 1000)
	w.asDeclared(topic)
	w.mq.RequireInvariants(t)
	w.mq.RequireAllDelivered(t, orders, "CG")
}
