// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// container runs one container of a Pod: again and again, as its policy says.
type container struct {
	pod     *podWorker
	spec    *corev1.Container
	init    bool
	backoff backoff
}

// startErrorCode is the exit code that a container engine reports when the
// program could not be started.
const startErrorCode = 128

// run returns when the container has ended for good, with true when its last end
// was a success.
func (c *container) run(ctx context.Context) bool {
	for {
		program, err := c.prepare(ctx)
		if err != nil {
			if !c.hold(ctx, err) {
				return false
			}
			continue
		}
		began := time.Now()
		exitCode := c.live(ctx, program)
		if ctx.Err() != nil {
			return exitCode == 0
		}
		if !c.startsAgain(exitCode) {
			return exitCode == 0
		}
		if !c.backOff(ctx, c.backoff.after(time.Since(began))) {
			return false
		}
	}
}

// startsAgain applies the restart policy. An init container that succeeded is
// done under every policy.
func (c *container) startsAgain(exitCode int32) bool {
	switch c.pod.spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return !c.init || exitCode != 0
}

// hold shows why the container cannot be started and waits before the next try.
func (c *container) hold(ctx context.Context, cause error) bool {
	c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CreateContainerConfigError", Message: cause.Error()}}
		s.Ready = false
	})
	return c.pod.waitForChange(ctx)
}

// backOff waits before a restart. It returns false when the Pod ends meanwhile.
func (c *container) backOff(ctx context.Context, wait time.Duration) bool {
	c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
		s.RestartCount++
		s.LastTerminationState = s.State
		if wait > 0 {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
				Message: fmt.Sprintf("back-off %s restarting failed container %s", wait, c.spec.Name)}}
		}
	})
	if wait > 0 {
		c.pod.event(corev1.EventTypeWarning, "BackOff", "Back-off %s restarting container %s", wait, c.spec.Name)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// live starts the program once and returns its exit code when it has ended.
func (c *container) live(ctx context.Context, program program) int32 {
	began := metav1.Now()
	id := fmt.Sprintf("process://%s/%s/%d", c.pod.uid, c.spec.Name, program.number)
	proc, err := program.start()
	if err != nil {
		c.ended(corev1.ContainerStateTerminated{ExitCode: startErrorCode, Reason: "StartError", Message: err.Error(),
			StartedAt: began, FinishedAt: metav1.Now(), ContainerID: id})
		c.pod.event(corev1.EventTypeWarning, "Failed", "Container %s: %v", c.spec.Name, err)
		return startErrorCode
	}
	c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
		s.ContainerID = id
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
	})
	c.pod.event(corev1.EventTypeNormal, "Started", "Started container %s (pid %d)", c.spec.Name, proc.PID())
	c.supervise(ctx, program, proc)

	state := proc.State()
	end := corev1.ContainerStateTerminated{ExitCode: int32(state.ExitCode), Signal: int32(state.Signal), Reason: "Completed",
		Message: program.terminationMessage(state), StartedAt: began, FinishedAt: metav1.Now(), ContainerID: id}
	if state.ExitCode != 0 || state.Err != nil {
		end.Reason = "Error"
	}
	c.ended(end)
	return end.ExitCode
}

// supervise returns when the process has ended: by itself, because a probe said
// so, or because the Pod ends.
func (c *container) supervise(ctx context.Context, program program, proc *process.Process) {
	checks := c.startProbes(program)
	defer checks.close()
	select {
	case <-proc.Done():
	case err := <-checks.unhealthy:
		c.pod.event(corev1.EventTypeWarning, "Unhealthy", "Container %s: %v", c.spec.Name, err)
		c.pod.event(corev1.EventTypeNormal, "Killing", "Container %s failed its probe and will be restarted", c.spec.Name)
		c.stop(program, proc, checks, *c.pod.spec.TerminationGracePeriodSeconds)
	case <-ctx.Done():
		c.pod.event(corev1.EventTypeNormal, "Killing", "Stopping container %s", c.spec.Name)
		c.stop(program, proc, checks, noLimit)
	}
}

// noLimit leaves it to the Pod when a container is killed.
const noLimit = -1

// stop ends a process as a kubelet does: the preStop hook, SIGTERM, and SIGKILL
// when the Pod's time is up, or the time given in seconds.
func (c *container) stop(program program, proc *process.Process, checks *checks, limit int64) {
	checks.stopKilling()
	ctx := c.pod.killCtx
	if limit != noLimit {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(limit)*time.Second)
		defer cancel()
	}
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil {
		if err := program.handler.hook(ctx, c.spec.Lifecycle.PreStop); err != nil {
			c.pod.event(corev1.EventTypeWarning, "FailedPreStopHook", "Container %s: %v", c.spec.Name, err)
		}
	}
	if err := proc.Signal(syscall.SIGTERM); err != nil {
		c.pod.log.Error(err, "asking a container to end", "container", c.spec.Name)
	}
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Stop(0)
	}
}

// ended records the end of the container.
func (c *container) ended(end corev1.ContainerStateTerminated) {
	c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
		s.ContainerID = end.ContainerID
		s.State = corev1.ContainerState{Terminated: &end}
		s.Started = new(bool)
		s.Ready = c.init && end.ExitCode == 0
	})
}
