// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// watchPeriod is how often the servers are looked at.
const watchPeriod = time.Second

// Watch waits until a part of the world ends that nobody asked to end, and says
// which. It returns nil when the context ends. It is for callers that break
// nothing themselves.
func (w *World) Watch(ctx context.Context) error {
	var failure *PartError
	err := wait.PollUntilContextCancel(ctx, watchPeriod, true, func(context.Context) (bool, error) {
		failure = w.broken()
		return failure != nil, nil
	})
	if failure != nil {
		return failure
	}
	if errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// maxRestarts is how often the operator may end by itself: on a machine that is
// too busy a leader loses its lease.
const maxRestarts = 5

// broken is the first part that does not run.
func (w *World) broken() *PartError {
	if plane := w.cluster.plane; plane != nil {
		select {
		case <-plane.Done():
			return &PartError{Part: "the control plane", Err: plane.Err(), Try: "see the logs in " + plane.LogDir()}
		default:
		}
	}
	for _, server := range w.RocketMQ.Servers() {
		if !server.Running() {
			return &PartError{Part: "RocketMQ's " + server.Name, Err: errEnded, Log: server.OutputFile(),
				Try: "is the machine short of memory? Each server needs 100 to 300 MB"}
		}
	}
	if n := w.Operator.Restarts(); n > maxRestarts {
		return &PartError{Part: "the operator", Err: fmt.Errorf("%w %d times", errEnded, n), Log: w.Operator.LogFile(),
			Try: "a machine with more free processors: a leader that cannot renew its lease within 10 s ends"}
	}
	return nil
}

// errEnded says that a program ended that should run.
var errEnded = errors.New("it ended by itself")
