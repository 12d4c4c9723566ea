// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import "github.com/lockstep-dev/lockstep/internal/allocation"

// Kind says what a maximum is.
type Kind string

// Kinds of maximum. An empty one is UnknownMaximum.
const (
	// UnknownMaximum: what was observed does not tell it. It refuses nothing.
	UnknownMaximum Kind = "Unknown"
	// Unbounded: there is none.
	Unbounded Kind = "None"
	// Bounded: it is a number.
	Bounded Kind = "Number"
)

// Maximum is how many replicas of a workload can have work. It does not depend on
// the asked count, so that it can be kept in a status.
type Maximum struct {
	Kind Kind
	// Replicas is the number of a bounded maximum, at least 1. Where several
	// workloads share a group it is never below the current count (K22).
	Replicas int64
	// Useful is how many can have work now: Replicas without regard to the
	// current count. A current count above it is reported, not touched.
	Useful int64
	// Group is the name of the group that sets it; empty when none names the
	// workload.
	Group string
	// Topics are those that set it, with brokers and queues.
	Topics []allocation.TopicQueues
	// Idle is how many replicas may be idle on purpose, for IdleReason, above
	// Replicas. It is the largest over the groups.
	Idle       int64
	IdleReason string
	// Role is Mixed if the workload is that to any of its groups.
	Role Role
	// Why is a clause: why it is unknown or none.
	Why string
	// Sentence says it whole, on one line of at most MaxSentence bytes: the number,
	// topics and brokers that set it, what would help and what would not. "N
	// replicas asked, " may precede it.
	Sentence string
}

// Outcome is what a door does.
type Outcome string

// Outcomes. An empty one is AllowedUnknown's.
const (
	Allowed        Outcome = "Allowed"
	Refused        Outcome = "Refused"
	AllowedUnknown Outcome = "AllowedUnknown"
)

// Reason says in one word why.
type Reason string

// Reasons.
const (
	// NoIncrease: the count stays or falls, from whatever number.
	NoIncrease Reason = "NoIncrease"
	// NoMaximum: nothing bounds the workload.
	NoMaximum Reason = "NoMaximum"
	// WithinMaximum: every replica can have work.
	WithinMaximum Reason = "WithinMaximum"
	// WithinIdleReplicas: some are idle, as a person wants it.
	WithinIdleReplicas Reason = "WithinIdleReplicas"
	// MixedRole: some get no queue, but have other work.
	MixedRole Reason = "MixedRole"
	// MaximumUnknown: what was observed does not tell.
	MaximumUnknown Reason = "MaximumUnknown"
	// PastMaximum: some would have no work.
	PastMaximum Reason = "PastMaximum"
)

// Verdict is the answer to an Ask.
type Verdict struct {
	Outcome Outcome
	Reason  Reason
	Maximum Maximum
	// Asked and Current are the counts judged.
	Asked, Current int64
	// Passed is what may go on to the workload: the asked count, or where that is
	// refused, the largest that is not: never below the current one (K23).
	Passed int64
	// Sentence is one line of at most MaxSentence bytes plus the asked count, and
	// ends in no period. Short is the same in less than MaxShort bytes, for
	// admission warnings (K28). Both are empty when there is nothing to say.
	Sentence, Short string
	// Helps are what would let the asked count work, the best first; NoHelp what
	// would not, though it may seem so. Both are set where the asked count is past
	// the maximum.
	Helps, NoHelp []string
	// Notes are what else was seen: it changes no verdict.
	Notes []string
}

// Warns reports whether a door that lets the request pass says Short.
func (v Verdict) Warns() bool { return v.Short != "" && v.Outcome != Refused }
