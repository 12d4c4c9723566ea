// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
)

const patience = 2 * time.Minute

const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: idle, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: idle}}
  template:
    metadata: {labels: {app: idle}}
    spec:
      containers:
      - name: idle
        image: none
        # A child that would outlive its parent, and that ignores being asked.
        command: [sh, -c, "trap '' TERM INT HUP; (trap '' TERM INT HUP; while :; do sleep 1; done) & wait"]
      terminationGracePeriodSeconds: 1
`

// descendants returns the live processes below a process.
func descendants(root int) []int {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[parent] = append(parents[parent], pid)
	}
	var all []int
	for queue := parents[root]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, parents[queue[0]]...)
	}
	return all
}

// alive tells whether a process exists and is not a zombie.
func alive(pid int) bool {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))[0] != "Z"
}

func TestNothingIsLeftWhenTheCommandEnds(t *testing.T) {
	g := NewWithT(t)
	bin, err := assets.Dir(assets.Etcd, assets.APIServer, assets.ControllerManager, assets.Kubectl)
	g.Expect(err).NotTo(HaveOccurred())
	program := filepath.Join(t.TempDir(), "controlplane")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			g := NewWithT(t)
			command := exec.Command(program, "--node", "--dir", t.TempDir(), "--bin", bin)
			command.Stderr = os.Stderr
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			stdout, err := command.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(command.Start()).To(Succeed())
			kubeconfig, err := bufio.NewReader(stdout).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())

			kubectl := func(args ...string) *exec.Cmd {
				return exec.CommandContext(t.Context(), filepath.Join(bin, "kubectl"),
					append([]string{"--kubeconfig", strings.TrimSpace(kubeconfig)}, args...)...)
			}
			apply := kubectl("apply", "-f", "-")
			apply.Stdin = strings.NewReader(manifest)
			output, err := apply.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(output))
			output, err = kubectl("rollout", "status", "deployment/idle", "--timeout=2m").CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(output))
			// etcd, kube-apiserver, kube-controller-manager, two guards, and for
			// each of two Pods a shell, its child and a sleep.
			var left []int
			g.Eventually(func() []int { left = descendants(command.Process.Pid); return left }, patience).
				Should(WithTransform(func(pids []int) int { return len(pids) }, BeNumerically(">=", 3+2+2*2)))

			g.Expect(syscall.Kill(-command.Process.Pid, signal)).To(Succeed())
			err = command.Wait()
			if signal == syscall.SIGINT {
				g.Expect(err).NotTo(HaveOccurred(), "it ends well when it is asked to")
			}
			for _, pid := range left {
				g.Eventually(alive, patience).WithArguments(pid).Should(BeFalse(), "pid %d", pid)
			}
		})
	}
}
