// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// podState is what is known about one Pod: the newest object seen and the facts
// that the agent makes itself.
type podState struct {
	// changed has room for one signal, so that no change is missed.
	changed chan struct{}

	mu    sync.Mutex
	pod   *corev1.Pod
	facts facts
}

func newPodState(pod *corev1.Pod, f facts) *podState {
	f.containers = map[string]corev1.ContainerStatus{}
	return &podState{changed: make(chan struct{}, 1), pod: pod, facts: f}
}

// signal wakes the receiver of a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// see takes a newer version of the object. Answers to writes and watch events
// arrive in any order; older ones are dropped.
func (s *podState) see(pod *corev1.Pod) {
	s.mu.Lock()
	order, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, s.pod.ResourceVersion)
	if err != nil || order > 0 {
		s.pod = pod
	}
	s.mu.Unlock()
	signal(s.changed)
}

func (s *podState) newest() *corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pod
}

// update changes the facts.
func (s *podState) update(change func(*facts)) {
	s.mu.Lock()
	change(&s.facts)
	s.mu.Unlock()
	signal(s.changed)
}

// container changes the status of one container.
func (s *podState) container(name string, change func(*corev1.ContainerStatus)) {
	s.update(func(f *facts) {
		status := f.containers[name]
		change(&status)
		f.containers[name] = status
	})
}

// snapshot returns the newest object and a copy of the facts.
func (s *podState) snapshot() (*corev1.Pod, facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pod, s.facts.clone()
}
