// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// childVariable makes the test program a rig that another test kills.
const childVariable = "LOCKSTEP_RIG_CHILD_VERSION"

func TestMain(m *testing.M) {
	if version := os.Getenv(childVariable); version != "" {
		child(version)
	}
	os.Exit(m.Run())
}

// child starts a cluster, prints the process ids of its servers and waits.
func child(version string) {
	c, err := rocketmq.Start(context.Background(), rocketmq.Options{
		Version: version, NameServers: 1, Masters: 1, Dir: os.Getenv(childVariable + "_DIR"),
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, s := range c.Servers() {
		fmt.Println("pid", s.PID())
	}
	fmt.Println("ready")
	select {}
}

// TestE2ECrashLeavesNothing kills a rig as hard as can be.
func TestE2ECrashLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+versions()[0], childVariable+"_DIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var pids []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "pid "))
		g.Expect(err).NotTo(HaveOccurred(), lines.Text())
		pids = append(pids, pid)
	}
	g.Expect(pids).To(HaveLen(2))
	for _, pid := range pids {
		g.Expect(alive(pid)).To(BeTrue())
	}
	g.Expect(cmd.Process.Signal(syscall.SIGKILL)).To(Succeed())
	_ = cmd.Wait()
	for _, pid := range pids {
		g.Eventually(func() bool { return alive(pid) }, patience, poll).Should(BeFalse())
	}
}

// TestE2EBreakServers stops, kills, pauses and restarts single servers.
func TestE2EBreakServers(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { testBreak(t, version) })
	}
}

func testBreak(t *testing.T, version string) {
	g := NewWithT(t)
	c := start(t, rocketmq.Options{Version: version, Masters: 1, SlavesPerMaster: 1})
	broker, slave, ns := c.Server("broker-a"), c.Server("broker-a-slave-1"), c.Server("ns-2")
	g.Expect(c.CreateTopic(t.Context(), "kept", 4)).To(Succeed())

	broker.Kill()
	g.Expect(broker.Running()).To(BeFalse())
	_, err := net.Dial("tcp", broker.Addr)
	g.Expect(err).To(MatchError(syscall.ECONNREFUSED))
	addr := broker.Addr
	g.Expect(broker.Start(t.Context())).To(Succeed())
	g.Expect(broker.Addr).To(Equal(addr))
	out, err := c.Admin(t.Context(), "topicList")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring("kept"))

	g.Expect(slave.Stop(within(t, patience))).To(Succeed())
	g.Expect(slave.Running()).To(BeFalse())
	g.Expect(slave.Restart(t.Context())).To(Succeed())

	// A paused server takes connections and answers nothing.
	g.Expect(ns.Pause()).To(Succeed())
	g.Expect(ns.Running()).To(BeTrue())
	g.Expect(ns.Serving()).To(BeFalse())
	conn, err := net.Dial("tcp", ns.Addr)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = conn.Write(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(conn.SetReadDeadline(time.Now().Add(time.Second))).To(Succeed())
	_, err = conn.Read(make([]byte, 1))
	g.Expect(err).To(MatchError(os.ErrDeadlineExceeded))
	g.Expect(conn.Close()).To(Succeed())
	g.Expect(ns.Resume()).To(Succeed())
	g.Expect(ns.Serving()).To(BeTrue())
	g.Expect(ns.Start(t.Context())).To(Succeed())
}

// TestE2EACL starts with access control on: who does not sign is refused, and
// the rig's own calls and those of its clients are signed.
func TestE2EACL(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { testACL(t, version) })
	}
}

func testACL(t *testing.T, version string) {
	g := NewWithT(t)
	credentials := &rocketmq.Credentials{AccessKey: "rig-admin", SecretKey: "rig-secret-1"}
	o := rocketmq.Options{Version: version, NameServers: 1, Masters: 1, ACL: credentials}
	classic := rocketmq.ClassicClient(version)
	kinds := []string{classic, rocketmq.GoClient}
	if !strings.HasPrefix(version, "4.") {
		o.Proxies = 1
		// Seen on 5.3.3, and not explained: with access control on, its proxy serves,
		// refuses nothing, logs nothing, and hands no message to a signed gRPC
		// consumer. Its sends work, and so does everything on 5.5.0.
		if !strings.HasPrefix(version, "5.3.") {
			kinds = append(kinds, rocketmq.GRPCClient)
		}
	}
	b := newBench(t, o, kinds...)
	g.Expect(b.CreateTopic(t.Context(), "guarded", 4)).To(Succeed())
	out, err := b.Admin(t.Context(), "topicRoute", "-t", "guarded")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring("broker-a"))
	g.Expect(rocketmq.CreateTopicUnsigned(t.Context(), b.Cluster, "stranger")).To(MatchError(ContainSubstring("code")))

	signed := []string{"--topic=guarded", "--access-key=" + credentials.AccessKey, "--secret-key=" + credentials.SecretKey}
	for _, kind := range kinds {
		group := "g-" + strings.ReplaceAll(kind, ".", "-")
		consumer := b.run(kind, group, append([]string{"consume", "--group=" + group}, signed...)...)
		b.finish(b.run(kind, "p-"+kind, append([]string{"produce", "--count=20", "--rate=50", "--send-timeout-ms=20000"}, signed...)...))
		g.Eventually(func() int { return b.count(ledger.Query{Group: group}).ConsumedOnce }, patience, poll).Should(BeNumerically(">=", 20))
		b.end(consumer)
	}
	stranger := b.run(classic, "stranger", "produce", "--topic=guarded", "--count=1")
	b.finish(stranger)
	g.Expect(b.count(ledger.Query{}).SendFailures).To(Equal(1))
}
