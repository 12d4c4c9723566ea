// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

func waiting(reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

func running(ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func ended(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

// backingOff waits after an end with the code given.
func backingOff(code int32) corev1.ContainerStatus {
	s := waiting("CrashLoopBackOff")
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code}
	return s
}

func podOf(policy corev1.RestartPolicy, containers ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web-0", UID: "uid", Generation: 3},
		Spec: corev1.PodSpec{RestartPolicy: policy}}
	for _, name := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: name + ":1"})
	}
	return pod
}

func TestPhase(t *testing.T) {
	const always, onFailure, never = corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever
	for _, tc := range []struct {
		name          string
		policy        corev1.RestartPolicy
		initializing  bool
		stopped       bool
		init, a, b    *corev1.ContainerStatus
		before, phase corev1.PodPhase
	}{
		{name: "nothing yet", policy: always, initializing: true, phase: corev1.PodPending},
		{name: "init runs", policy: always, initializing: true, init: new(running(false)), phase: corev1.PodPending},
		{name: "init failed and is tried again", policy: always, initializing: true, init: new(backingOff(1)), phase: corev1.PodPending},
		{name: "init failed for good", policy: never, initializing: true, init: new(ended(1)), phase: corev1.PodFailed},
		{name: "stopped before it began", policy: always, initializing: true, stopped: true, phase: corev1.PodFailed},
		{name: "not yet started", policy: always, phase: corev1.PodPending},
		{name: "one started", policy: always, a: new(running(true)), phase: corev1.PodPending},
		{name: "one cannot be started", policy: always, a: new(running(true)), b: new(waiting("CreateContainerConfigError")), phase: corev1.PodPending},
		{name: "both run", policy: always, a: new(running(true)), b: new(running(false)), phase: corev1.PodRunning},
		{name: "one backs off", policy: always, a: new(running(true)), b: new(backingOff(1)), phase: corev1.PodRunning},
		{name: "both back off", policy: always, a: new(backingOff(1)), b: new(backingOff(0)), phase: corev1.PodRunning},
		{name: "ended, always", policy: always, a: new(ended(0)), b: new(ended(0)), phase: corev1.PodRunning},
		{name: "ended well", policy: never, a: new(ended(0)), b: new(ended(0)), phase: corev1.PodSucceeded},
		{name: "one ended well", policy: never, a: new(ended(0)), b: new(running(true)), phase: corev1.PodRunning},
		{name: "one ended badly", policy: never, a: new(ended(0)), b: new(ended(1)), phase: corev1.PodFailed},
		{name: "ended well, on failure", policy: onFailure, a: new(ended(0)), b: new(ended(0)), phase: corev1.PodSucceeded},
		{name: "ended badly, on failure", policy: onFailure, a: new(ended(0)), b: new(ended(1)), phase: corev1.PodRunning},
		{name: "deleted, ended well", policy: always, stopped: true, a: new(ended(0)), b: new(ended(0)), phase: corev1.PodSucceeded},
		{name: "deleted, killed", policy: always, stopped: true, a: new(ended(0)), b: new(ended(137)), phase: corev1.PodFailed},
		{name: "deleted, one never ran", policy: always, stopped: true, a: new(ended(0)), phase: corev1.PodFailed},
		{name: "over for ever", policy: always, a: new(running(true)), b: new(running(true)), before: corev1.PodFailed, phase: corev1.PodFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := podOf(tc.policy, "a", "b")
			pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			pod.Status.Phase = tc.before
			f := facts{initialized: !tc.initializing, stopped: tc.stopped, containers: map[string]corev1.ContainerStatus{}}
			for name, status := range map[string]*corev1.ContainerStatus{"init": tc.init, "a": tc.a, "b": tc.b} {
				if status != nil {
					f.containers[name] = *status
				}
			}
			NewWithT(t).Expect(phase(pod, f)).To(Equal(tc.phase))
		})
	}
}

func conditionOf(status corev1.PodStatus, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestConditions(t *testing.T) {
	g := NewWithT(t)
	pod := podOf(corev1.RestartPolicyAlways, "a", "b")
	f := facts{who: identity{podIP: "127.10.0.7", hostIP: "127.0.0.1"}, initialized: true,
		containers: map[string]corev1.ContainerStatus{"a": running(true), "b": running(false)}}
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status := podStatus(pod, f, t0)
	g.Expect(conditionOf(status, corev1.PodReady)).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "ContainersNotReady"),
		HaveField("Message", "containers with unready status: [b]"), HaveField("ObservedGeneration", int64(3))))
	g.Expect(conditionOf(status, corev1.PodInitialized).Status).To(Equal(corev1.ConditionTrue))
	g.Expect(status.PodIPs).To(Equal([]corev1.PodIP{{IP: "127.10.0.7"}}))
	g.Expect(status.ContainerStatuses[1]).To(And(HaveField("Name", "b"), HaveField("Image", "b:1")))

	// Ready: only the conditions that changed get a new time.
	pod.Status = status
	f.containers["b"] = running(true)
	status = podStatus(pod, f, t0.Add(time.Minute))
	g.Expect(conditionOf(status, corev1.PodReady)).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Reason", ""),
		HaveField("LastTransitionTime.Time", t0.Add(time.Minute))))
	g.Expect(conditionOf(status, corev1.PodInitialized).LastTransitionTime.Time).To(Equal(t0))

	// A readiness gate that somebody else has to open, whose condition stays.
	pod.Status = status
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	status = podStatus(pod, f, t0)
	g.Expect(conditionOf(status, corev1.PodReady).Reason).To(Equal("ReadinessGatesNotReady"))
	g.Expect(conditionOf(status, corev1.ContainersReady).Status).To(Equal(corev1.ConditionTrue))
	pod.Status = status
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "example.com/gate", Status: corev1.ConditionTrue, Reason: "Mine"})
	status = podStatus(pod, f, t0)
	g.Expect(conditionOf(status, corev1.PodReady).Status).To(Equal(corev1.ConditionTrue))
	g.Expect(conditionOf(status, "example.com/gate").Reason).To(Equal("Mine"))

	// Over.
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	f.containers["a"], f.containers["b"] = ended(0), ended(0)
	status = podStatus(pod, f, t0)
	g.Expect(conditionOf(status, corev1.PodReady)).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "PodCompleted")))
}

func TestContainersNotReachedYetAreWaiting(t *testing.T) {
	g := NewWithT(t)
	pod := podOf(corev1.RestartPolicyAlways, "a")
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	status := podStatus(pod, facts{containers: map[string]corev1.ContainerStatus{"init": running(false)}}, time.Now())
	g.Expect(status.ContainerStatuses[0].State.Waiting.Reason).To(Equal("PodInitializing"))
	g.Expect(*status.ContainerStatuses[0].Started).To(BeFalse())
	g.Expect(conditionOf(status, corev1.PodInitialized).Message).To(Equal("containers with incomplete status: [init]"))
	g.Expect(status.PodIP).To(BeEmpty())
}

// A second look at the same facts must write nothing.
func TestStatusIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SampledFrom([]corev1.ContainerStatus{waiting("x"), running(true), running(false), ended(0), ended(1), backingOff(1)})
		pod := podOf(rapid.SampledFrom([]corev1.RestartPolicy{"Always", "Never", "OnFailure"}).Draw(t, "policy"), "a", "b")
		f := facts{who: identity{podIP: "127.10.0.1", hostIP: "127.0.0.1"}, startTime: metav1.Now(),
			initialized: rapid.Bool().Draw(t, "initialized"), stopped: rapid.Bool().Draw(t, "stopped"),
			containers: map[string]corev1.ContainerStatus{"a": draw.Draw(t, "a"), "b": draw.Draw(t, "b")}}
		first := pod.DeepCopy()
		first.Status = podStatus(pod, f, time.Now())
		second := first.DeepCopy()
		second.Status = podStatus(first, f, time.Now().Add(time.Hour))
		if patch, err := statusPatch(first, second); err != nil || patch != nil {
			t.Fatalf("a second look patches %s (%v)", patch, err)
		}
		ready := conditionOf(first.Status, corev1.PodReady).Status == corev1.ConditionTrue
		if all := f.containers["a"].Ready && f.containers["b"].Ready; ready && !all {
			t.Fatalf("ready, with containers %+v", f.containers)
		}
	})
}

func TestStatusPatchNamesTheUIDAndClearsFields(t *testing.T) {
	g := NewWithT(t)
	from, to := podOf("Always", "a"), podOf("Always", "a")
	from.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}}
	to.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	patch, err := statusPatch(from, to)
	g.Expect(err).NotTo(HaveOccurred())
	var content struct {
		Metadata struct{ UID string }
		Status   struct{ Conditions []map[string]any }
	}
	g.Expect(json.Unmarshal(patch, &content)).To(Succeed())
	g.Expect(content.Metadata.UID).To(Equal("uid"))
	g.Expect(content.Status.Conditions).To(ConsistOf(And(HaveKeyWithValue("type", "Ready"), HaveKeyWithValue("reason", BeNil()))))
}

func TestStateKeepsTheNewerObject(t *testing.T) {
	g := NewWithT(t)
	version := func(v string) *corev1.Pod {
		pod := podOf("Always", "a")
		pod.ResourceVersion = v
		return pod
	}
	s := newPodState(version("9"), facts{})
	s.see(version("10"))
	g.Expect(s.newest().ResourceVersion).To(Equal("10"), "as a number, not as text")
	s.see(version("9"))
	g.Expect(s.newest().ResourceVersion).To(Equal("10"))
	g.Expect(s.changed).To(Receive())
	g.Expect(s.changed).NotTo(Receive(), "two changes are one signal")
	_, snapshot := s.snapshot()
	s.container("a", func(c *corev1.ContainerStatus) { c.RestartCount = 5 })
	g.Expect(snapshot.containers).To(BeEmpty(), "a snapshot stays as it was")
}
