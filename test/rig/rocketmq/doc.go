// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rocketmq runs released RocketMQ servers on this machine for tests and
// the demo: name servers, masters, slaves and CLUSTER proxies of one version,
// started together, broken and repaired one by one, and gone when the program
// that started them ends, however it ends.
//
// The servers are Java programs from the released jars (hack/rocketmq.sh). They
// advertise 127.0.0.1 only. Brokers and name servers of 5.x also bind it only;
// 4.x, the replication port of brokers and the ports of proxies have no setting
// for that and bind every address.
//
// Section numbers in comments are those of docs/rocketmq.md and
// docs/rocketmq-live.md.
package rocketmq
