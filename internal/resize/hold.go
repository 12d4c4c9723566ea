// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import "time"

// MaxOdd is how many odd ones a list shows before it says how many more there
// are (K05).
const MaxOdd = 8

// NoQueue is the Queue of a hold that concerns no single queue.
const NoQueue = -1

// Reason says in one word why a change waits, or what was found.
type Reason string

// Reasons that only an edit, an approval or other help from a person ends.
const (
	ReasonInvalidSpec      Reason = "InvalidSpec"
	ReasonRefusedTopic     Reason = "RefusedTopic"
	ReasonOrderedTopic     Reason = "OrderedTopic"
	ReasonUnsupportedStore Reason = "UnsupportedStore"
	ReasonAdoptedLarger    Reason = "AdoptedLarger"
	ReasonAwaitingApproval Reason = "AwaitingApproval"
	ReasonForeignChange    Reason = "ForeignChange"
	ReasonGroupOffline     Reason = "GroupOffline"
	ReasonGroupReadsNoMore Reason = "GroupReadsNoMore"
	ReasonPullOnlyReader   Reason = "PullOnlyReader"
	ReasonOffsetBeyondEnd  Reason = "OffsetBeyondEnd"
	ReasonLogLostTail      Reason = "LogLostTail"
	ReasonNoBroker         Reason = "NoBroker"
	ReasonOrderConfig      Reason = "OrderConfig"
)

// Reasons that pass by themselves.
const (
	ReasonUnknown           Reason = "Unknown"
	ReasonNameServersDiffer Reason = "NameServersDiffer"
	ReasonMasterMissing     Reason = "MasterMissing"
	ReasonNameServerWarmUp  Reason = "NameServerWarmUp"
	ReasonGroupBusy         Reason = "GroupBusy"
	ReasonReadBack          Reason = "ReadBack"
	ReasonRouteBehind       Reason = "RouteBehind"
	ReasonRouteAge          Reason = "RouteAge"
	ReasonSettling          Reason = "Settling"
	ReasonLateWindow        Reason = "LateWindow"
	ReasonStillGrowing      Reason = "StillGrowing"
	ReasonLatePending       Reason = "LatePending"
	ReasonPendingNotVisible Reason = "PendingNotVisible"
	ReasonDispatchBehind    Reason = "DispatchBehind"
	ReasonUnread            Reason = "Unread"
	ReasonInvisible         Reason = "Invisible"
	ReasonBroadcastUnknown  Reason = "BroadcastUnknown"
	ReasonHistory           Reason = "History"
	ReasonNoEntry           Reason = "NoEntry"
	ReasonReaders           Reason = "Readers"
	ReasonRetiredWatched    Reason = "RetiredQueuesWatched"
)

// Findings, which hold nothing.
const (
	FindingStranded          Reason = "Stranded"
	FindingForeignBroker     Reason = "ForeignBroker"
	FindingUndeclaredBroker  Reason = "UndeclaredBroker"
	FindingBroadcastUnproven Reason = "BroadcastUnproven"
	FindingLateMessage       Reason = "LateMessage"
	FindingReadBelowWrite    Reason = "ReadBelowWrite"
	FindingUnreadable        Reason = "Unreadable"
	FindingGivenUp           Reason = "GivenUp"
	FindingSplitMembers      Reason = "SplitMembers"
)

// QueueRef names one queue of the topic.
type QueueRef struct {
	Broker string
	Queue  int
}

// Hold is one thing that a change waits for, or one finding. It names broker,
// queue, group and number once; every door prints from it.
type Hold struct {
	Reason Reason
	// Broker, Queue and Group are what it concerns; empty and NoQueue where it
	// concerns no single one.
	Broker string
	Queue  int
	Group  string
	// Count is the number of messages, bytes, levels or queues, as the reason
	// has it; Expired are messages that expired unread and hold nothing.
	Count   int64
	Expired int64
	// Where are the queues concerned, worst first, at most MaxOdd; More is how
	// many are not listed, Of the number of queues looked at.
	Where []QueueRef
	More  int
	Of    int
	// Wait is how long it still lasts and Until when it ends, where known.
	Wait  time.Duration
	Until time.Time
	// Since is when it began, or when the group was last seen to move.
	Since time.Time
	// Why is a phrase for what does not fit the fields above.
	Why string
}
