// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Stage is where a change stands. Its text is what a column shows.
type Stage string

// Stages, in the order of a change by fence. Rest is StageSteady, the empty
// text.
const (
	StageSteady     Stage = ""
	StagePreparing  Stage = "Preparing"
	StageFencing    Stage = "Fencing"
	StageStill      Stage = "ProvingStill"
	StagePublishing Stage = "Publishing"
	StageRollout    Stage = "AwaitingRollout"
	StageRewinding  Stage = "Rewinding"
	StageLifting    Stage = "Lifting"
	StageMoving     Stage = "ProvingMovement"
	// StageStalled: the fence's time is over with mixed members.
	StageStalled Stage = "Stalled"
)

// FenceStages are the stages of a change by fence in order, for a display.
func FenceStages() []Stage {
	return []Stage{StageFencing, StageStill, StagePublishing, StageRollout, StageLifting, StageMoving}
}

// RewindStages are the stages of a change by rewind in order, for a display.
func RewindStages() []Stage {
	return []Stage{StagePublishing, StageRollout, StageFencing, StageRewinding, StageLifting, StageMoving}
}

// StepKind says what an actor has to do.
type StepKind string

// Step kinds. The zero StepKind is no step.
const (
	// StepFreshLook asks for a look begun after the decision. It changes nothing.
	StepFreshLook StepKind = "FreshLook"
	// StepPublish writes the subscription of Hash to the ConfigMap and, where new
	// pods wait at the door, lets them start (rule K30).
	StepPublish StepKind = "Publish"
	// StepFence and StepUnfence set consumeEnable on replicas: read the whole
	// group config in the same call chain, write it back with that one field
	// changed, read back. A slave that refuses the write gets it by its sync.
	StepFence   StepKind = "Fence"
	StepUnfence StepKind = "Unfence"
	// StepRewindQueues sets queues back on brokers that do it themselves: call
	// 222 with queueId and offset, timestamp 0, isForce true (live 10.3).
	StepRewindQueues StepKind = "RewindQueues"
	// StepRewindTopics sets topics back on other brokers: call 222 with a time,
	// isForce false, members connected (live 10.1).
	StepRewindTopics StepKind = "RewindTopics"
	// StepSetOffsets commits offsets by call 15. The group must have no member
	// when it is sent, or a member writes its own over it (live 6).
	StepSetOffsets StepKind = "SetOffsets"
)

// Switch is one replica's consumeEnable.
type Switch struct {
	Broker, Address string
	// Slave says that Address is not the master's.
	Slave bool
	// Process is that of the master that was looked at; the peer must still be
	// it (rule R03). It is zero for a slave.
	Process snapshot.Process
}

// QueueOffset is a queue to be set back.
type QueueOffset struct {
	Broker, Topic string
	Queue         int
	// To is the offset, From the committed one it replaces.
	To, From int64
	Process  snapshot.Process
}

// TopicTime is a topic to be set back on one broker.
type TopicTime struct {
	Broker, Topic string
	To            time.Time
	Process       snapshot.Process
}

// Step is one thing to do. It is data; an actor carries it out and reads back.
type Step struct {
	Kind StepKind
	// Set and Hash are what to publish.
	Set  Set
	Hash string
	// Switches are for StepFence and StepUnfence, masters first.
	Switches []Switch
	// Queues are for StepRewindQueues and StepSetOffsets, Topics for
	// StepRewindTopics.
	Queues []QueueOffset
	Topics []TopicTime
	// NotAfter, unless zero, is the last moment at which a call of the step may
	// be sent, on the monotonic clock (rule R02).
	NotAfter time.Time
}

// Changing reports whether carrying the step out changes RocketMQ.
func (s Step) Changing() bool {
	return s.Kind != "" && s.Kind != StepFreshLook && s.Kind != StepPublish
}

// Decision is one next step, or the holds that say why there is none.
type Decision struct {
	// Stage is where the change stands.
	Stage Stage
	// Step is what to do now; its Kind is empty when there is nothing to do.
	Step Step
	// Holds say what the change waits for, at most MaxOdd; Omitted is how many
	// more there are. Findings hold nothing.
	Holds    []Hold
	Omitted  int
	Findings []Hold
	// Next is the progress to persist before Step is sent.
	Next Progress
	// LookAgain is when the next look is due, at the latest.
	LookAgain time.Duration
	// Choice is set while a person may choose.
	Choice *Choice
	// Open reports that a change is open: a finalizer is held (rule R23) and no
	// topic of the group may be resized (rule R16).
	Open bool
	// Fenced is since when consumption is stopped; zero when it is not. While it
	// is, scale-ups are held (rule R36).
	Fenced time.Time
	// Redeliver is about how many messages a rewind will deliver again.
	Redeliver int64
	// NothingSkipped is true when a change is open, or just ended, and no other
	// filter was seen, or could not be excluded, outside a fence (rule R30).
	NothingSkipped bool
	// Ended is how a change ended with this decision; empty otherwise.
	Ended Outcome
	// Report is the audit of this look alone, strict about new members.
	Report Report
}

// Choice is something that only a person may choose.
type Choice struct {
	// ID is what spec must accept; it is for one change only.
	ID string
	// Sentence says what is chosen and what it costs.
	Sentence string
}

// Hold is one thing that a change waits for, or one finding.
type Hold struct {
	Reason Reason
	// Broker and Topic are what it concerns; empty where it is no single one.
	Broker, Topic string
	// Count is the number of members, pods, queues or messages.
	Count int64
	// Until is when the wait ends, where known.
	Until time.Time
	// Sentence says it all, in one line.
	Sentence string
}

// Reasons of holds and findings.
const (
	HoldUnknown       Reason = "Unknown"
	HoldMembers       Reason = "MembersUnknown"
	HoldNotMapped     Reason = "MemberNotMapped"
	HoldWorkload      Reason = "WorkloadUnknown"
	HoldBroadcast     Reason = "Broadcast"
	HoldNoEntry       Reason = "NoEntry"
	HoldTopicBusy     Reason = "TopicBusy"
	HoldForeignFence  Reason = "ForeignFence"
	HoldNoOffsets     Reason = "NoAgreedOffsets"
	HoldOldClients    Reason = "OldClients"
	HoldReplica       Reason = "ReplicaOpen"
	HoldGroupMissing  Reason = "GroupMissing"
	HoldStill         Reason = "OffsetsMoving"
	HoldRollout       Reason = "RolloutInProgress"
	HoldOldPods       Reason = "OldPods"
	HoldTables        Reason = "TablesStale"
	HoldMixed         Reason = "MembersMixed"
	HoldRewind        Reason = "Rewinding"
	HoldLifting       Reason = "Lifting"
	HoldMovement      Reason = "NotMovingYet"
	HoldEnded         Reason = "WaitingForEdit"
	FindingNoDoor     Reason = "FenceNotOffered"
	FindingRedeliver  Reason = "WillRedeliver"
	FindingExpired    Reason = "NoteExpired"
	FindingUnproven   Reason = "Unproven"
	FindingAbandoned  Reason = "RewindAbandoned"
	FindingNotMoving  Reason = "NotMoving"
	FindingScaleHeld  Reason = "ScaleUpsHeld"
	FindingFenceOpen  Reason = "FenceWasOpen"
	FindingBeyondNote Reason = "OffsetsMoved"
)
