// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import "time"

// MaxOdd is how many odd ones a list names before it says how many more there
// are (K05).
const MaxOdd = 8

// Status is a verdict's answer; the empty Status is none yet.
type Status string

// Answers, in the words of conditions.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// Reason says in one word why a verdict is what it is.
type Reason string

// Reasons of MembersAgree and MatchesSpec.
const (
	ReasonAgree              Reason = "Agree"
	ReasonNoMembers          Reason = "NoMembers"
	ReasonFilterDiffers      Reason = "FilterDiffers"
	ReasonExpressionType     Reason = "ExpressionTypeMismatch"
	ReasonTopicsDiffer       Reason = "TopicsDiffer"
	ReasonSameGroupTwoApps   Reason = "SameGroupTwoApps"
	ReasonMemberDiffers      Reason = "MemberDiffers"
	ReasonRolloutInProgress  Reason = "RolloutInProgress"
	ReasonNothingDeclared    Reason = "NothingDeclared"
	ReasonMemberSilent       Reason = "MemberSilent"
	ReasonNotReported        Reason = "SubscriptionNotReported"
	ReasonDuplicateClientID  Reason = "DuplicateClientID"
	ReasonBrokerSilent       Reason = "BrokerSilent"
	ReasonProxyNotQueried    Reason = "ProxyNotQueried"
	ReasonPodsWithoutMember  Reason = "PodsWithoutMember"
	ReasonNotLookedYet       Reason = "NotLookedYet"
	ReasonDeclaredAndPresent Reason = "AsDeclared"
)

// Reasons of BrokersHold.
const (
	ReasonHeld          Reason = "Held"
	ReasonNoTable       Reason = "FilterComesWithRequest"
	ReasonBrokersDiffer Reason = "BrokersDiffer"
	ReasonBrokerStale   Reason = "BrokerSubscriptionStale"
)

// Verdict is one of the three answers of an audit.
type Verdict struct {
	// Status, Reason and Sentence are what to show. They are debounced: a
	// verdict changes when it was seen for a while (see [State]).
	Status   Status
	Reason   Reason
	Sentence string
	// Now is the answer of this look alone, NowReason and NowSentence why. A
	// change rests on these, never on what is shown.
	Now         Status
	NowReason   Reason
	NowSentence string
	// Answered of Of members said what they subscribe to; members of dead pods
	// are in neither, nor new ones that have not answered yet.
	Answered, Of int
	// Odd are the odd ones, at most MaxOdd; Omitted is how many more there are.
	Odd     []Odd
	Omitted int
}

// Odd is a member, or a broker, that is not like the others.
type Odd struct {
	// Pod is namespace/name; empty when the member was mapped to none.
	Pod string
	// Workload and ReplicaSet are those of the pod.
	Workload, ReplicaSet string
	ClientID, Address    string
	// Broker is set for an odd broker, and the fields above are empty.
	Broker string
	// Reads says what it subscribes to, Differs how that differs.
	Reads, Differs string
}

// Skipped says which messages of one topic may be skipped for good while
// members disagree.
type Skipped struct {
	Topic string
	// Tags are the tags at risk. AllBut, when Tags is empty, says that every
	// message is whose tag is not in it.
	Tags, AllBut []string
	// Untold says that it cannot be told from the filters (SQL92, mixed types).
	Untold bool
}

// Report is the outcome of one audit.
type Report struct {
	// Seq is that of the look.
	Seq uint64
	// MembersAgree: all members subscribe alike. MatchesSpec: all subscribe as
	// declared. BrokersHold: every broker's table is the members'.
	MembersAgree, MatchesSpec, BrokersHold Verdict
	// Members is how many members count; Ghosts, Joining and Unmapped are apart
	// (ghosts, new ones without an answer) or among them (without a pod).
	Members, Ghosts, Joining, Unmapped int
	// Agreeing is how many of them subscribe as most do.
	Agreeing int
	// Agreed is what all members subscribe to; nil unless MembersAgree.Now is
	// True and there are members.
	Agreed Set
	// Skipped is what may be skipped meanwhile, Since when members began to
	// disagree and LastAgreed when they were last seen to agree; zero if not.
	Skipped           []Skipped
	Since, LastAgreed time.Time
	// Rolling is the rollout that explains a disagreement; nil when none does.
	Rolling *Rollout
	// Findings are what identity has to say, worst first, at most MaxOdd;
	// OmittedFindings is how many more there are.
	Findings        []Finding
	OmittedFindings int
	// All are the members one by one, for the command line and metrics.
	All []Member
	// State is to be handed to the next audit.
	State State
}

// Rollout is how far a workload's rollout is.
type Rollout struct {
	Workload Ref
	// Updated of Pods are of the present template; Terminating pods count.
	Updated, Pods int
	// Since is when it was first seen, Deadline when it stops being an excuse.
	Since, Deadline time.Time
}
