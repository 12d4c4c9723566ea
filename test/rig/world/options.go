// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// Options say what to start. Only Dir is needed.
type Options struct {
	// Dir takes everything that is written: certificates, stores, logs, ledgers.
	// It is made when missing.
	Dir string
	// Kubeconfig names an existing cluster to use instead of one of our own. Its
	// user needs the rights of a cluster administrator. Clients are then local
	// processes instead of Pods, and Stop removes what Start applied and was not
	// there before.
	Kubeconfig string
	// RocketMQ says what servers to run. Dir and Log are set by Start.
	RocketMQ rocketmq.Options
	// Manager is the operator's binary; empty means that it is built.
	Manager string
	// Step, when set, is called at the beginning of each part of the start; what
	// it returns is called at the end of that part. Parts can overlap.
	Step func(part string) func(error)
	// Log takes what builds and servers say while they start. Nil discards it.
	Log io.Writer
}

func (o Options) completed() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("world.Options.Dir is needed: it takes stores, logs and ledgers")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("resolving the folder of the world: %w", err)
	}
	o.Dir = dir
	if o.Step == nil {
		o.Step = func(string) func(error) { return func(error) {} }
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	for _, sub := range []string{"bin", "logs", "ledgers", "kubeconfig"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return o, fmt.Errorf("making the folders of the world: %w", err)
		}
	}
	return o, nil
}
