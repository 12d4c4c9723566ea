// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command nodeagent makes this machine a node of the cluster that a kubeconfig
// file names: it schedules Pods and runs their containers as local processes,
// until it gets SIGINT or SIGTERM. See package nodeagent.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lockstep-dev/lockstep/test/rig/nodeagent"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "nodeagent:", err)
		os.Exit(1)
	}
}

func run() error {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig file with the rights of a cluster administrator")
	dir := flag.String("dir", "", "folder for Pods and their logs (needed)")
	name := flag.String("node-name", "", "name of the Node (default rig-node)")
	env := flag.String("env", "", "comma-separated NAME=value for every container")
	startTimeout := flag.Duration("start-timeout", time.Minute, "how long to wait for the API server")
	grace := flag.Duration("grace", 5*time.Second, "how long containers get to end when the agent is stopped")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig %q: %w", *kubeconfig, err)
	}
	config.QPS = -1
	options := nodeagent.Options{Config: config, Dir: *dir, NodeName: *name,
		Log: logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil))}
	if *env != "" {
		options.Env = strings.Split(*env, ",")
	}
	starting, cancel := context.WithTimeout(ctx, *startTimeout)
	defer cancel()
	agent, err := nodeagent.Start(starting, options)
	if err != nil {
		return err
	}
	fmt.Printf("node %s is ready\n", agent.NodeName())
	<-ctx.Done()
	return agent.Stop(*grace)
}
