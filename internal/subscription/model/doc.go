// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is a RocketMQ reduced to what a subscription change sees of
// it: brokers with a switch for consumption on master and slave, queues of
// tagged messages, members with a filter each, one table per broker that takes
// any of their filters, positions that members hold and write, and resets. It
// has no sockets, no clock and no randomness of its own: whoever explores it
// chooses every event.
//
// It takes the worst of what a real RocketMQ may do: the table is the filter
// of whichever member the explorer names, a member writes its own position
// over what was set from outside, a reset by time leaves queues without an
// owner as they are, a broker may forget its last config. Sources: rocketmq.md
// 5.2, rocketmq-live.md 5, 6, 10.
package model
