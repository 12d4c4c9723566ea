// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package allocation computes which queues each member of a consumer group gets,
// by the algorithms of the clients themselves (rocketmq.md 6), and from that how
// many members can have work.
//
// There are two forms. [Strategy] is the exact form: lists of queues and client
// ids in, lists of queues out, equal queue for queue to the Java classes, or to
// rocketmq-client-go where its name says so. [RangeAt], [Ranges] and [CapacityOf]
// are the counting form: they build no list and work for any number of queues.
//
// The package is pure: no clock, no client, no socket, no state.
package allocation
