// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is all figures of one run.
type report struct {
	began        time.Time
	cpu          string
	memory       string
	sweeps       []sweepCalls
	convergences []convergence
}

// machine reads what the figures were taken on.
func (r *report) machine() error {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			r.cpu = strings.TrimSpace(value)
			break
		}
	}
	mem, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	r.memory = strings.Join(strings.Fields(strings.TrimPrefix(strings.SplitN(string(mem), "\n", 2)[0], "MemTotal:")), " ")
	return nil
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `make bench` on %s: %d CPUs (%s), %s of memory, Go %s; everything (API server, RocketMQ, operator, load) on this one machine.\n\n",
		r.began.UTC().Format("2006-01-02"), runtime.NumCPU(), r.cpu, r.memory, strings.TrimPrefix(runtime.Version(), "go"))
	b.WriteString("## First convergence\n\nFrom the first apply to the last `Ready`, waiting in queues included, with two name servers and two masters. The bare loop is one create call per topic on the same brokers in the same run, just before, when their tables were smaller; it reads nothing and checks nothing, where Lockstep proves each topic on every broker and every name server's route. A loop that is not done after four minutes is stopped, and the rest counts at the pace of its last hundred, which is too little: the broker rewrites and registers its whole table at every creation.\n\n")
	b.WriteString("| RocketMQ | topics | bare loop | Lockstep | of it sending manifests | bare ÷ Lockstep | aim | API writes per topic, its creation included | API writes in the minute after a restart | changed broker tables in it | resident memory (limit 150 MiB) |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range r.convergences {
		fmt.Fprintf(&b, "| %s | %d | %s | %.1f s (%.0f/s) | %.1f s | %.2f | %s | %.1f | %d | %d | %.0f MiB |\n",
			c.version, c.topics, c.bareText(), c.ours.Seconds(), c.rate(c.ours), c.apply.Seconds(),
			c.ratio(), aim(c), c.requests/float64(c.topics), c.writes, c.changing, c.memory)
	}
	b.WriteString("\n## Calls per sweep\n\nTwo name servers and two brokers, all topics declared and at rest. Calls must not grow with topics.\n\n| topics | calls per sweep | of them changing |\n|---|---|---|\n")
	for _, s := range r.sweeps {
		fmt.Fprintf(&b, "| %d | %.1f | %d |\n", s.topics, s.calls, s.changing)
	}
	return b.String()
}

// aim is what the ratio should be: brokers before 5.3 have no call for many
// topics at once.
func aim(c convergence) string {
	switch {
	case strings.HasPrefix(c.version, "4."):
		return "≥ 0.8"
	case c.topics >= 10000:
		return "≥ 5"
	default:
		return "> 1"
	}
}
