// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names holds RocketMQ's rules for the names of topics and consumer
// groups, and which names belong to RocketMQ itself (rocketmq.md 11). It is
// pure: no sockets, no state.
package names
