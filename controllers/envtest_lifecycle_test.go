// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/brokertest"
)

const orders = "TOPIC_ORDERS"

func withPolicyDelete(t *v1alpha1.Topic) { t.Spec.DeletionPolicy = v1alpha1.DeletionDelete }

// edit changes an object as kubectl would.
func edit[T client.Object](w *world, object T, change func(T)) {
	w.t.Helper()
	w.Eventually(func() error {
		if err := w.client.Get(w.ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return w.client.Update(w.ctx, object)
	}, patience).Should(Succeed())
}

func annotate(w *world, object client.Object, key, value string) {
	w.t.Helper()
	edit(w, object, func(o client.Object) {
		a := o.GetAnnotations()
		if a == nil {
			a = map[string]string{}
		}
		a[key] = value
		o.SetAnnotations(a)
	})
}

func (w *world) gone(object client.Object) {
	w.t.Helper()
	w.Eventually(func() bool {
		return apierrors.IsNotFound(w.client.Get(w.ctx, client.ObjectKeyFromObject(object), object))
	}, patience, 100*time.Millisecond).Should(BeTrue(), func() string { return dump(object) })
}

func (w *world) onBrokers(topic string) bool {
	for _, b := range w.mq.BrokerNames() {
		if _, there := w.mq.Broker(b).Topic(topic); !there {
			return false
		}
	}
	return true
}

func (w *world) ready(topic *v1alpha1.Topic) {
	w.t.Helper()
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAsNeeded)
}

func TestO01_O02_RetainIsTheDefaultAndNeedsNoFinalizer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 4)
	w.ready(topic)
	w.Expect(topic.Finalizers).To(BeEmpty(), "case O02: nothing blocks the namespace")
	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.gone(topic)
	w.Expect(w.onBrokers(orders)).To(BeTrue())
}

func TestK01_DeletePolicyDeletesWhatNobodyNeeds(t *testing.T) {
	for _, version := range brokertest.Versions() {
		t.Run(version.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brokertest.Options{Version: version})
			w.cluster()
			topic := w.topic("orders", 4, withPolicyDelete)
			w.ready(topic)
			w.Expect(topic.Finalizers).To(ContainElement(v1alpha1.Finalizer))
			w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
			w.gone(topic)
			for _, b := range w.mq.BrokerNames() {
				_, there := w.mq.Broker(b).Topic(orders)
				w.Expect(there).To(BeFalse())
			}
			for i := range w.mq.NameServerAddrs() {
				w.Expect(w.mq.NameServer(i).Route(orders)).To(BeEmpty(), "case O35: no route is left")
			}
		})
	}
}

func TestK01_UnreadMessagesNeedConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 4, withPolicyDelete)
	w.ready(topic)
	w.mq.CreateGroup("CG_POINTS")
	w.Expect(w.mq.Produce(orders, "broker-a", 1, 3)).To(Succeed())
	w.mq.Commit("CG_POINTS", orders, "broker-a", 1, 1)

	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.Eventually(func() string {
		_ = w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic)
		return dump(topic)
	}, patience).Should(And(ContainSubstring(v1alpha1.ReasonConfirmationNeeded), ContainSubstring("CG_POINTS"), ContainSubstring("broker-a"), ContainSubstring(v1alpha1.AnnotationConfirmDelete)))
	w.Expect(w.onBrokers(orders)).To(BeTrue())

	annotate(w, topic, v1alpha1.AnnotationConfirmDelete, "something else")
	w.Consistently(func() bool { return w.onBrokers(orders) }, 2*time.Second).Should(BeTrue())
	annotate(w, topic, v1alpha1.AnnotationConfirmDelete, orders)
	w.gone(topic)
	w.Expect(w.onBrokers(orders)).To(BeFalse())
}

func TestO08_PausedMeansNoWritesDeletionIncluded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	topic := w.topic("orders", 4, withPolicyDelete)
	w.ready(topic)
	annotate(w, topic, v1alpha1.AnnotationPaused, "true")
	w.is(topic, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused)
	observed := topic.Status.ObservedGeneration
	w.mq.Recorder().Reset()
	edit(w, topic, func(t *v1alpha1.Topic) { t.Spec.Queues.PerBroker = 8 })
	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.Consistently(func() []brokertest.Call { return w.mq.Recorder().Changing() }, 3*time.Second).Should(BeEmpty())
	w.Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic)).To(Succeed())
	w.Expect(topic.Status.ObservedGeneration).To(Equal(observed), "K07: observedGeneration does not move")
	w.Expect(dump(topic)).To(ContainSubstring("the deletion waits"))
	annotate(w, topic, v1alpha1.AnnotationPaused, "false")
	w.gone(topic)
	w.Expect(w.onBrokers(orders)).To(BeFalse())
}

func TestK02_FirstSightNeverShrinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.mq.CreateTopic(orders, 16, 16)
	w.mq.Recorder().Reset()
	w.cluster()
	topic := w.topic("orders", 4)
	w.is(topic, v1alpha1.ConditionAdoptedLarger, metav1.ConditionTrue, v1alpha1.ReasonAdoptedLarger)
	w.Consistently(func() []brokertest.Call { return w.mq.Recorder().Changing() }, 3*time.Second).Should(BeEmpty())

	edit(w, topic, func(t *v1alpha1.Topic) {
		t.Spec.Queues.PerBroker = 8
		t.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: second()}
	})
	w.is(topic, v1alpha1.ConditionAsDeclared, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared)
	config, _ := w.mq.Broker("broker-b").Topic(orders)
	w.Expect([]int{config.Read, config.Write}).To(Equal([]int{8, 8}))
}

func TestO05_DeletingTheHolderHandsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	first := w.topic("orders", 4, withPolicyDelete)
	w.ready(first)
	second := w.topic("orders-too", 8, withPolicyDelete, func(t *v1alpha1.Topic) { t.Spec.TopicName = orders })
	w.is(second, v1alpha1.ConditionConflict, metav1.ConditionTrue, v1alpha1.ReasonConflict)
	w.Expect(dump(second)).To(ContainSubstring(w.namespace + "/orders"))
	w.Expect(second.Status.Claim.UID).To(Equal(first.UID))

	w.mq.Recorder().Reset()
	w.Expect(w.client.Delete(w.ctx, first)).To(Succeed())
	w.gone(first)
	w.ready(second)
	w.Expect(second.Status.Claim.UID).To(Equal(second.UID))
	w.Expect(w.mq.Recorder().Count(brokertest.WithCode(215))).To(BeZero(), "nothing was deleted")
	config, _ := w.mq.Broker("broker-a").Topic(orders)
	w.Expect(config.Write).To(Equal(8))
}

func TestR19_TwoBrokerClustersForOneRocketMQConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	w.cluster()
	w.cluster(func(c *v1alpha1.BrokerCluster) { c.Name = "alias" })
	first := w.topic("orders", 4)
	w.ready(first)
	second := w.topic("orders-too", 8, func(t *v1alpha1.Topic) {
		t.Spec.TopicName, t.Spec.ClusterRef.Name = orders, "alias"
	})
	w.is(second, v1alpha1.ConditionConflict, metav1.ConditionTrue, v1alpha1.ReasonConflict)
	w.is(second, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConflict)
	config, _ := w.mq.Broker("broker-a").Topic(orders)
	w.Expect(config.Write).To(Equal(4))
}

func TestK12_MissingClusterReleasesOnlyAfterAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, brokertest.Options{})
	cluster := w.cluster()
	topic := w.topic("orders", 4, withPolicyDelete)
	w.ready(topic)
	w.Expect(w.client.Delete(w.ctx, cluster)).To(Succeed())
	w.is(topic, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBrokerClusterNotFound)
	w.Expect(w.client.Delete(w.ctx, topic)).To(Succeed())
	w.Consistently(func() error { return w.client.Get(w.ctx, client.ObjectKeyFromObject(topic), topic) }, 2*time.Second).Should(Succeed())
	annotate(w, topic, v1alpha1.AnnotationAbandon, string(topic.UID))
	w.gone(topic)
	w.Expect(w.onBrokers(orders)).To(BeTrue(), "released without acting")
	w.Eventually(func() []string { return w.events("Released") }, patience).ShouldNot(BeEmpty())
}

// events are the notes of the events with a reason in the world's namespace.
func (w *world) events(reason string) []string {
	list := &corev1.EventList{}
	w.Expect(w.client.List(w.ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		if e.Reason == reason {
			out = append(out, e.Message)
		}
	}
	return out
}

func second() *int64 { n := int64(1); return &n }
