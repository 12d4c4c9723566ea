// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is a RocketMQ reduced to what queue changes see of it:
// brokers with queue counts, queues, dispatch and late messages; name servers
// with routes that may lag; producers with stale or fixed routes; classic, POP
// and broadcast groups that come and go. It has no sockets, no clock and no
// randomness of its own: whoever explores it chooses every event.
//
// It takes the worst of what a real RocketMQ may do: a group without an entry
// starts at the end of a queue, a live member overwrites offsets set from
// outside, late messages land at the last moment, counts of pending messages
// may leave some out. Sources: rocketmq.md 4 and rocketmq-live.md 4, 6.
package model
