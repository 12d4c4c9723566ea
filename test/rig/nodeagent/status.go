// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// facts is what the agent knows about a Pod. The status is computed from it.
type facts struct {
	who       identity
	startTime metav1.Time
	// initialized is true when every init container has succeeded.
	initialized bool
	// stopped is true when the agent ended the containers because the Pod is
	// being deleted: no container will be started again.
	stopped bool
	// containers holds the status of init and other containers by name; a name
	// that is missing was not reached yet.
	containers map[string]corev1.ContainerStatus
}

func (f facts) clone() facts {
	f.containers = maps.Clone(f.containers)
	return f
}

// podStatus returns the status of a Pod: that of old, with everything a kubelet
// is in charge of computed anew. Conditions of others stay.
func podStatus(pod *corev1.Pod, f facts, now time.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.ObservedGeneration = pod.Generation
	status.StartTime = &f.startTime
	status.HostIP, status.HostIPs = f.who.hostIP, []corev1.HostIP{{IP: f.who.hostIP}}
	if f.who.podIP != "" {
		status.PodIP, status.PodIPs = f.who.podIP, []corev1.PodIP{{IP: f.who.podIP}}
	}
	status.InitContainerStatuses = containerStatuses(pod.Spec.InitContainers, f)
	status.ContainerStatuses = containerStatuses(pod.Spec.Containers, f)
	status.Phase = phase(pod, f)
	for _, condition := range conditions(pod, status, f) {
		setCondition(&status, condition, now)
	}
	return status
}

func containerStatuses(containers []corev1.Container, f facts) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, c := range containers {
		status, known := f.containers[c.Name]
		if !known {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
			status.Started = new(bool)
		}
		status.Name, status.Image, status.ImageID = c.Name, c.Image, c.Image
		all = append(all, status)
	}
	return all
}

// phase follows the rules of the kubelet.
func phase(pod *corev1.Pod, f facts) corev1.PodPhase {
	if done := pod.Status.Phase; done == corev1.PodSucceeded || done == corev1.PodFailed {
		return done // for ever
	}
	never := pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	if !f.initialized {
		if f.stopped || never && anyFailed(pod.Spec.InitContainers, f) {
			return corev1.PodFailed
		}
		return corev1.PodPending
	}
	var waiting, running, ended int
	for _, c := range pod.Spec.Containers {
		status := f.containers[c.Name]
		switch {
		case status.State.Running != nil:
			running++
		case status.State.Terminated != nil, status.LastTerminationState.Terminated != nil:
			ended++
		default:
			waiting++
		}
	}
	switch {
	case f.stopped && running == 0:
		// Nothing is started again, so the Pod is over whatever its policy.
		return outcome(pod, f, waiting == 0)
	case waiting > 0:
		return corev1.PodPending
	case running > 0 || ended == 0:
		return corev1.PodRunning
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case !anyFailed(pod.Spec.Containers, f):
		return corev1.PodSucceeded
	case never:
		return corev1.PodFailed
	}
	return corev1.PodRunning // OnFailure: it is going to be started again
}

func outcome(pod *corev1.Pod, f facts, all bool) corev1.PodPhase {
	if all && !anyFailed(pod.Spec.Containers, f) {
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}

// anyFailed is true when a container's last end was not a success.
func anyFailed(containers []corev1.Container, f facts) bool {
	for _, c := range containers {
		status := f.containers[c.Name]
		end := status.State.Terminated
		if end == nil {
			end = status.LastTerminationState.Terminated
		}
		if end != nil && end.ExitCode != 0 {
			return true
		}
	}
	return false
}

func conditions(pod *corev1.Pod, status corev1.PodStatus, f facts) []corev1.PodCondition {
	initialized := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	if !f.initialized {
		initialized = corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionFalse,
			Reason: "ContainersNotInitialized", Message: "containers with incomplete status: " + names(status.InitContainerStatuses)}
	}
	containersReady := readiness(corev1.ContainersReady, status)
	ready := readiness(corev1.PodReady, status)
	if ready.Status == corev1.ConditionTrue {
		ready = gated(ready, pod)
	}
	sandbox := corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: conditionStatus(f.who.podIP != "" && !f.stopped)}
	return []corev1.PodCondition{sandbox, initialized, containersReady, ready}
}

func readiness(kind corev1.PodConditionType, status corev1.PodStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse}
	switch status.Phase {
	case corev1.PodSucceeded:
		c.Reason = "PodCompleted"
		return c
	case corev1.PodFailed:
		c.Reason = "PodFailed"
		return c
	}
	if unready := names(status.ContainerStatuses); unready != "[]" {
		c.Reason, c.Message = "ContainersNotReady", "containers with unready status: "+unready
		return c
	}
	c.Status = corev1.ConditionTrue
	return c
}

// gated keeps a Pod from being ready until the conditions named by its readiness
// gates, which others set, are true.
func gated(ready corev1.PodCondition, pod *corev1.Pod) corev1.PodCondition {
	for _, gate := range pod.Spec.ReadinessGates {
		if !hasTrue(pod.Status.Conditions, gate.ConditionType) {
			ready.Status, ready.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
			ready.Message = fmt.Sprintf("the status of pod readiness gate %q is not \"True\"", gate.ConditionType)
			return ready
		}
	}
	return ready
}

func hasTrue(conditions []corev1.PodCondition, kind corev1.PodConditionType) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// names lists the containers that are not ready, as "[a b]".
func names(statuses []corev1.ContainerStatus) string {
	var unready []string
	for _, s := range statuses {
		if !s.Ready {
			unready = append(unready, s.Name)
		}
	}
	return "[" + strings.Join(unready, " ") + "]"
}

func conditionStatus(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// setCondition keeps the transition time of a condition whose status stays.
func setCondition(status *corev1.PodStatus, c corev1.PodCondition, now time.Time) {
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	c.ObservedGeneration = status.ObservedGeneration
	for i, old := range status.Conditions {
		if old.Type == c.Type {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			status.Conditions[i] = c
			return
		}
	}
	status.Conditions = append(status.Conditions, c)
}
