// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Resize says how a change of the number of queues may proceed.
type Resize struct {
	// mode is Automatic (go on as soon as each step is proven safe) or Approve (stop before each cut
	// with the proof in status, and go on when the annotation rocketmq.lockstep.dev/approve carries
	// status.change.approval). Absent means Automatic.
	//
	// +optional
	Mode ResizeMode `json:"mode,omitempty"`

	// longestDelaySeconds is the longest time by which a producer of this topic delays a message
	// (delay level, timer, or an open transaction). Such a message keeps the queue that it was sent to
	// and can arrive there when the queue is retired already; retired queues are watched for this
	// long after reads were narrowed, and opened again if something arrives. 1 says that no message is
	// ever delayed. Absent means the longest that the brokers allow, which is several days.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	LongestDelaySeconds *int64 `json:"longestDelaySeconds,omitempty"`

	// orderChange is Forbid or Allow. In a topic with ordered messages the queue of a key depends on
	// the number of queues, so a change moves keys to other queues and breaks their order unless
	// producers pause until the old queues are drained; in a Priority topic the queue is the priority.
	// Allow says that this is known and wanted. Absent means Forbid.
	//
	// +optional
	OrderChange OrderChange `json:"orderChange,omitempty"`

	// waivers name consumer groups whose unread messages in retiring queues are given up. A waiver
	// counts only for the number of queues it names, and only while the group has no member.
	//
	// +optional
	// +listType=map
	// +listMapKey=group
	// +kubebuilder:validation:MaxItems=64
	Waivers []Waiver `json:"waivers,omitempty"`

	// history is Release or Keep. Messages in retired queues that were consumed but have not expired
	// cannot be read again, for example to replay a day. Keep waits with the narrowing of reads until
	// they have expired. Absent means Release.
	//
	// +optional
	History History `json:"history,omitempty"`

	// stranded says what to do about messages that an earlier change, made in one step without
	// Lockstep, left in queues nobody can read: Report names them in the condition Stranded; Rescue
	// opens the queues for reading until they are consumed. Absent means Report.
	//
	// +optional
	Stranded Stranded `json:"stranded,omitempty"`
}

// ResizeMode says who decides that a cut is made.
//
// +kubebuilder:validation:Enum=Automatic;Approve
type ResizeMode string

const (
	// ResizeAutomatic cuts as soon as the cut is proven safe.
	ResizeAutomatic ResizeMode = "Automatic"
	// ResizeApprove waits for an approval before each cut.
	ResizeApprove ResizeMode = "Approve"
)

// OrderChange says whether keys of ordered messages may move between queues.
//
// +kubebuilder:validation:Enum=Forbid;Allow
type OrderChange string

const (
	// OrderChangeForbid holds a change of queues where order would suffer.
	OrderChangeForbid OrderChange = "Forbid"
	// OrderChangeAllow lets it proceed.
	OrderChangeAllow OrderChange = "Allow"
)

// History says what becomes of consumed messages in retired queues.
//
// +kubebuilder:validation:Enum=Release;Keep
type History string

const (
	// HistoryRelease narrows reads although consumed messages could still be read again.
	HistoryRelease History = "Release"
	// HistoryKeep narrows reads when they have expired.
	HistoryKeep History = "Keep"
)

// Stranded says what to do about messages that nobody can read.
//
// +kubebuilder:validation:Enum=Report;Rescue
type Stranded string

const (
	// StrandedReport names them.
	StrandedReport Stranded = "Report"
	// StrandedRescue opens their queues for reading until they are consumed.
	StrandedRescue Stranded = "Rescue"
)

// Waiver gives up what one consumer group has not read in retiring queues.
type Waiver struct {
	// group is the consumer group's name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Group string `json:"group,omitempty"`

	// toQueues is the queues.perBroker for which the waiver is meant. The next change has another
	// number and asks again.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	ToQueues int32 `json:"toQueues,omitempty"`

	// reason says why these messages may be given up, for whoever reads this later.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}
