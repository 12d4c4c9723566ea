// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// firstProbeInterval is how often a readiness probe that has not succeeded yet
// is made when its period is longer. A real kubelet waits the whole period; the
// rig would only be slower for it, and a Pod is not ready either way.
const firstProbeInterval = 250 * time.Millisecond

// tally turns the results of single probes into success or failure by the
// thresholds of the probe.
type tally struct {
	successThreshold, failureThreshold int32
	ok                                 bool
	run                                int32
}

// add counts one result and returns the verdict when there is a new or repeated
// one: decided is false while the thresholds leave it open.
func (t *tally) add(ok bool) (verdict, decided bool) {
	if ok != t.ok {
		t.ok, t.run = ok, 0
	}
	t.run++
	if ok {
		return true, t.run >= max(t.successThreshold, 1)
	}
	return false, t.run >= max(t.failureThreshold, 1)
}

// prober repeats one probe of one running container.
type prober struct {
	handler handler
	probe   *corev1.Probe
	// eager makes the first success come sooner, see firstProbeInterval.
	eager bool
	// result is told every verdict, with the error of the last probe.
	result func(ok bool, err error)
}

// run probes until the context ends, or until the verdict is ok when once is set.
func (p prober) run(ctx context.Context, once bool) {
	counts := tally{successThreshold: p.probe.SuccessThreshold, failureThreshold: p.probe.FailureThreshold}
	timer := time.NewTimer(seconds(p.probe.InitialDelaySeconds))
	defer timer.Stop()
	succeeded := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := p.try(ctx)
		if ctx.Err() != nil {
			return // an answer cut short says nothing
		}
		succeeded = succeeded || err == nil
		if verdict, decided := counts.add(err == nil); decided {
			p.result(verdict, err)
			if verdict && once {
				return
			}
		}
		timer.Reset(p.interval(succeeded))
	}
}

func (p prober) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(max(p.probe.TimeoutSeconds, 1)))
	defer cancel()
	return p.handler.probe(ctx, p.probe.ProbeHandler)
}

func (p prober) interval(succeeded bool) time.Duration {
	period := seconds(max(p.probe.PeriodSeconds, 1))
	if p.eager && !succeeded {
		return min(period, firstProbeInterval)
	}
	return period
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
