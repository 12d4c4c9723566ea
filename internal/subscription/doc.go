// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscription reads filters as RocketMQ reads them, says whether the
// members of a consumer group subscribe alike, and plans a change of a group's
// subscription so that nothing is skipped. It is pure: facts and the time go
// in, values come out. It knows neither Kubernetes nor sockets.
//
// Filters: [Parse] reads a declared filter and refuses what RocketMQ would
// refuse or read differently than it looks; [Observed] reads what a member
// says of itself; [Filter.Equal] compares.
package subscription
