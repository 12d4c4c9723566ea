// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
	schedulingv1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// podKey is the UID of a Pod.
type podKey = types.UID

// scheduler binds Pods to nodes: to the one with the fewest Pods of those that
// are ready, not cordoned, tolerated, and wanted by node selector and affinity.
// Resources, topology and affinity between Pods are not looked at. Every agent
// of a cluster runs one; when two bind the same Pod the API server lets one win.
type scheduler struct {
	client   kubernetes.Interface
	pods     corelisters.PodLister
	nodes    corelisters.NodeLister
	recorder record.EventRecorder
	log      logr.Logger
	wake     chan struct{}
	// assumed holds the nodes of Pods that were bound but are not yet seen so.
	assumed map[podKey]string
}

func (s *scheduler) run(ctx context.Context) {
	for {
		retry := time.Duration(1<<63 - 1)
		if err := s.pass(ctx); err != nil && ctx.Err() == nil {
			s.log.Error(err, "scheduling")
			retry = retryInterval
		}
		if !wait(ctx, s.wake, retry) {
			return
		}
	}
}

// pass binds every Pod that waits and fits somewhere.
func (s *scheduler) pass(ctx context.Context) error {
	pods, err := s.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing Pods: %w", err)
	}
	nodes, err := s.nodes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing Nodes: %w", err)
	}
	counts := s.count(pods)
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range pods {
		if _, bound := s.assumed[pod.UID]; bound || !waits(pod) {
			continue
		}
		node, reason := choose(pod, nodes, counts)
		if node == "" {
			err = s.refuse(ctx, pod, reason)
		} else if err = s.bind(ctx, pod, node); err == nil {
			s.assumed[pod.UID] = node
			counts[node]++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count returns how many Pods each node has, and forgets assumptions that came true.
func (s *scheduler) count(pods []*corev1.Pod) map[string]int {
	counts := map[string]int{}
	there := map[podKey]bool{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			delete(s.assumed, pod.UID)
			counts[pod.Spec.NodeName]++
		}
		there[pod.UID] = true
	}
	for uid, node := range s.assumed {
		if !there[uid] {
			delete(s.assumed, uid)
			continue
		}
		counts[node]++
	}
	return counts
}

// waits tells whether a Pod is to be scheduled, and by us.
func waits(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0 &&
		pod.Spec.SchedulerName == corev1.DefaultSchedulerName &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// choose returns the best node, or a sentence that says why there is none.
func choose(pod *corev1.Pod, nodes []*corev1.Node, counts map[string]int) (node, reason string) {
	var fitting []*corev1.Node
	reasons := map[string]int{}
	for _, n := range nodes {
		if why := misfit(pod, n, counts[n.Name]); why != "" {
			reasons[why]++
		} else {
			fitting = append(fitting, n)
		}
	}
	if len(fitting) == 0 {
		var all []string
		for why, n := range reasons {
			all = append(all, fmt.Sprintf("%d %s", n, why))
		}
		slices.Sort(all)
		return "", fmt.Sprintf("0/%d nodes are available: %q", len(nodes), all)
	}
	best := slices.MinFunc(fitting, func(a, b *corev1.Node) int {
		return cmp.Or(cmp.Compare(counts[a.Name], counts[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return best.Name, ""
}

func misfit(pod *corev1.Pod, node *corev1.Node, pods int) string {
	if !nodeReady(node) {
		return "node(s) were not ready"
	}
	if node.Spec.Unschedulable {
		return "node(s) were unschedulable"
	}
	blocking := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	if taint, found := schedulingv1.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints,
		pod.Spec.Tolerations, blocking, false); found {
		return fmt.Sprintf("node(s) had untolerated taint %s", taint.Key)
	}
	if match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !match {
		return "node(s) didn't match the node affinity or selector"
	}
	if int64(pods) >= node.Status.Allocatable.Pods().Value() {
		return "too many pods"
	}
	return ""
}

func (s *scheduler) bind(ctx context.Context, pod *corev1.Pod, node string) error {
	err := s.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // bound by another agent, or gone
	}
	if err != nil {
		return fmt.Errorf("binding Pod %s/%s to %s: %w", pod.Namespace, pod.Name, node, err)
	}
	s.recorder.Eventf(pod, corev1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, node)
	return nil
}

// refuse shows why a Pod stays pending, once for each reason.
func (s *scheduler) refuse(ctx context.Context, pod *corev1.Pod, reason string) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message == reason {
			return nil
		}
	}
	wanted := pod.DeepCopy()
	setCondition(&wanted.Status, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: corev1.PodReasonUnschedulable, Message: reason}, time.Now())
	patch, err := statusPatch(pod, wanted)
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("saying that Pod %s/%s fits no node: %w", pod.Namespace, pod.Name, err)
	}
	s.recorder.Event(pod, corev1.EventTypeWarning, "FailedScheduling", reason)
	return nil
}
