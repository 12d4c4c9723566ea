// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package brokertest is a RocketMQ inside the test process: name servers,
// brokers and a proxy's remoting port that speak the real wire over TCP on
// loopback, on a clock the test moves.
//
// It keeps topics, groups, queues with their messages, committed offsets,
// members, late deliveries, data versions and registrations, and it answers as
// the released versions do, their faults included (rocketmq.md 10,
// rocketmq-live.md 2). The contract tests in brokertest/contract run against it
// and against real servers, so that it cannot drift from the truth.
//
//	c := brokertest.Start(t, brokertest.Options{Version: brokertest.V533})
//	c.CreateTopic("orders", 8, 8)
//	c.Produce("orders", "broker-a", 7, 10)
//	client := rocketmq.New(remoting.NewClient(remoting.Options{}))
//	info, err := client.ClusterInfo(ctx, c.NameServerAddrs()[0])
//	c.Inject(brokertest.Fault{Node: "broker-b", Code: 17, Times: 1, Do: brokertest.Drop()})
//	c.Watch("orders") // before the code under test runs
//	…
//	c.RequireInvariants(t)
//	c.RequireNothingLost(t, "orders", "billing")
//	c.Recorder().RequireNoForbiddenCalls(t)
//
// Tests play traffic with methods of Cluster, without sockets. Nothing in the
// package waits for wall-clock time: whatever is due happens before the next
// request or method after the clock has moved.
package brokertest
