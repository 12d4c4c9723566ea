// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package nodeagent_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/test/rig/nodeagent"
)

func TestNodeAgent(t *testing.T) {
	t.Setenv("LOCKSTEP_NOT_INHERITED", "1") // see testEnvironment
	r := newRig(t)
	t.Run("pods", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, space){
			"Deployment":          testDeployment,
			"StatefulSet":         testStatefulSet,
			"Environment":         testEnvironment,
			"ConfigMapVolume":     testConfigMapVolume,
			"WaitsForReferences":  testWaitsForReferences,
			"InitContainers":      testInitContainers,
			"Restarts":            testRestarts,
			"Liveness":            testLiveness,
			"Phases":              testPhases,
			"GracefulStop":        testGracefulStop,
			"KilledAfterGrace":    testKilledAfterGrace,
			"ForcedDeletion":      testForcedDeletion,
			"SchedulingGates":     testSchedulingGates,
			"ServiceAccount":      testServiceAccount,
			"Logs":                testLogs,
			"WhatIsNotSupported":  testUnsupported,
			"ExecAndTCPReadiness": testExecAndTCPReadiness,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, r.space(t))
			})
		}
	})
	t.Run("Cordon", func(t *testing.T) { testCordon(t, r.space(t)) })
	t.Run("ANewAgentTakesOver", func(t *testing.T) { testNewAgent(t, r.space(t)) })
}

// testNewAgent stops the agent of the rig: it has to be the last.
func testNewAgent(t *testing.T, s space) {
	s.makePod("web", corev1.PodSpec{Containers: []corev1.Container{s.webContainer()}})
	before := s.eventually("web", toBeReady)
	pids := s.agent.PIDs()
	s.Expect(pids).NotTo(BeEmpty())

	s.Expect(s.agent.Stop(patience)).To(Succeed())
	for _, pid := range pids {
		s.Expect(gone(pid)).To(BeTrue(), "pid %d", pid)
	}
	s.Expect(s.agent.PIDs()).To(BeEmpty())
	_, err := get(s.ctx, before, "/ready")
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.log(before, "web", 0)).To(HaveSuffix("bye\n"), "the stop was graceful")
	s.Expect(isReady(s.pod("web"))).To(BeTrue(), "as on a lost node, nothing is written")
	folders, err := os.ReadDir(filepath.Join(s.dir, "node", "pods"))
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(folders).To(BeEmpty())

	second, err := nodeagent.Start(s.ctx, s.options(t))
	s.Expect(err).NotTo(HaveOccurred())
	defer func() { s.Expect(second.Stop(0)).To(Succeed()) }()
	after := s.eventually("web", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.ContainerStatuses[0].RestartCount).To(Equal(int32(1)))
		toBeReady(g, pod)
	})
	s.Expect(after.UID).To(Equal(before.UID))
	_, err = get(s.ctx, after, "/ready")
	s.Expect(err).NotTo(HaveOccurred())
}

func testCordon(_ *testing.T, s space) {
	_, err := s.run("cordon", s.agent.NodeName())
	s.Expect(err).NotTo(HaveOccurred())
	s.makePod("sh", corev1.PodSpec{Containers: []corev1.Container{sh("sh", "exec sleep 600")}})
	pod := s.eventually("sh", func(g Gomega, pod *corev1.Pod) {
		g.Expect(pod.Status.Conditions).NotTo(BeEmpty())
	})
	s.Expect(pod.Spec.NodeName).To(BeEmpty())
	s.Expect(pod.Status.Conditions[0].Reason).To(Equal(corev1.PodReasonUnschedulable))
	s.Expect(pod.Status.Conditions[0].Message).To(Equal(`0/1 nodes are available: ["1 node(s) were unschedulable"]`))
	_, err = s.run("uncordon", s.agent.NodeName())
	s.Expect(err).NotTo(HaveOccurred())
	s.eventually("sh", toBeReady)
}

func testSchedulingGates(_ *testing.T, s space) {
	s.makePod("gated", corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/wait"}},
		Containers: []corev1.Container{sh("sh", "exec sleep 600")}})
	// Made later and running: the scheduler has looked at both.
	s.makePod("free", corev1.PodSpec{Containers: []corev1.Container{sh("sh", "exec sleep 600")}})
	s.eventually("free", toBeReady)
	gated := s.pod("gated")
	s.Expect(gated.Spec.NodeName).To(BeEmpty())
	gated.Spec.SchedulingGates = nil
	_, err := s.client.CoreV1().Pods(s.name).Update(s.ctx, gated, metav1.UpdateOptions{})
	s.Expect(err).NotTo(HaveOccurred())
	s.eventually("gated", toBeReady)
}
