// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TopicStatus is what Lockstep last observed of a topic, and the change that is under way.
//
// It holds only what can be observed again; what cannot (offsets noted before a cut) is kept outside.
// No list grows with queues: lists end at a maximum and say how many entries were left out.
type TopicStatus struct {
	// conditions say in sentences how the topic is. Ready means that what an application needs is in
	// force; AsDeclared means that nothing at all is left to do. The others are there when they have
	// something to say: Reconciling, Stalled, Draining, RetiredQueuesWatched, AdoptedLarger, Stranded,
	// LateMessages, Conflict, Paused.
	//
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the metadata.generation of the spec that this status speaks about; -1
	// means that no status was written yet.
	//
	// +optional
	// +default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// topicName is the topic's name on the brokers.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=127
	TopicName string `json:"topicName,omitempty"`

	// readQueues is the number of queues per broker that consumers read: the largest on any broker of
	// the topic. Absent is unknown.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadQueues *int32 `json:"readQueues,omitempty"`

	// writeQueues is the number of queues per broker that producers write to: the largest on any broker
	// of the topic. Absent is unknown.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	WriteQueues *int32 `json:"writeQueues,omitempty"`

	// claim says which object holds this topic on the physical cluster.
	//
	// +optional
	Claim *Claim `json:"claim,omitempty"`

	// adoption says how the topic was found when this object first saw it.
	//
	// +optional
	Adoption *Adoption `json:"adoption,omitempty"`

	// nameServers says how many name servers route the topic as the brokers have it.
	//
	// +optional
	NameServers *NameServerAgreement `json:"nameServers,omitempty"`

	// brokers is how the topic stands on each broker.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Brokers []TopicBrokerStatus `json:"brokers,omitempty"`

	// change is the change of queues that is under way. Absent means none.
	//
	// +optional
	Change *QueueChange `json:"change,omitempty"`

	// stranded are messages in queues that nobody can read, left by an earlier change made without
	// Lockstep.
	//
	// +optional
	Stranded *StrandedMessages `json:"stranded,omitempty"`

	// givenUp lists what was given up by waivers, the latest first.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	GivenUp []GivenUp `json:"givenUp,omitempty"`

	// lastHandledReconcileRequest is the value of the annotation
	// rocketmq.lockstep.dev/reconcile-requested-at that was last acted upon.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	LastHandledReconcileRequest string `json:"lastHandledReconcileRequest,omitempty"`
}

// Adoption is how a topic was found when the object first saw it. A topic that was found larger than
// declared is never narrowed for that: it stays as it is until the spec is edited or the step approved.
type Adoption struct {
	// generation is the metadata.generation of the spec that found the topic.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Generation int64 `json:"generation,omitempty"`

	// time is when the topic was found.
	//
	// +required
	Time metav1.Time `json:"time,omitzero"` //nolint:kubeapilinter // the zero time is omitted, so it cannot be set by mistake

	// readQueues is the largest number of readable queues per broker that was found; 0 means that the
	// topic did not exist.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	ReadQueues *int32 `json:"readQueues,omitempty"`
}

// NameServerAgreement says how many name servers route a topic as the brokers have it.
type NameServerAgreement struct {
	// asked is the number of name servers that were asked.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Asked *int32 `json:"asked,omitempty"`

	// agreeing is the number of those whose route equals what the brokers have.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Agreeing *int32 `json:"agreeing,omitempty"`
}

// TopicBrokerState says how a topic stands on one broker: InSync, Pending, Changing, Missing, Failed,
// Unreachable, Foreign or Unknown. Later versions may add values.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z]*$`
type TopicBrokerState string

const (
	// TopicBrokerInSync is a broker that has the topic as declared.
	TopicBrokerInSync TopicBrokerState = "InSync"
	// TopicBrokerPending is a broker to which a write is due.
	TopicBrokerPending TopicBrokerState = "Pending"
	// TopicBrokerChanging is a broker in the middle of a staged change, as that stage wants it.
	TopicBrokerChanging TopicBrokerState = "Changing"
	// TopicBrokerMissing is a broker that answers and does not have the topic.
	TopicBrokerMissing TopicBrokerState = "Missing"
	// TopicBrokerFailed is a broker that refused a write, or showed another result than was written.
	TopicBrokerFailed TopicBrokerState = "Failed"
	// TopicBrokerUnreachable is a broker that does not answer.
	TopicBrokerUnreachable TopicBrokerState = "Unreachable"
	// TopicBrokerForeign is a broker that has the topic but is not in spec.placement; it is not edited.
	TopicBrokerForeign TopicBrokerState = "Foreign"
	// TopicBrokerUnknown is a broker about which nothing is known, and message says why.
	TopicBrokerUnknown TopicBrokerState = "Unknown"
)

// TopicBrokerStatus is how a topic stands on one broker.
type TopicBrokerStatus struct {
	// name is the broker's name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Name string `json:"name,omitempty"`

	// address is where the master should listen, as the name servers show it. It is there when the
	// broker does not answer there or another one does; otherwise it stands in the BrokerCluster.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=261
	Address string `json:"address,omitempty"`

	// state says how the topic stands on this broker: InSync, Pending, Changing, Missing, Failed,
	// Unreachable, Foreign or Unknown.
	//
	// +required
	State TopicBrokerState `json:"state,omitempty"`

	// read is the number of queues that consumers read on this broker (readQueueNums). Absent is unknown.
	//
	// +optional
	Read *int32 `json:"read,omitempty"`

	// write is the number of queues that producers write to on this broker (writeQueueNums). Absent is
	// unknown.
	//
	// +optional
	Write *int32 `json:"write,omitempty"`

	// perm is the topic's permission on this broker as RocketMQ writes it: 6 read and write, 4 read, 2
	// write. Absent is unknown.
	//
	// +optional
	Perm *int32 `json:"perm,omitempty"`

	// message says what is wrong and what to do. Absent means that nothing is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=160
	Message string `json:"message,omitempty"`
}

// StrandedMessages are messages in queues that nobody can read.
type StrandedMessages struct {
	// messages is about how many there are, summed over groups.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Messages *int64 `json:"messages,omitempty"`

	// worst names the queues that hold most of them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Worst []StrandedQueue `json:"worst,omitempty"`

	// omitted is the number of such queues that worst leaves out.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Omitted int32 `json:"omitted,omitempty"`
}

// StrandedQueue is one queue with messages that nobody can read.
type StrandedQueue struct {
	// broker is the broker's name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Broker string `json:"broker,omitempty"`

	// queue is the queue's id on that broker.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Queue *int32 `json:"queue,omitempty"`

	// group is the consumer group that has not read them.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Group string `json:"group,omitempty"`

	// messages is about how many there are.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Messages *int64 `json:"messages,omitempty"`
}

// GivenUp is what one waiver gave up.
type GivenUp struct {
	// group is the consumer group that did not read these messages.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Group string `json:"group,omitempty"`

	// toQueues is the queues.perBroker to which the change went.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	ToQueues int32 `json:"toQueues,omitempty"`

	// time is when reads were narrowed.
	//
	// +required
	Time metav1.Time `json:"time,omitzero"` //nolint:kubeapilinter // the zero time is omitted, so it cannot be set by mistake

	// messages is how many were given up.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	Messages *int64 `json:"messages,omitempty"`

	// queues names queues and numbers, as broker/queue:messages, those with most messages first.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=160
	Queues []string `json:"queues,omitempty"`

	// omitted is the number of queues that the list leaves out.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Omitted int32 `json:"omitted,omitempty"`
}
