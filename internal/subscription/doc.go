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
//
// Audit: fill an [Ask] with one look, the pods and the referenced workloads,
// and call [Audit] with the state of the last one:
//
//	report := subscription.Audit(ask, state)
//	state = report.State
//
// Show Verdict.Status, Reason and Sentence, which are debounced; let nothing
// but a planner act on Verdict.Now. Keep the exported part of the state in the
// object's status, or make it with [Shown] from the object's conditions, so
// that a restart flaps none.
package subscription
