// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// crashDirEnv makes this test binary play a rig that is going to be killed.
const crashDirEnv = "LOCKSTEP_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		playRig(dir)
	}
	os.Exit(m.Run())
}

// playRig starts a program that has a child of its own, then waits for its end.
func playRig(dir string) {
	s, err := NewSupervisor()
	if err == nil {
		_, err = s.Start(shell(fmt.Sprintf(
			`trap '' TERM INT HUP; sleep 600 & echo $! >%[1]s/grandchild; echo $$ >%[1]s/child; wait`, dir)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func TestNothingOutlivesAKilledRig(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			rig := exec.Command(os.Args[0])
			rig.Env = append(os.Environ(), crashDirEnv+"="+dir)
			rig.Stderr = os.Stderr
			rig.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			g.Expect(rig.Start()).To(Succeed())
			child := pidIn(g, filepath.Join(dir, "child"))
			grandchild := pidIn(g, filepath.Join(dir, "grandchild"))
			g.Expect(alive(child)).To(BeTrue())
			g.Expect(alive(grandchild)).To(BeTrue())

			// To the whole group of the rig, as a terminal does on Ctrl-C.
			g.Expect(syscall.Kill(-rig.Process.Pid, signal)).To(Succeed())
			g.Expect(rig.Wait()).NotTo(Succeed())
			g.Eventually(alive, patience).WithArguments(child).Should(BeFalse(), "the program")
			g.Eventually(alive, patience).WithArguments(grandchild).Should(BeFalse(), "its child")
		})
	}
}
