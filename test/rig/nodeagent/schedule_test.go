// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"errors"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

func nodeOf(name string, change ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	for _, c := range change {
		c(node)
	}
	return node
}

func tainted(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: effect}} }
}

func TestChoose(t *testing.T) {
	notReady := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	cordoned := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	plain := corev1.PodSpec{}
	for _, tc := range []struct {
		name   string
		spec   corev1.PodSpec
		nodes  []*corev1.Node
		counts map[string]int
		want   string
		reason string
	}{
		{"the first of equals", plain, []*corev1.Node{nodeOf("b"), nodeOf("a")}, nil, "a", ""},
		{"the one with fewest Pods", plain, []*corev1.Node{nodeOf("a"), nodeOf("b")}, map[string]int{"a": 1}, "b", ""},
		{"no node", plain, nil, nil, "", `0/0 nodes are available: []`},
		{"none that fits", plain, []*corev1.Node{nodeOf("a", notReady), nodeOf("b", cordoned), nodeOf("c", cordoned), nodeOf("d")}, map[string]int{"d": 3}, "",
			`0/4 nodes are available: ["1 node(s) were not ready" "1 too many pods" "2 node(s) were unschedulable"]`},
		{"a taint", plain, []*corev1.Node{nodeOf("a", tainted("NoSchedule"))}, nil, "", `0/1 nodes are available: ["1 node(s) had untolerated taint k"]`},
		{"a taint that evicts", plain, []*corev1.Node{nodeOf("a", tainted("NoExecute"))}, nil, "", `0/1 nodes are available: ["1 node(s) had untolerated taint k"]`},
		{"a taint that only prefers", plain, []*corev1.Node{nodeOf("a", tainted("PreferNoSchedule"))}, nil, "a", ""},
		{"a taint that is tolerated", corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "k", Operator: "Exists"}}},
			[]*corev1.Node{nodeOf("a", tainted("NoSchedule"))}, nil, "a", ""},
		{"a selector", corev1.PodSpec{NodeSelector: map[string]string{"name": "b"}}, []*corev1.Node{nodeOf("a"), nodeOf("b")}, map[string]int{"b": 2}, "b", ""},
		{"a selector nobody has", corev1.PodSpec{NodeSelector: map[string]string{"name": "z"}}, []*corev1.Node{nodeOf("a")}, nil, "",
			`0/1 nodes are available: ["1 node(s) didn't match the node affinity or selector"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			node, reason := choose(&corev1.Pod{Spec: tc.spec}, tc.nodes, tc.counts)
			g.Expect(node).To(Equal(tc.want))
			g.Expect(reason).To(Equal(tc.reason))
		})
	}
}

func TestWhichPodsWait(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"pending":           {func(*corev1.Pod) {}, true},
		"bound":             {func(p *corev1.Pod) { p.Spec.NodeName = "a" }, false},
		"being deleted":     {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, false},
		"gated":             {func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }, false},
		"another scheduler": {func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }, false},
		"over":              {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName}}
			tc.change(pod)
			NewWithT(t).Expect(waits(pod)).To(Equal(tc.want))
		})
	}
}

// schedulerOf returns a scheduler whose caches hold the objects given, and its client.
func schedulerOf(t *testing.T, nodes []*corev1.Node, pods ...*corev1.Pod) (*scheduler, *fake.Clientset, cache.Indexer) {
	t.Helper()
	podCache := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	nodeCache := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	client := fake.NewClientset()
	for _, pod := range pods {
		if err := errors.Join(podCache.Add(pod), client.Tracker().Add(pod)); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range nodes {
		if err := nodeCache.Add(node); err != nil {
			t.Fatal(err)
		}
	}
	return &scheduler{client: client, pods: corelisters.NewPodLister(podCache), nodes: corelisters.NewNodeLister(nodeCache),
		recorder: record.NewFakeRecorder(100), log: logr.Discard(), wake: make(chan struct{}, 1), assumed: map[podKey]string{}}, client, podCache
}

func pendingPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName}}
}

func bindings(client *fake.Clientset) []string {
	var all []string
	for _, action := range client.Actions() {
		if create, ok := action.(clienttesting.CreateAction); ok && action.GetSubresource() == "binding" {
			b := create.GetObject().(*corev1.Binding)
			all = append(all, b.Name+"->"+b.Target.Name)
		}
	}
	return all
}

func TestAPassSpreadsPodsAndDoesNotBindTwice(t *testing.T) {
	g := NewWithT(t)
	s, client, podCache := schedulerOf(t, []*corev1.Node{nodeOf("a"), nodeOf("b")}, pendingPod("1"), pendingPod("2"), pendingPod("3"))
	g.Expect(s.pass(t.Context())).To(Succeed())
	want := []string{"1->a", "2->b", "3->a"}
	g.Expect(bindings(client)).To(Equal(want))
	// The cache is behind: the Pods still look pending.
	g.Expect(s.pass(t.Context())).To(Succeed())
	g.Expect(bindings(client)).To(Equal(want))
	g.Expect(s.assumed).To(HaveLen(3))
	// It catches up: one was bound, one is gone.
	bound := pendingPod("1")
	bound.Spec.NodeName = "a"
	g.Expect(podCache.Update(bound)).To(Succeed())
	g.Expect(podCache.Delete(pendingPod("3"))).To(Succeed())
	g.Expect(podCache.Add(pendingPod("4"))).To(Succeed())
	g.Expect(s.pass(t.Context())).To(Succeed())
	g.Expect(bindings(client)).To(Equal(append(want, "4->a")), "a has 1, b has 2 (assumed)")
	g.Expect(s.assumed).To(HaveLen(2))
}

func TestAPodThatFitsNowhereIsToldOnce(t *testing.T) {
	g := NewWithT(t)
	s, client, podCache := schedulerOf(t, nil, pendingPod("1"))
	g.Expect(s.pass(t.Context())).To(Succeed())
	pod, err := client.CoreV1().Pods("ns").Get(t.Context(), "1", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pod.Status.Conditions).To(ConsistOf(And(HaveField("Type", corev1.PodScheduled), HaveField("Status", corev1.ConditionFalse),
		HaveField("Reason", "Unschedulable"), HaveField("Message", "0/0 nodes are available: []"))))
	g.Expect(podCache.Update(pod)).To(Succeed())
	before := len(client.Actions())
	g.Expect(s.pass(t.Context())).To(Succeed())
	g.Expect(client.Actions()).To(HaveLen(before), "nothing new to say")
}

func TestBindErrors(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"another agent was faster": {apierrors.NewConflict(pods, "1", errors.New("already assigned")), ""},
		"the Pod is gone":          {apierrors.NewNotFound(pods, "1"), ""},
		"anything else":            {apierrors.NewInternalError(errors.New("boom")), "binding Pod ns/1 to a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, client, _ := schedulerOf(t, []*corev1.Node{nodeOf("a")}, pendingPod("1"))
			client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			err := s.pass(t.Context())
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				g.Expect(s.assumed).To(BeEmpty(), "it is tried again")
			}
		})
	}
}
