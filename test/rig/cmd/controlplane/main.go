// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command controlplane runs etcd, kube-apiserver and kube-controller-manager on
// loopback until it gets SIGINT or SIGTERM. When they are ready it prints the
// path of a kubeconfig file. With --node it is a node as well, so that one
// command is a whole small cluster. See packages controlplane and nodeagent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"

	"github.com/lockstep-dev/lockstep/test/rig/controlplane"
	"github.com/lockstep-dev/lockstep/test/rig/nodeagent"
)

// nodeGrace is how long containers get to end.
const nodeGrace = 5 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	var options controlplane.Options
	flag.StringVar(&options.Dir, "dir", "", "folder for certificates, data, logs and kubeconfig files (needed)")
	flag.StringVar(&options.BinDir, "bin", "", "folder with the programs (default $KUBEBUILDER_ASSETS)")
	flag.DurationVar(&options.HPASyncPeriod, "hpa-sync-period", 0, "how often autoscalers look (default that of Kubernetes)")
	flag.DurationVar(&options.HPADownscaleStabilization, "hpa-downscale-stabilization", 0, "see kube-controller-manager")
	node := flag.Bool("node", false, "be a node as well, and run Pods as local processes")
	startTimeout := flag.Duration("start-timeout", 3*time.Minute, "how long the start may take")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	starting, cancel := context.WithTimeout(ctx, *startTimeout)
	defer cancel()
	cp, err := controlplane.Start(starting, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	if *node {
		var agent *nodeagent.Agent
		if agent, err = nodeagent.Start(starting, nodeagent.Options{Config: cp.Config(), Dir: filepath.Join(options.Dir, "node"),
			Log: logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil))}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, agent.Stop(nodeGrace)) }()
	}
	fmt.Println(cp.Kubeconfig())
	select {
	case <-ctx.Done():
		return nil
	case <-cp.Done():
		return cp.Err()
	}
}
