// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Workload is a number of equal test clients: a Deployment of Pods, or local
// processes where the cluster is not our own.
type Workload struct {
	Namespace, Name string
	// Kind is the SDK, for the labels; Program is what hack/clients.sh built.
	Kind    Kind
	Program string
	// Args are those of the client; --ready-file is added.
	Args []string
	// Env is added to what every client gets: POD_NAME, POD_IP and LEDGER.
	Env map[string]string
	// Replicas is the number of clients.
	Replicas int32
}

// readyFile is written by a client that works, below its folder /run/client.
const (
	clientFolder = "/run/client"
	readyFile    = clientFolder + "/ready"
)

// stopGrace is how long a client may take to end: it finishes what it handles.
const stopGrace = 45 * time.Second

// Fleet is a Workload that runs.
type Fleet interface {
	// Scale changes the number of clients and does not wait.
	Scale(ctx context.Context, replicas int32) error
	// Ready is the number of clients that work.
	Ready(ctx context.Context) (int32, error)
	// Gone tells whether every client has ended.
	Gone(ctx context.Context) (bool, error)
	// Restarts is how often a client ended that nobody had asked to: containers
	// that were started again and Pods that were replaced.
	Restarts(ctx context.Context) (int, error)
}

// errNotYet is why a wait went on when nothing was wrong.
var errNotYet = errors.New("not yet")

// Deploy starts a workload and does not wait for it.
func (w *World) Deploy(ctx context.Context, workload Workload) (Fleet, error) {
	if err := os.MkdirAll(w.LedgerDir(workload.Namespace), 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for ledgers: %w", err)
	}
	if w.cluster.plane == nil {
		return w.deployProcesses(workload)
	}
	return w.deployPods(ctx, workload)
}

// LedgerDir is the folder with the ledgers of a namespace's clients.
func (w *World) LedgerDir(namespace string) string {
	return filepath.Join(w.Dir, "ledgers", namespace)
}

// environment is what every client gets, and what the workload adds.
func (w *World) environment(workload Workload) map[string]string {
	env := map[string]string{
		"LEDGER":       w.LedgerDir(workload.Namespace),
		"NAMESRV_ADDR": w.RocketMQ.NameServerAddress(),
		// The Java gRPC SDK puts the host name into its client id, if it resolves.
		"JAVA_OPTS": "-Djdk.net.hosts.file=/etc/hosts",
	}
	if len(w.RocketMQ.Proxies) > 0 {
		env["PROXY_ENDPOINTS"] = w.RocketMQ.Proxies[0].GRPCAddr
	}
	maps.Copy(env, workload.Env)
	return env
}

// WaitReady waits until a fleet has that many clients that work. The context
// bounds the wait.
func WaitReady(ctx context.Context, fleet Fleet, replicas int32) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		ready, err := fleet.Ready(ctx)
		if err == nil && ready < replicas {
			err = fmt.Errorf("%w: %d of %d clients work", errNotYet, ready, replicas)
		}
		last = err
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %v: %w", fleet, errors.Join(last, err))
	}
	return nil
}

// End scales a fleet to nothing and waits until its clients have ended in good
// order, so that their ledgers are complete.
func End(ctx context.Context, fleet Fleet) error {
	if err := fleet.Scale(ctx, 0); err != nil {
		return err
	}
	err := wait.PollUntilContextCancel(ctx, 250*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		gone, err := fleet.Gone(ctx)
		return gone && err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the end of %v: %w", fleet, err)
	}
	return nil
}

// sortedKeys are the names of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
