// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard is the one rule that says how many replicas of a workload can
// have work, and whether a change of its replicas may pass. All doors (admission
// policy, webhook, controller, CLI) print what it says.
//
// It is pure: the declared groups, what was observed of their queues and members,
// and the asked count go in; a [Verdict] comes out. It knows neither Kubernetes
// nor sockets.
//
//	verdict := guard.Judge(ask)
//
// The controller writes Verdict.Maximum into status.scale.targets of each group
// that names the workload (K22), a door prints Verdict.Sentence, or Verdict.Short
// where space is limited. Whoever lowers instead of refusing passes on
// Verdict.Passed (K23, K25).
package guard
