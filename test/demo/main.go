// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the main job of Lockstep on this machine: a real RocketMQ
// topic goes from 128 to 64 queues per broker under live producers and
// consumers, and a ledger of every message tells what became of them. hack/demo.sh
// builds what it needs and runs it.
//
//	demo run    tell the story; exit status 0 only when no message was lost
//	demo serve  start everything and keep it running until SIGTERM or Ctrl-C
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// options are the flags.
type options struct {
	what       string
	dir        string
	manager    string
	kubeconfig string
	readyFile  string
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once; what it started ends with it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, o, newScreen(os.Stdout)))
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "folder for everything that is written (needed)")
	flags.StringVar(&o.manager, "manager", "", "the operator's binary (built when empty)")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "an existing cluster to use instead of one of our own")
	flags.StringVar(&o.readyFile, "ready-file", "", "file to write when all is up (serve)")
	if len(args) == 0 || (args[0] != "run" && args[0] != "serve") {
		return o, errors.New("want run or serve")
	}
	o.what = args[0]
	if err := flags.Parse(args[1:]); err != nil {
		return o, err
	}
	if o.dir == "" {
		return o, errors.New("-dir is needed")
	}
	return o, nil
}

// run tells the story or serves, and returns the exit status.
func run(ctx context.Context, o options, s *screen) int {
	d := &demo{options: o, screen: s}
	act := d.story
	if o.what == "serve" {
		act = d.serve
	}
	err := d.inWorld(ctx, act)
	switch {
	case ctx.Err() != nil && (o.what == "serve" || err == nil || errors.Is(err, context.Canceled)):
		s.line("stopped; nothing is left running, logs stay in %s", o.dir)
		if o.what == "serve" {
			return 0
		}
		return 130
	case err != nil:
		s.line("\n%s %v", s.paint(red, signBad), err)
		s.line("all logs: %s", o.dir)
		return 1
	}
	return 0
}
