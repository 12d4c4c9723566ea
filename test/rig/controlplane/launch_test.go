// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// newLauncher returns a launcher whose only program is the script given.
func newLauncher(t *testing.T, script string) launcher {
	t.Helper()
	s, err := process.NewSupervisor()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(0); err != nil {
			t.Error(err)
		}
	})
	l := launcher{bin: t.TempDir(), layout: layout{t.TempDir()}, supervisor: s}
	if err := l.layout.make(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.bin, "program"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return l
}

func programWith(ready func(context.Context, []int) error) component {
	return component{name: "program", ports: 2, ready: ready, args: func(ports []int) []string {
		return []string{strconv.Itoa(ports[0]), strconv.Itoa(ports[1])}
	}}
}

// fileIs is ready when the program has written its file.
func fileIs(path string) func(context.Context, []int) error {
	return func(context.Context, []int) error {
		_, err := os.Stat(path)
		return err
	}
}

func TestALostPortIsTriedAgainWithOthers(t *testing.T) {
	g := NewWithT(t)
	l := newLauncher(t, `echo "$1 $2" >>tries
[ $(wc -l <tries) -gt 2 ] || { echo "bind: address already in use"; exit 1; }
touch ready; exec sleep 600`)
	r, err := l.launch(t.Context(), programWith(fileIs(filepath.Join(l.layout.dir, "ready"))))
	g.Expect(err).NotTo(HaveOccurred())
	tries, err := os.ReadFile(filepath.Join(l.layout.dir, "tries"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(tries)).To(HaveSuffix(strconv.Itoa(r.ports[0]) + " " + strconv.Itoa(r.ports[1]) + "\n"))
	g.Expect(l.supervisor.Running()).To(ConsistOf(r.proc))
}

func TestALostPortIsNotTriedForEver(t *testing.T) {
	g := NewWithT(t)
	l := newLauncher(t, `echo x >>tries; echo "bind: address already in use"; exit 1`)
	_, err := l.launch(t.Context(), programWith(func(context.Context, []int) error { return errors.New("not yet") }))
	g.Expect(err).To(MatchError(errEnded))
	g.Expect(err).To(MatchError(ContainSubstring("address already in use")))
	tries, err := os.ReadFile(filepath.Join(l.layout.dir, "tries"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tries).To(HaveLen(2 * portTries))
}

func TestAProgramThatFailsIsNotTriedAgain(t *testing.T) {
	g := NewWithT(t)
	l := newLauncher(t, `echo x >>tries; echo "unknown flag"; exit 64`)
	_, err := l.launch(t.Context(), programWith(func(context.Context, []int) error { return errors.New("not yet") }))
	g.Expect(err).To(MatchError(ContainSubstring("starting program: it ended before it was ready, with exit code 64; its log")))
	g.Expect(err).To(MatchError(ContainSubstring("unknown flag")))
	tries, err := os.ReadFile(filepath.Join(l.layout.dir, "tries"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tries).To(HaveLen(2))
}

func TestAProgramThatNeverGetsReadyIsStopped(t *testing.T) {
	g := NewWithT(t)
	l := newLauncher(t, `exec sleep 600`)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := l.launch(ctx, programWith(func(context.Context, []int) error { return errors.New("still loading") }))
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(err).To(MatchError(ContainSubstring("its last answer: still loading")))
	g.Expect(l.supervisor.Running()).To(BeEmpty())
}

func TestFreePortsDiffer(t *testing.T) {
	g := NewWithT(t)
	ports, err := freePorts(50)
	g.Expect(err).NotTo(HaveOccurred())
	seen := map[int]bool{}
	for _, port := range ports {
		seen[port] = true
	}
	g.Expect(seen).To(HaveLen(50))
}

func TestLogTail(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log")
	g.Expect(string(logTail(path))).To(ContainSubstring("no such file"))
	long := make([]byte, 3*tailBytes)
	for i := range long {
		long[i] = 'a'
	}
	g.Expect(os.WriteFile(path, append(long, "the end\n"...), 0o600)).To(Succeed())
	g.Expect(logTail(path)).To(HaveLen(tailBytes - 1))
	g.Expect(string(logTail(path))).To(HaveSuffix("athe end"))
	g.Expect(os.WriteFile(path, []byte("short\n"), 0o600)).To(Succeed())
	g.Expect(string(logTail(path))).To(Equal("short"))
}

func TestOptionsNeedDirAndPrograms(t *testing.T) {
	g := NewWithT(t)
	_, err := Options{}.completed()
	g.Expect(err).To(MatchError(ContainSubstring("Dir is needed")))
	_, err = Options{Dir: "x", BinDir: t.TempDir()}.completed()
	g.Expect(err).To(MatchError(ContainSubstring("looking for etcd")))
	t.Setenv("KUBEBUILDER_ASSETS", "")
	_, err = Options{Dir: "x"}.completed()
	g.Expect(err).To(MatchError(ContainSubstring("KUBEBUILDER_ASSETS is not set")))
}

func TestControllerManagerArgs(t *testing.T) {
	g := NewWithT(t)
	p := &pki{dir: "/pki"}
	plain := controllerManagerArgs(Options{}, p, "/k", []int{1})
	g.Expect(plain).To(ContainElement("--controllers=*,-endpointslice-controller,-endpoints-controller,-endpointslice-mirroring-controller"))
	g.Expect(plain).NotTo(ContainElement(HavePrefix("--horizontal-pod-autoscaler")))
	tuned := controllerManagerArgs(Options{HPASyncPeriod: 2 * time.Second, HPADownscaleStabilization: time.Second,
		ControllerManagerArgs: []string{"--v=4"}}, p, "/k", []int{1})
	g.Expect(tuned).To(ContainElements("--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-downscale-stabilization=1s"))
	g.Expect(tuned[len(tuned)-1]).To(Equal("--v=4"), "last, so that it wins")
}

func TestFileName(t *testing.T) {
	g := NewWithT(t)
	g.Expect(fileName("system:serviceaccount:a/b")).To(Equal("system_serviceaccount_a_b"))
	g.Expect(fileName("alice-1.x_y")).To(Equal("alice-1.x_y"))
}
