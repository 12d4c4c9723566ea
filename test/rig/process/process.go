// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// outputDelay bounds how long the output of a program is waited for after it
// ended, when a process outside its group still holds the other end.
const outputDelay = 2 * time.Second

// Spec says what to run.
type Spec struct {
	// Path is the program; Args are its arguments, without the program itself.
	Path string
	Args []string
	// Env is the whole environment, each entry "NAME=value". Nothing is inherited.
	Env []string
	// Dir is the working directory; empty means that of the rig.
	Dir string
	// Output takes standard output and standard error. An *os.File is handed to
	// the program directly. Nil discards both.
	Output io.Writer
	// Hostname, when set, is the host name the program sees, in a UTS namespace
	// of its own. It needs CanSetHostname.
	Hostname string
}

func (s Spec) name() string { return filepath.Base(s.Path) }

// Process is a program that was started. Its methods may be called at any time
// and from any goroutine.
type Process struct {
	spec  Spec
	guard *guard
	cmd   *exec.Cmd
	done  chan struct{}
	state State
}

// State is how a program ended.
type State struct {
	// ExitCode is the exit status, or 128 plus the number of the signal.
	ExitCode int
	// Signal is the signal that ended the program, or 0.
	Signal syscall.Signal
	// Err is set when the end could not be observed; the rest is then unknown.
	Err error
}

// Name is the base name of the program, for messages.
func (p *Process) Name() string { return p.spec.name() }

// PID is the process id, and the id of the process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended and the rest of its process group
// was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// State waits for the end and returns it.
func (p *Process) State() State {
	<-p.done
	return p.state
}

// Signal sends a signal to the program alone, as a container engine does to the
// first process of a container. A program that has ended is no error.
func (p *Process) Signal(signal syscall.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to %s (pid %d): %w", signal, p.Name(), p.PID(), err)
	}
	return nil
}

// Stop asks the program to end with SIGTERM, kills it when it still runs after
// the grace, and returns how it ended. A grace of zero or less kills at once.
func (p *Process) Stop(grace time.Duration) State {
	if grace > 0 {
		// An error here means that only the kill below is left.
		_ = p.Signal(syscall.SIGTERM)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
			return p.state
		case <-timer.C:
		}
	}
	// Killing the leader is enough: run kills the rest of the group.
	_ = p.Signal(syscall.SIGKILL)
	return p.State()
}

// run starts the program, reports to started, and returns when its whole
// process group is gone. It owns its thread all that time, see the package
// comment.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	if p.spec.Hostname == "" {
		defer runtime.UnlockOSThread()
	} else if err := enterHostname(p.spec.Hostname); err != nil {
		started <- err
		return
	}
	// With a host name the thread lives in another UTS namespace and must not be
	// used for anything else: it stays locked, so it ends with this goroutine.

	p.cmd = exec.Command(p.spec.Path, p.spec.Args...)
	p.cmd.Env = append([]string{}, p.spec.Env...) // not nil: nil would inherit
	p.cmd.Dir = p.spec.Dir
	p.cmd.Stdout, p.cmd.Stderr = p.spec.Output, p.spec.Output
	p.cmd.WaitDelay = outputDelay
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	pid := p.PID()
	guardErr := p.guard.add(pid)
	if guardErr != nil {
		// Without the guard a crash could leave something behind: do not run it.
		_ = p.Signal(syscall.SIGKILL)
	}
	started <- guardErr

	// Look for the end without reaping: until it is reaped the number of the
	// process, and so of the group, cannot belong to anybody else.
	waitErr := waitUnreaped(pid)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = p.guard.del(pid)
	err := p.cmd.Wait()
	if p.cmd.ProcessState == nil {
		p.state = State{Err: errors.Join(waitErr, err)}
		return
	}
	p.state = stateOf(p.cmd.ProcessState.Sys().(syscall.WaitStatus))
}

func stateOf(status syscall.WaitStatus) State {
	if status.Signaled() {
		return State{ExitCode: 128 + int(status.Signal()), Signal: status.Signal()}
	}
	return State{ExitCode: status.ExitStatus()}
}

func waitUnreaped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
