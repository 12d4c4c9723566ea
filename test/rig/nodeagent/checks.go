// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// checks are the probes of one running container.
type checks struct {
	// unhealthy gets the reason when the container has to be restarted.
	unhealthy chan error

	// endKilling ends the probes that can restart the container, endAll the others too.
	endKilling, endAll context.CancelFunc
	running            sync.WaitGroup
}

// startProbes begins to probe a container that was just started, and keeps its
// "started" and "ready" up to date.
func (c *container) startProbes(p program) *checks {
	all, endAll := context.WithCancel(context.Background())
	killing, endKilling := context.WithCancel(all)
	k := &checks{unhealthy: make(chan error, 1), endKilling: endKilling, endAll: endAll}
	k.running.Go(func() {
		if startup := c.spec.StartupProbe; startup != nil {
			prober{handler: p.handler, probe: startup, result: k.restartWhenBad}.run(killing, true)
			if killing.Err() != nil {
				return
			}
		}
		readiness := c.spec.ReadinessProbe
		c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
			s.Started = new(true)
			s.Ready = readiness == nil && !c.init
		})
		if readiness != nil {
			k.running.Go(func() {
				prober{handler: p.handler, probe: readiness, eager: true, result: c.setReady}.run(all, false)
			})
		}
		if liveness := c.spec.LivenessProbe; liveness != nil {
			k.running.Go(func() {
				prober{handler: p.handler, probe: liveness, result: k.restartWhenBad}.run(killing, false)
			})
		}
	})
	return k
}

func (k *checks) restartWhenBad(ok bool, err error) {
	if ok {
		return
	}
	select {
	case k.unhealthy <- err:
	default:
	}
}

// setReady records a verdict of the readiness probe, and says so when it changed.
func (c *container) setReady(ok bool, err error) {
	lost := false
	c.pod.state.container(c.spec.Name, func(s *corev1.ContainerStatus) {
		lost = s.Ready && !ok
		s.Ready = ok
	})
	if lost {
		c.pod.event(corev1.EventTypeWarning, "Unhealthy", "Container %s is no longer ready: %v", c.spec.Name, err)
	}
}

// stopKilling is called when the container is being stopped: only its readiness
// still matters.
func (k *checks) stopKilling() { k.endKilling() }

// close ends all probes and waits for them.
func (k *checks) close() {
	k.endAll()
	k.running.Wait()
}
