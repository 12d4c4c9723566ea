// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package nodeagent_test

import (
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

func selected() metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func (s space) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selected().MatchLabels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{s.webContainer()}}}
}

func (s space) pods() []corev1.Pod {
	list, err := s.client.CoreV1().Pods(s.name).List(s.ctx, metav1.ListOptions{LabelSelector: "app=web"})
	s.Expect(err).NotTo(HaveOccurred())
	return list.Items
}

// history keeps every change of the Pods of a test, as a watcher sees them.
type history struct {
	mu     sync.Mutex
	events []watch.Event
}

func (h *history) all() []watch.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// follow begins a history that ends with the test.
func (s space) follow(t *testing.T) *history {
	list, err := s.client.CoreV1().Pods(s.name).List(s.ctx, metav1.ListOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	watcher, err := s.client.CoreV1().Pods(s.name).Watch(s.ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	s.Expect(err).NotTo(HaveOccurred())
	h, done := &history{}, make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			h.mu.Lock()
			h.events = append(h.events, event)
			h.mu.Unlock()
		}
	}()
	t.Cleanup(func() { watcher.Stop(); <-done })
	return h
}

// order lists when each Pod was made, became ready for the first time, and was gone.
func (h *history) order() []string {
	var order []string
	for _, event := range h.all() {
		pod := event.Object.(*corev1.Pod)
		change := pod.Name + " made"
		switch {
		case event.Type == watch.Deleted:
			change = pod.Name + " gone"
		case isReady(pod):
			change = pod.Name + " ready"
		}
		if !slices.Contains(order, change) {
			order = append(order, change)
		}
	}
	return order
}

// readyRange returns the least and the most Pods that were ready at a time,
// beginning with those given.
func (h *history) readyRange(before []corev1.Pod) (least, most int) {
	ready := map[types.UID]bool{}
	for _, pod := range before {
		if isReady(&pod) {
			ready[pod.UID] = true
		}
	}
	least, most = len(ready), len(ready)
	for _, event := range h.all() {
		pod := event.Object.(*corev1.Pod)
		delete(ready, pod.UID)
		if event.Type != watch.Deleted && isReady(pod) && pod.DeletionTimestamp == nil {
			ready[pod.UID] = true
		}
		least, most = min(least, len(ready)), max(most, len(ready))
	}
	return least, most
}

func testDeployment(t *testing.T, s space) {
	deployments := s.client.AppsV1().Deployments(s.name)
	_, err := deployments.Create(s.ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Selector: new(selected()), Template: s.template(),
			Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0))}}},
	}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	available := func(replicas int32) {
		s.Eventually(func(g Gomega) {
			d, err := deployments.Get(s.ctx, "web", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
			g.Expect(d.Status).To(And(HaveField("Replicas", replicas), HaveField("UpdatedReplicas", replicas), HaveField("AvailableReplicas", replicas)))
			g.Expect(s.pods()).To(HaveLen(int(replicas)))
		}, patience).Should(Succeed())
	}
	available(3)
	addresses := map[string]bool{}
	for _, pod := range s.pods() {
		addresses[pod.Status.PodIP] = true
		s.Expect(s.environ(&pod)["POD_IP"]).To(Equal(pod.Status.PodIP))
	}
	s.Expect(addresses).To(HaveLen(3))

	before, seen := s.pods(), s.follow(t)
	output, err := s.run("set", "env", "deployment/web", "VERSION=2")
	s.Expect(err).NotTo(HaveOccurred(), output)
	output, err = s.run("rollout", "status", "deployment/web", "--timeout=2m")
	s.Expect(err).NotTo(HaveOccurred(), output)
	available(3)
	least, most := seen.readyRange(before)
	s.Expect(least).To(Equal(3), "maxUnavailable 0")
	s.Expect(most).To(Equal(4), "maxSurge 1")
	for _, pod := range s.pods() {
		s.Expect(s.environ(&pod)["VERSION"]).To(Equal("2"))
	}

	output, err = s.run("scale", "deployment/web", "--replicas=1")
	s.Expect(err).NotTo(HaveOccurred(), output)
	available(1)

	old := s.pods()[0]
	output, err = s.run("delete", "pod", old.Name)
	s.Expect(err).NotTo(HaveOccurred(), output)
	available(1)
	s.Expect(s.pods()[0].UID).NotTo(Equal(old.UID))
	s.Expect(s.log(&old, "web", 0)).To(HaveSuffix("stopping\nbye\n"))
}

func testStatefulSet(t *testing.T, s space) {
	seen := s.follow(t)
	sets := s.client.AppsV1().StatefulSets(s.name)
	_, err := sets.Create(s.ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.StatefulSetSpec{Replicas: new(int32(3)), Selector: new(selected()), ServiceName: "web", Template: s.template()},
	}, metav1.CreateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	toHave := func(replicas int32) {
		s.Eventually(func(g Gomega) {
			set, err := sets.Get(s.ctx, "web", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(set.Status.ObservedGeneration).To(Equal(set.Generation))
			g.Expect(set.Status).To(And(HaveField("Replicas", replicas), HaveField("AvailableReplicas", replicas)))
			g.Expect(s.pods()).To(HaveLen(int(replicas)))
		}, patience).Should(Succeed())
	}
	toHave(3)
	output, err := s.run("scale", "statefulset/web", "--replicas=1")
	s.Expect(err).NotTo(HaveOccurred(), output)
	toHave(1)
	// The watcher may be a moment behind.
	s.Eventually(seen.order, patience).Should(Equal([]string{
		"web-0 made", "web-0 ready", "web-1 made", "web-1 ready", "web-2 made", "web-2 ready", "web-2 gone", "web-1 gone"}))
}
