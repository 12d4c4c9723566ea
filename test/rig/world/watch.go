// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// watchPeriod is how often the servers are looked at.
const watchPeriod = time.Second

// Watch waits until a part of the world ends that nobody asked to end, and says
// which. It returns nil when the context ends. It is for callers that break
// nothing themselves.
func (w *World) Watch(ctx context.Context) error {
	var failure *Failure
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

// broken is the first part that does not run.
func (w *World) broken() *Failure {
	if plane := w.cluster.plane; plane != nil {
		select {
		case <-plane.Done():
			return &Failure{Part: "the control plane", Err: plane.Err(), Try: "see the logs in " + plane.LogDir()}
		default:
		}
	}
	for _, server := range w.RocketMQ.Servers() {
		if !server.Running() {
			return &Failure{Part: "RocketMQ's " + server.Name, Err: errEnded, Log: server.OutputFile(),
				Try: "is the machine short of memory? Each server needs 100 to 300 MB"}
		}
	}
	if !w.Operator.Running() {
		return &Failure{Part: "the operator", Err: errEnded, Log: w.Operator.LogFile()}
	}
	return nil
}

// errEnded says that a program ended that should run.
var errEnded = errors.New("it ended by itself")
