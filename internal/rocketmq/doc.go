// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rocketmq is the admin client: typed calls to name servers, brokers
// and proxies over internal/remoting, with the differences between RocketMQ's
// versions hidden where they can be and refused where they cannot.
//
// Three rules hold for every method:
//
//   - An answer is complete or an error. A body of which a part cannot be read
//     is an error of kind Malformed, never a shorter list, and a list over
//     queues is all of them or none.
//   - A changing method takes a [Master], not an address: right before the
//     change the peer proves to be that broker (rule R03).
//   - What must never be sent cannot be expressed: 308, 352, 41, 306 and 316
//     have no method, and an offset reset takes neither offset -1 nor a retired
//     queue.
//
// Errors are [*remoting.Error] with its kinds, where "not found" is judged by
// call (see refine), [*IdentityError] when the peer is another broker than
// expected, and [*NotSentError] when the client refused.
//
// Section numbers in comments are those of docs/rocketmq.md and
// docs/rocketmq-live.md.
package rocketmq
