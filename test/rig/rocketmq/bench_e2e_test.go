// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/process"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

const (
	// patience is for a machine whose processors are shared by many.
	patience = 8 * time.Minute
	poll     = 500 * time.Millisecond
)

// versions are those of LOCKSTEP_E2E_VERSIONS.
func versions() []string {
	if text := os.Getenv("LOCKSTEP_E2E_VERSIONS"); text != "" {
		return strings.Fields(text)
	}
	return []string{"4.9.7", "5.3.3", "5.5.0"}
}

// logWriter hands lines to the test's log.
type logWriter struct{ t *testing.T }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// bench is a cluster with clients and one folder of ledgers.
type bench struct {
	*rocketmq.Cluster
	t       *testing.T
	clients rocketmq.Clients
	ledgers string
	running *process.Supervisor
}

func start(t *testing.T, o rocketmq.Options) *rocketmq.Cluster {
	g := NewWithT(t)
	o.Log = logWriter{t}
	began := time.Now()
	c, err := rocketmq.Start(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(c.Stop()).To(Succeed()) })
	t.Logf("RocketMQ %s started in %s", c.Version, time.Since(began).Round(time.Millisecond))
	return c
}

func newBench(t *testing.T, o rocketmq.Options, kinds ...string) *bench {
	g := NewWithT(t)
	clients, err := rocketmq.BuildClients(t.Context(), logWriter{t}, kinds...)
	g.Expect(err).NotTo(HaveOccurred())
	supervisor, err := process.NewSupervisor()
	g.Expect(err).NotTo(HaveOccurred())
	b := &bench{Cluster: start(t, o), t: t, clients: clients, ledgers: t.TempDir(), running: supervisor}
	t.Cleanup(func() { NewWithT(t).Expect(supervisor.Close(0)).To(Succeed()) })
	return b
}

// run starts a client under a name of its own.
func (b *bench) run(kind, name string, args ...string) *process.Process {
	g := NewWithT(b.t)
	output, err := os.Create(filepath.Join(b.ledgers, name+".log"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = output.Close() }()
	env := append(os.Environ(), "POD_NAME="+name, "LEDGER="+b.ledgers, "LOCKSTEP_CLIENT_HOME="+filepath.Join(b.ledgers, "home"))
	if len(b.Proxies) > 0 {
		env = append(env, "PROXY_ENDPOINTS="+b.Proxies[0].GRPCAddr)
	}
	p, err := b.running.Start(process.Spec{
		Path: b.clients[kind], Args: args, Env: append(env, "NAMESRV_ADDR="+b.NameServerAddress()), Output: output,
	})
	g.Expect(err).NotTo(HaveOccurred())
	b.t.Cleanup(func() {
		if b.t.Failed() {
			text, _ := os.ReadFile(output.Name())
			b.t.Logf("%s printed:\n%s", name, text)
		}
	})
	return p
}

// finish waits for a client that ends by itself.
func (b *bench) finish(p *process.Process) {
	select {
	case <-p.Done():
		NewWithT(b.t).Expect(p.State().ExitCode).To(BeZero())
	case <-time.After(patience):
		b.t.Fatalf("%s (pid %d) does not end", p.Name(), p.PID())
	}
}

// end asks clients to stop and expects that they do so in good order.
func (b *bench) end(clients ...*process.Process) {
	g := NewWithT(b.t)
	for _, p := range clients {
		g.Expect(p.Signal(syscall.SIGTERM)).To(Succeed())
	}
	for _, p := range clients {
		b.finish(p)
	}
}

func (b *bench) count(q ledger.Query) ledger.Counts {
	l, err := ledger.ReadDir(b.ledgers)
	NewWithT(b.t).Expect(err).NotTo(HaveOccurred())
	return l.Count(q)
}

// expectAll waits until the group has consumed every message that was sent, out of
// total that a producer tried to send. On a crowded machine sends may fail; they
// are noted, so that the sum is exact all the same.
func (b *bench) expectAll(q ledger.Query, total int) {
	g := NewWithT(b.t)
	g.Eventually(func() string {
		c := b.count(q)
		return fmt.Sprintf("tried %d lost %d", c.Sent+c.SendFailures, len(c.Lost))
	}, patience, poll).Should(Equal(fmt.Sprintf("tried %d lost 0", total)), "topic %s, group %s", q.Topic, q.Group)
	c := b.count(q)
	g.Expect(c.Sent).To(BeNumerically(">", total/2))
	b.t.Logf("%-8s %-10s %v", q.Topic, q.Group, c)
}

// alive tells whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func within(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
