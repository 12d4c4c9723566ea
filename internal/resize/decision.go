// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import "time"

// Decision is one next step, or the holds that say why there is none.
type Decision struct {
	// Stage is where the change stands.
	Stage Stage
	// Step is what to do now; its Kind is empty when there is nothing to do.
	Step Step
	// Holds say what the change waits for. They are empty when a step is due
	// or nothing is wanted. At most MaxOdd are listed.
	Holds []Hold
	// Omitted counts the holds that are not listed.
	Omitted int
	// Findings are worth saying but hold nothing: stranded messages, foreign
	// brokers, absent broadcast members. At most MaxOdd are listed.
	Findings []Hold
	// Next is the progress to persist before Step is sent; see the package
	// comment.
	Next Progress
	// LookAgain is when the next look is due, at the latest.
	LookAgain time.Duration
	// Remaining is about how long the present wait lasts; zero when that
	// cannot be known.
	Remaining time.Duration
	// Approval is set while a step waits for a person (Mode Approve), or
	// could be approved out of FirstSight.
	Approval *Approval
	// Proof is what was shown so far.
	Proof Proof
	// InForce reports that what an application needs is in force: the topic
	// has the declared writes and permission on all its brokers and in all
	// routes. Draining and watching do not take it away (K07).
	InForce bool
	// AsDeclared is the strict sum: InForce, reads as declared, nothing held,
	// no retired queue in its late window.
	AsDeclared bool
	// Open reports that a change or a watch is open: a finalizer is held
	// (rule R23).
	Open bool
}

// Approval is a step that waits for a person.
type Approval struct {
	// ID names the step; the approval must carry exactly it. It changes with
	// the target, with what the brokers show and after each re-opening, so a
	// stale approval does nothing.
	ID string
	// Step is the kind of step that waits.
	Step StepKind
	// Proof says what was shown, and what the step takes away (rule R22).
	Proof string
}

// Proof is what was shown so far in the present change.
type Proof struct {
	// Target is the declared number of queues per broker.
	Target int
	// Brokers and NameServers are how many take part.
	Brokers, NameServers int
	// Routed is how many name servers route the target.
	Routed int
	// Retiring is the number of retiring queues that are still readable,
	// Still how many of them stood still long enough.
	Retiring, Still int
	// RouteAge is the wait for old routes; Settled how much of it has passed.
	RouteAge, Settled time.Duration
	// ClearLooks is how many looks saw nothing pending, far enough apart (2
	// are needed).
	ClearLooks int
	// Unread is what is left to drain, by group, for at most MaxOdd groups,
	// the largest first; UnreadTotal is over all. Done is the share of
	// messages already drained in this change, in percent.
	Unread      []GroupCount
	UnreadTotal int64
	Done        int
	// History is the number of readable messages that the cut takes away.
	History int64
	// Watched is the number of retired queues under watch, WatchUntil when
	// the last late window ends; zero times are not known yet.
	Watched    int
	WatchUntil time.Time
	// Read and Write are the largest counts that any broker shows; zero when
	// not known.
	Read, Write int
}

// GroupCount is a number of messages of one group.
type GroupCount struct {
	Group  string
	Count  int64
	Queues int
}
