// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command soak changes the queues of topics at random while it kills, stops and
// hangs whatever Lockstep works with, and counts every message at the end.
// hack/soak.sh builds what it needs and runs it; docs/soak.md says what a run
// shows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/klog/v2"

	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// options are the flags.
type options struct {
	dir      string
	manager  string
	version  string
	duration time.Duration
	rest     time.Duration
	seed     uint64
	rate     int
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once; what it started ends with it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, o))
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "folder for everything that is written (needed)")
	flags.StringVar(&o.manager, "manager", "", "the operator's binary (built when empty)")
	flags.StringVar(&o.version, "version", rocketmq.DefaultVersion, "RocketMQ version")
	flags.DurationVar(&o.duration, "duration", 10*time.Minute, "how long faults and resizes go on")
	flags.DurationVar(&o.rest, "rest", 8*time.Minute, "how long the world may take to come to rest after the faults")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of every choice; 0 takes one from the clock")
	flags.IntVar(&o.rate, "rate", 240, "messages that producers try to send in a second, all together")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.dir == "":
		return o, errors.New("-dir is needed")
	case o.duration <= 0 || o.rest <= 0 || o.rate < 10:
		return o, errors.New("-duration and -rest are longer than 0, -rate is at least 10")
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	return o, nil
}

// run does one run and returns the exit status.
func run(ctx context.Context, o options) int {
	if err := os.MkdirAll(filepath.Join(o.dir, "logs"), 0o755); err != nil {
		fmt.Fprintln(os.Stderr, "soak: making the folder for logs:", err)
		return 1
	}
	j, err := newJournal(os.Stdout, filepath.Join(o.dir, "run.log"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	}
	defer j.close()
	library, err := os.Create(filepath.Join(o.dir, "logs", "soak.log"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak: opening the log of libraries:", err)
		return 1
	}
	defer func() { _ = library.Close() }()
	klog.LogToStderr(false)
	klog.SetOutput(library)

	s := &soak{options: o, journal: j, log: library}
	err = s.inWorld(ctx)
	j.print("\n%s", s.report())
	if err != nil {
		j.print("FAILED (seed %d): %v", o.seed, err)
		j.print("logs, stores and ledgers: %s", o.dir)
		return 1
	}
	j.print("passed (seed %d)", o.seed)
	return 0
}
