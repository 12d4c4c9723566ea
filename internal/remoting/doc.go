// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remoting is RocketMQ's remoting wire: frames with JSON or binary
// headers over one TCP connection per address, requests and replies matched by
// opaque, ACL signing and TLS.
//
// The package knows nothing of topics or groups; the typed calls live in
// internal/rocketmq. Every failure is an [*Error] that names the address, the
// call, the response code and what the other side said.
//
// Section numbers in comments are those of docs/rocketmq.md.
package remoting
