// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/process"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// each is what every producer of TestE2EClients sends.
const each = 300

// TestE2EClients: every kind of producer reaches every kind of consumer, and
// nothing is left running.
func TestE2EClients(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { testClients(t, version) })
	}
}

func testClients(t *testing.T, version string) {
	g := NewWithT(t)
	classic := rocketmq.ClassicClient(version)
	kinds := []string{classic, rocketmq.GoClient}
	o := rocketmq.Options{Version: version, BrokerProperties: rocketmq.ShortDelays()}
	if !strings.HasPrefix(version, "4.") {
		kinds = append(kinds, rocketmq.GRPCClient)
		o.Proxies = 1
	}
	b := newBench(t, o, kinds...)
	out, err := b.Admin(t.Context(), "updateTopic", "-c", b.Name, "-t", "orders", "-r", "8", "-w", "8")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring("success"))

	var consumers, producers []*process.Process
	groups := []string{}
	consume := func(kind, what string) {
		group := "g-" + strings.ReplaceAll(kind, ".", "-") + "-" + what
		groups = append(groups, group)
		consumers = append(consumers, b.run(kind, group, what, "--topic=orders", "--group="+group, "--handle-ms=1"))
	}
	for _, kind := range kinds {
		consume(kind, "consume")
		producers = append(producers, b.run(kind, "p-"+kind, "produce", "--topic=orders", "--rate=100", "--send-timeout-ms=20000", "--tags=PAID,REFUND", fmt.Sprintf("--count=%d", each)))
	}
	if o.Proxies > 0 {
		consume(rocketmq.GRPCClient, "consume-simple")
	}
	for _, p := range producers {
		b.finish(p)
	}
	for _, group := range groups {
		b.expectAll(ledger.Query{Topic: "orders", Group: group}, each*len(producers))
	}
	for _, group := range groups {
		onQueues(t, b.count(ledger.Query{Topic: "orders", Group: group}))
	}
	b.end(consumers...)

	pids := []int{}
	for _, s := range b.Servers() {
		pids = append(pids, s.PID())
	}
	g.Expect(b.Stop()).To(Succeed())
	for _, pid := range pids {
		g.Expect(alive(pid)).To(BeFalse(), "pid %d", pid)
	}
}

// onQueues checks that consumers named the queue of every message, and that all
// 16 queues had some.
func onQueues(t *testing.T, c ledger.Counts) {
	g := NewWithT(t)
	consumed, queues := 0, 0
	for key, counts := range c.Queues {
		if key.Broker == "" || key.Queue == ledger.Unknown || counts.Consumed == 0 {
			continue
		}
		g.Expect(key.Broker).To(BeElementOf("broker-a", "broker-b"))
		consumed += counts.Consumed
		queues++
	}
	g.Expect(consumed).To(Equal(c.Sent + c.Unconfirmed))
	g.Expect(queues).To(Equal(16))
}

// TestE2EClientModes: late, transactional, ordered and filtered messages arrive.
func TestE2EClientModes(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) { testModes(t, version) })
	}
}

type mode struct {
	topic string
	// attributes of the topic.
	attributes string
	kind       string
	produce    []string
	consume    []string
	query      ledger.Query
	// tried is the number of messages that the producer tries to send and the query
	// wants.
	tried int
}

func testModes(t *testing.T, version string) {
	g := NewWithT(t)
	classic := rocketmq.ClassicClient(version)
	all := 40
	modes := []mode{
		{topic: "delayed", kind: classic, produce: []string{"--delay-level=3"}, tried: all},
		{topic: "tx", attributes: "+message.type=TRANSACTION", kind: classic, produce: []string{"--transaction", "--commit-ms=5000"}, tried: all},
		{topic: "ordered", kind: classic, produce: []string{"--order-keys=8"}, consume: []string{"--orderly"}, tried: all},
		{topic: "fixed", kind: classic, produce: []string{"--queue=broker-b:3", "--never-refresh-route"}, tried: all},
		{topic: "paid", kind: classic, produce: []string{"--tags=PAID,REFUND"}, consume: []string{"--filter=PAID"}, query: ledger.Query{Tags: []string{"PAID"}}, tried: all / 2},
		{topic: "sql", kind: classic, produce: []string{"--tags=PAID,REFUND"}, consume: []string{"--filter-type=sql", "--filter=TAGS = 'PAID'"}, query: ledger.Query{Tags: []string{"PAID"}}, tried: all / 2},
		{topic: "refused", kind: classic, consume: []string{"--refuse=0.3"}, tried: all},
		{topic: "go-order", kind: rocketmq.GoClient, produce: []string{"--order-keys=8", "--tags=PAID,REFUND"}, consume: []string{"--orderly", "--filter=PAID"}, query: ledger.Query{Tags: []string{"PAID"}}, tried: all / 2},
		{topic: "go-delay", kind: rocketmq.GoClient, produce: []string{"--delay-level=3"}, tried: all},
	}
	kinds := []string{classic, rocketmq.GoClient}
	o := rocketmq.Options{Version: version, BrokerProperties: rocketmq.ShortDelays()}
	if !strings.HasPrefix(version, "4.") {
		kinds = append(kinds, rocketmq.GRPCClient)
		o.Proxies = 1
		modes = append(modes,
			mode{topic: "timer", kind: classic, produce: []string{"--timer-seconds=4"}, tried: all},
			mode{topic: "grpc-timer", attributes: "+message.type=DELAY", kind: rocketmq.GRPCClient, produce: []string{"--timer-seconds=4"}, tried: all},
			mode{topic: "grpc-fifo", attributes: "+message.type=FIFO", kind: rocketmq.GRPCClient, produce: []string{"--order-keys=8"}, tried: all},
			mode{topic: "grpc-tx", attributes: "+message.type=TRANSACTION", kind: rocketmq.GRPCClient, produce: []string{"--transaction", "--commit-ms=100"}, tried: all},
			mode{topic: "grpc-paid", kind: rocketmq.GRPCClient, produce: []string{"--tags=PAID,REFUND"}, consume: []string{"--filter=PAID"}, query: ledger.Query{Tags: []string{"PAID"}}, tried: all / 2},
		)
	}
	b := newBench(t, o, kinds...)
	for _, m := range modes {
		g.Expect(b.CreateTopic(t.Context(), m.topic, 4, m.attributes)).To(Succeed())
		t.Run(m.topic, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			b := *b
			b.t = t
			b.testMode(m, all)
		})
	}
}

func (b *bench) testMode(m mode, count int) {
	group := "g-" + m.topic
	consumer := b.run(m.kind, group, append([]string{"consume", "--topic=" + m.topic, "--group=" + group}, m.consume...)...)
	producer := b.run(m.kind, "p-"+m.topic, append([]string{"produce", "--topic=" + m.topic, "--rate=50", "--send-timeout-ms=20000", fmt.Sprintf("--count=%d", count)}, m.produce...)...)
	b.finish(producer)
	m.query.Topic, m.query.Group = m.topic, group
	b.expectAll(m.query, m.tried)
	b.end(consumer)
	counts := b.count(ledger.Query{Topic: m.topic, Group: group})
	g := NewWithT(b.t)
	g.Expect(counts.Unconfirmed).To(BeNumerically("<=", counts.SendFailures))
	if len(m.query.Tags) > 0 {
		wanted := b.count(m.query)
		g.Expect(counts.ConsumedOnce).To(Equal(wanted.ConsumedOnce), "other tags must not arrive")
		g.Expect(counts.Unconfirmed).To(Equal(wanted.Unconfirmed), "other tags must not arrive")
	}
	if m.topic == "fixed" {
		key := ledger.QueueKey{Topic: m.topic, Broker: "broker-b", Queue: 3}
		g.Expect(counts.Queues).To(HaveLen(1))
		g.Expect(counts.Queues[key].Consumed).To(Equal(counts.Sent + counts.Unconfirmed))
	}
	if m.topic == "refused" {
		g.Expect(counts.Refusals).To(BeNumerically(">", 0))
	}
}
