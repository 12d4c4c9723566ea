// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// breakClients kills and stops clients until shaking ends. Their Deployments
// replace them.
func (s *soak) breakClients(shaking, ctx context.Context) error {
	dice := s.dice("clients")
	for pause(shaking, between(dice, 5*time.Second, 40*time.Second)) {
		var pods corev1.PodList
		if err := s.world.Client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("listing client pods: %w", err)
		}
		pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
		if len(pods.Items) == 0 {
			continue
		}
		slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		pod := &pods.Items[dice.IntN(len(pods.Items))]
		if err := s.breakClient(ctx, pod, dice.IntN(2) == 0); err != nil {
			return err
		}
	}
	return nil
}

// breakClient kills the process of a client, or deletes its Pod, which stops it
// in good order. A Pod whose container was started again once is deleted after
// the next kill: the node would wait longer and longer with every start.
func (s *soak) breakClient(ctx context.Context, pod *corev1.Pod, kill bool) error {
	how := sigterm
	if kill {
		pid, err := processOf(pod.Name)
		if err != nil {
			return err
		}
		if pid == 0 {
			return nil // between two starts
		}
		how = sigkill
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("killing client %s (pid %d): %w", pod.Name, pid, err)
		}
	}
	s.counts.add("client "+how, 1)
	s.journal.event("client", "%s of %s", how, pod.Name)
	restarts := int32(0)
	for _, c := range pod.Status.ContainerStatuses {
		restarts += c.RestartCount
	}
	if kill && restarts == 0 {
		return nil
	}
	if err := s.world.Client.Delete(ctx, pod); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting client pod %s: %w", pod.Name, err)
	}
	return nil
}

// processOf is the id of the child process that is the client of that name; 0
// when there is none.
func processOf(name string) (int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	for _, dir := range dirs {
		if parent(dir) != os.Getpid() {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(v []byte) bool { return string(v) == "POD_NAME="+name }) {
			continue // it ended, or is another one
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", dir, err)
		}
		return pid, nil
	}
	return 0, nil
}

// parent is the id of a process's parent; 0 when the process is gone.
func parent(dir string) int {
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	// The name may hold anything; the fields after its last parenthesis do not.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}
