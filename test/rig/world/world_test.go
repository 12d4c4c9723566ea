// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package world_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// patience bounds waits for what takes seconds on a free machine.
const patience = 5 * time.Minute

// TestE2EWorld takes one world through what the demo and the end-to-end tests
// rest on: a topic appears on real brokers, clients note what they did, and the
// operator can be killed and comes back.
func TestE2EWorld(t *testing.T) {
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	programs, err := world.BuildClients(ctx, t.Output(), world.Go)
	g.Expect(err).NotTo(HaveOccurred())
	w, err := world.Start(ctx, world.Options{Dir: t.TempDir(), RocketMQ: rocketmq.Options{ClusterName: "shop"}, Log: t.Output(),
		Step: func(part string) func(error) {
			began := time.Now()
			return func(err error) { t.Logf("%s: %v, error %v", part, time.Since(began).Round(time.Millisecond), err) }
		}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(w.Stop()).To(Succeed()) })

	g.Expect(w.Namespace(ctx, "shop", nil)).To(Succeed())
	cluster := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}
	cluster.Spec.ClusterName = w.RocketMQ.Name
	for _, address := range w.RocketMQ.NameServerAddresses() {
		cluster.Spec.NameServers = append(cluster.Spec.NameServers, v1alpha1.Endpoint(address))
	}
	cluster.Spec.Timings = &v1alpha1.Timings{LongestRouteAgeSeconds: ptr.To(int32(33)), SettleSeconds: ptr.To(int32(5)), SweepSeconds: ptr.To(int32(2))}
	g.Expect(w.Client.Create(ctx, cluster)).To(Succeed())
	topic := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	topic.Spec.ClusterRef.Name = "shop"
	topic.Spec.TopicName = "TOPIC_ORDERS"
	topic.Spec.Queues.PerBroker = 8
	topic.Spec.Resize = &v1alpha1.Resize{LongestDelaySeconds: ptr.To(int64(1))}
	g.Expect(w.Client.Create(ctx, topic)).To(Succeed())
	g.Eventually(w.Condition).WithArguments(ctx, topic, v1alpha1.ConditionReady).Should(Equal(metav1.ConditionTrue), func() string { return world.Describe(topic) })

	producer, err := w.Deploy(ctx, world.Workload{Namespace: "shop", Name: "producer", Kind: world.Go, Program: programs[world.Go],
		Args: []string{"produce", "--topic=TOPIC_ORDERS", "--rate=50"}, Replicas: 1})
	g.Expect(err).NotTo(HaveOccurred())
	consumers, err := w.Deploy(ctx, world.Workload{Namespace: "shop", Name: "points", Kind: world.Go, Program: programs[world.Go],
		Args: []string{"consume", "--topic=TOPIC_ORDERS", "--group=CG_POINTS"}, Replicas: 2})
	g.Expect(err).NotTo(HaveOccurred())
	waiting, done := context.WithTimeout(ctx, patience)
	defer done()
	g.Expect(world.WaitReady(waiting, consumers, 2)).To(Succeed())
	g.Expect(world.WaitReady(waiting, producer, 1)).To(Succeed())
	g.Expect(consumers.Restarts(ctx)).To(BeZero())

	t.Run("the operator has the rights that config/ ships and no more", func(t *testing.T) { rights(t, w) })

	t.Run("a killed operator comes back and goes on", func(t *testing.T) {
		g := NewWithT(t)
		g.SetDefaultEventuallyTimeout(patience)
		first, err := w.Leader(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		w.Operator.Kill()
		g.Expect(w.Operator.Running()).To(BeFalse())
		g.Expect(w.Operator.Start(ctx)).To(Succeed())
		g.Eventually(w.Leader).WithArguments(ctx).ShouldNot(Or(BeEmpty(), Equal(first)))
		base := topic.DeepCopy()
		topic.Spec.Queues.PerBroker = 4
		g.Expect(w.Client.Patch(ctx, topic, world.MergeFrom(base))).To(Succeed())
		g.Eventually(w.Condition).WithArguments(ctx, topic, v1alpha1.ConditionAsDeclared).Should(Equal(metav1.ConditionTrue), func() string { return world.Describe(topic) })
		g.Expect(*topic.Status.ReadQueues).To(Equal(int32(4)))
	})

	ending, ended := context.WithTimeout(ctx, patience)
	defer ended()
	g.Expect(consumers.Restarts(ctx)).To(BeZero())
	g.Expect(world.End(ending, producer)).To(Succeed())
	g.Eventually(func(g Gomega) {
		all, err := ledger.ReadDir(w.LedgerDir("shop"))
		g.Expect(err).NotTo(HaveOccurred())
		counts := all.Count(ledger.Query{Topic: "TOPIC_ORDERS", Group: "CG_POINTS"})
		g.Expect(counts.Sent).To(BeNumerically(">", 0))
		g.Expect(counts.Lost).To(BeEmpty(), counts.String())
	}).Should(Succeed())
}

// rights asks as the operator what it may do.
func rights(t *testing.T, w *world.World) {
	g := NewWithT(t)
	config, err := clientcmd.BuildConfigFromFlags("", w.Operator.Kubeconfig())
	g.Expect(err).NotTo(HaveOccurred())
	clientset, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	for _, tc := range []struct {
		verb, group, resource, namespace string
		allowed                          bool
	}{
		{"patch", v1alpha1.GroupName, "topics", "shop", true},
		{"create", "", "configmaps", world.SystemNamespace, true},
		{"get", "", "secrets", "shop", true},
		{"list", "", "secrets", "shop", false},
		{"create", "", "configmaps", "shop", false},
		{"delete", v1alpha1.GroupName, "topics", "shop", false},
		{"create", v1alpha1.GroupName, "brokerclusters", "shop", false},
		{"get", "apps", "deployments", "shop", false},
	} {
		review, err := clientset.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: tc.verb, Group: tc.group, Resource: tc.resource, Namespace: tc.namespace}}}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(review.Status.Allowed).To(Equal(tc.allowed), "%s %s in %s", tc.verb, tc.resource, tc.namespace)
	}
}
