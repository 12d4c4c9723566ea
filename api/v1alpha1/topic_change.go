// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ChangeKind says what a change of queues is for: Shrink, Grow, Repair, Placement or Rescue. Later
// versions may add values.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z]*$`
type ChangeKind string

const (
	// ChangeShrink makes queues fewer.
	ChangeShrink ChangeKind = "Shrink"
	// ChangeGrow makes queues more; a shrink that is turned round becomes one.
	ChangeGrow ChangeKind = "Grow"
	// ChangeRepair raises reads on a broker that was found with more queues for writing than for reading.
	ChangeRepair ChangeKind = "Repair"
	// ChangePlacement adds brokers to the topic or takes some away.
	ChangePlacement ChangeKind = "Placement"
	// ChangeRescue opens queues for reading in which messages were stranded.
	ChangeRescue ChangeKind = "Rescue"
)

// Stage is the step at which a change of queues stands. Later versions may add values.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z]*$`
type Stage string

// Stages before anything is narrowed or widened.
const (
	// StageCreating makes the topic where no broker has it.
	StageCreating Stage = "Creating"
	// StageRepairing raises reads on a broker that has more queues for writing than for reading.
	StageRepairing Stage = "Repairing"
)

// The stages of a shrink, in their order.
const (
	// StageNarrowingWrites lowers the number of writable queues on every broker.
	StageNarrowingWrites Stage = "NarrowingWrites"
	// StageRoutes waits until every name server routes fewer writable queues.
	StageRoutes Stage = "Routes"
	// StageSettling waits until the oldest route that a client may use has passed and every retiring
	// queue has been still for a window.
	StageSettling Stage = "Settling"
	// StageLookingForPending looks twice for delayed, timed and half messages that are still to arrive.
	StageLookingForPending Stage = "LookingForPending"
	// StageDraining waits until every group has read the retiring queues to their end.
	StageDraining Stage = "Draining"
	// StageProvingAgain takes a fresh look at everything before the cut.
	StageProvingAgain Stage = "ProvingAgain"
	// StageNarrowingReads lowers the number of readable queues on every broker.
	StageNarrowingReads Stage = "NarrowingReads"
	// StageWatchingRetired looks whether a late message arrives in a retired queue.
	StageWatchingRetired Stage = "WatchingRetired"
	// StageReopening opens retired queues for reading again because a late message arrived in one.
	StageReopening Stage = "Reopening"
)

// The stages of a growth, in their order.
const (
	// StageSeeding writes and reads back where each group begins in queues that are about to be opened.
	StageSeeding Stage = "Seeding"
	// StageWideningReads raises the number of readable queues on every broker.
	StageWideningReads Stage = "WideningReads"
	// StageAwaitingReaders gives readers a bounded time to take the new queues.
	StageAwaitingReaders Stage = "AwaitingReaders"
	// StageWideningWrites raises the number of writable queues on every broker.
	StageWideningWrites Stage = "WideningWrites"
)

// The stages of other changes.
const (
	// StageAddingBroker brings the topic to a broker.
	StageAddingBroker Stage = "AddingBroker"
	// StageClosingBroker takes the topic from a broker.
	StageClosingBroker Stage = "ClosingBroker"
	// StageRescuing opens queues in which messages were stranded.
	StageRescuing Stage = "Rescuing"
)

// QueueChange is a change of queues that is under way.
type QueueChange struct {
	// id tells this change from every other one of the topic.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ID string `json:"id,omitempty"`

	// generation is the metadata.generation of the spec that the change serves.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	Generation int64 `json:"generation,omitempty"`

	// kind says what the change is for: Shrink, Grow, Repair, Placement or Rescue.
	//
	// +required
	Kind ChangeKind `json:"kind,omitempty"`

	// from is the largest number of readable queues per broker when the change began.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	From *int32 `json:"from,omitempty"`

	// to is the number of queues per broker that the change leads to.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	To *int32 `json:"to,omitempty"`

	// started is when the change began.
	//
	// +required
	Started metav1.Time `json:"started,omitzero"` //nolint:kubeapilinter // the zero time is omitted, so it cannot be set by mistake

	// stage is the step at which the change stands. A shrink goes through NarrowingWrites, Routes,
	// Settling, LookingForPending, Draining, ProvingAgain, NarrowingReads and WatchingRetired; a growth
	// through Seeding, WideningReads, AwaitingReaders and WideningWrites. Reopening means that a late
	// message arrived in a retired queue.
	//
	// +required
	Stage Stage `json:"stage,omitempty"`

	// stageSince is when this stage was entered.
	//
	// +required
	StageSince metav1.Time `json:"stageSince,omitzero"` //nolint:kubeapilinter // the zero time is omitted, so it cannot be set by mistake

	// brokers says for each broker from which and to which numbers it goes.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Brokers []BrokerChange `json:"brokers,omitempty"`

	// drain is how far the retiring queues are read.
	//
	// +optional
	Drain *DrainProgress `json:"drain,omitempty"`

	// approval is what the annotation rocketmq.lockstep.dev/approve must carry for the next cut. Absent
	// means that nothing waits for approval.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Approval string `json:"approval,omitempty"`

	// history is how much the cut takes away from what could be read again.
	//
	// +optional
	History *ReadableHistory `json:"history,omitempty"`

	// settleUntil is the earliest time at which the oldest route that a client may still use has
	// passed. It moves when a broker or name server shows an old number again.
	//
	// +optional
	SettleUntil *metav1.Time `json:"settleUntil,omitempty"`

	// watchUntil is the time until which retired queues are watched for late messages, counted from the
	// last narrowing of reads.
	//
	// +optional
	WatchUntil *metav1.Time `json:"watchUntil,omitempty"`

	// expectedEnd is when the present stage should end at the present rate. Absent means that no such
	// time can be known.
	//
	// +optional
	ExpectedEnd *metav1.Time `json:"expectedEnd,omitempty"`

	// waitsFor says what the change waits for, the most important first.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=6
	WaitsFor []Hold `json:"waitsFor,omitempty"`

	// omitted is the number of entries that waitsFor leaves out.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Omitted int32 `json:"omitted,omitempty"`
}

// BrokerChange is the part of a change that concerns one broker.
type BrokerChange struct {
	// name is the broker's name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Name string `json:"name,omitempty"`

	// from is the number of readable queues when the change began; 0 means that the broker did not have
	// the topic.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	From *int32 `json:"from,omitempty"`

	// to is the number of queues to which the change leads; 0 means that the topic leaves the broker.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	To *int32 `json:"to,omitempty"`

	// cut is when the broker last showed that reads were narrowed. Absent means that they were not.
	//
	// +optional
	Cut *metav1.Time `json:"cut,omitempty"`
}

// DrainProgress is how far retiring queues are read.
type DrainProgress struct {
	// queues is the number of retiring queues over all brokers.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Queues *int32 `json:"queues,omitempty"`

	// drained is the number of those that every group has read to the end. Absent is unknown.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Drained *int32 `json:"drained,omitempty"`

	// unread is about how many messages are unread, summed over groups. It moves in coarse steps.
	// Absent is unknown.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unread *int64 `json:"unread,omitempty"`

	// unreadAtStart is unread as it was when the drain began, for a progress bar.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	UnreadAtStart *int64 `json:"unreadAtStart,omitempty"`
}

// ReadableHistory is how many consumed messages in retiring queues could still be read again.
type ReadableHistory struct {
	// messages is about how many there are.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Messages *int64 `json:"messages,omitempty"`

	// until is when the last of them expires. Absent is unknown.
	//
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// Hold is one thing that a change waits for.
type Hold struct {
	// reason is one word for the kind of hold; it is one of the reasons that conditions use.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z]*$`
	Reason string `json:"reason,omitempty"`

	// broker is the broker that the hold is about.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=127
	Broker string `json:"broker,omitempty"`

	// queue is the id of the queue on that broker; where there are several, the one with most messages.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Queue *int32 `json:"queue,omitempty"`

	// group is the consumer group that the hold is about.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Group string `json:"group,omitempty"`

	// count is about how many messages, queues or members the hold is about. It moves in coarse steps.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count *int64 `json:"count,omitempty"`

	// message says the rest in one sentence, with what helps; it does not repeat broker, queue and group.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Message string `json:"message,omitempty"`
}
