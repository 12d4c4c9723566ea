// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// patience bounds waits that normally take milliseconds.
const patience = 20 * time.Second

func newSupervisor(t *testing.T) *Supervisor {
	t.Helper()
	s, err := NewSupervisor()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(0); err != nil {
			t.Error(err)
		}
	})
	return s
}

func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// alive tells whether a process exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	// The state follows the name, which is in brackets and may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return fields[0] != "Z" && fields[0] != "X"
}

// pidIn waits until the file holds a complete line with a process id.
func pidIn(g *WithT, path string) int {
	var pid int
	g.Eventually(func() error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line, _, whole := strings.Cut(string(content), "\n")
		if !whole {
			return errors.New("no whole line yet")
		}
		pid, err = strconv.Atoi(line)
		return err
	}, patience).Should(Succeed())
	return pid
}

func TestState(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		want         State
	}{
		{"success", "true", State{}},
		{"exit code", "exit 7", State{ExitCode: 7}},
		{"signal", "kill -TERM $$", State{ExitCode: 143, Signal: syscall.SIGTERM}},
		{"killed", "kill -KILL $$", State{ExitCode: 137, Signal: syscall.SIGKILL}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newSupervisor(t)
			p, err := s.Start(shell(tc.script))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.State()).To(Equal(tc.want))
			g.Expect(s.Running()).To(BeEmpty())
		})
	}
}

func TestStartNamesTheProgramThatIsMissing(t *testing.T) {
	g := NewWithT(t)
	_, err := newSupervisor(t).Start(Spec{Path: "/nonexistent/program"})
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(err).To(MatchError(ContainSubstring("starting program")))
}

func TestEnvironmentAndDirectoryAreExact(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("LOCKSTEP_NOT_INHERITED", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	p, err := newSupervisor(t).Start(Spec{Path: "/bin/sh", Args: []string{"-c", "pwd; echo a=$A n=$LOCKSTEP_NOT_INHERITED"},
		Env: []string{"A=1"}, Dir: dir, Output: &out})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.State()).To(Equal(State{}))
	g.Expect(out.String()).To(Equal(dir + "\na=1 n=\n"))
}

func TestStopIsGraceful(t *testing.T) {
	g := NewWithT(t)
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := newSupervisor(t).Start(shell(`trap 'exit 3' TERM; echo $$ >` + ready + `; while :; do sleep 0.05; done`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pidIn(g, ready)).To(Equal(p.PID()))
	g.Expect(p.Stop(patience)).To(Equal(State{ExitCode: 3}))
	g.Expect(p.Stop(patience)).To(Equal(State{ExitCode: 3}), "a second stop tells the same")
}

func TestStopKillsAfterTheGrace(t *testing.T) {
	g := NewWithT(t)
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := newSupervisor(t).Start(shell(`trap '' TERM; echo $$ >` + ready + `; while :; do sleep 0.05; done`))
	g.Expect(err).NotTo(HaveOccurred())
	pidIn(g, ready)
	g.Expect(p.Stop(100 * time.Millisecond)).To(Equal(State{ExitCode: 137, Signal: syscall.SIGKILL}))
}

func TestTheRestOfTheGroupEndsWithTheLeader(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "pid")
	p, err := newSupervisor(t).Start(shell(`sleep 600 & echo $! >` + file))
	g.Expect(err).NotTo(HaveOccurred())
	child := pidIn(g, file)
	g.Expect(p.State()).To(Equal(State{}))
	g.Eventually(alive, patience).WithArguments(child).Should(BeFalse())
}

func TestCloseStopsEverythingAndRefusesMore(t *testing.T) {
	g := NewWithT(t)
	s, err := NewSupervisor()
	g.Expect(err).NotTo(HaveOccurred())
	var all []*Process
	for range 3 {
		p, err := s.Start(shell("exec sleep 600"))
		g.Expect(err).NotTo(HaveOccurred())
		all = append(all, p)
	}
	g.Expect(s.Running()).To(ConsistOf(all))
	g.Expect(s.Close(patience)).To(Succeed())
	for _, p := range all {
		g.Expect(p.State().Signal).To(Equal(syscall.SIGTERM))
		g.Expect(alive(p.PID())).To(BeFalse())
	}
	g.Expect(alive(s.guard.cmd.Process.Pid)).To(BeFalse())
	_, err = s.Start(shell("true"))
	g.Expect(err).To(MatchError(ErrClosed))
	g.Expect(s.Close(patience)).To(Succeed())
}

func TestHostname(t *testing.T) {
	g := NewWithT(t)
	before, err := os.Hostname()
	g.Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	spec := shell("uname -n")
	spec.Hostname, spec.Output = "consumer-0", &out
	p, err := newSupervisor(t).Start(spec)
	if !CanSetHostname() {
		g.Expect(err).To(MatchError(syscall.EPERM), "without the right it must say so")
		return
	}
	g.Expect(err).NotTo(HaveOccurred())
	p.State()
	g.Expect(out.String()).To(Equal("consumer-0\n"))
	g.Expect(os.Hostname()).To(Equal(before), "the rig keeps its own")
}
