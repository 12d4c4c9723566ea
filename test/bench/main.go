// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures Lockstep beside a limit or a peer, in one run, and
// writes docs/benchmarks.md. Run it by "make bench".
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are what to measure.
type settings struct {
	versions []string
	topics   []int
	old      int
	out      string
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	versions := flags.String("versions", "5.5.0 5.3.3 4.9.7", "RocketMQ versions, separated by blanks")
	topics := flags.String("topics", "1000 10000", "numbers of topics to create, separated by blanks")
	old := flags.Int("old-topics", 1000, "the largest number of topics on 4.9, which creates them one by one")
	out := flags.String("out", "docs/benchmarks.md", "the file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := settings{versions: strings.Fields(*versions), old: *old, out: *out}
	for _, field := range strings.Fields(*topics) {
		n, err := strconv.Atoi(field)
		if err != nil || n <= 0 {
			return fmt.Errorf("-topics: %q is not a number of topics", field)
		}
		s.topics = append(s.topics, n)
	}
	var r report
	r.began = time.Now()
	if err := r.machine(); err != nil {
		return err
	}
	sweeps, err := measureSweeps(ctx, []int{10, 100, 1000})
	if err != nil {
		return fmt.Errorf("calls per sweep: %w", err)
	}
	r.sweeps = sweeps
	for _, version := range s.versions {
		for _, n := range s.topics {
			if strings.HasPrefix(version, "4.") && n > s.old {
				continue
			}
			c, err := measureConvergence(ctx, version, n)
			if err != nil {
				return fmt.Errorf("first convergence of %d topics on %s: %w", n, version, err)
			}
			r.convergences = append(r.convergences, c)
			fmt.Println(c.line())
		}
	}
	text := r.markdown() + AllocationTable()
	fmt.Print(text)
	return os.WriteFile(s.out, []byte(text), 0o644)
}
