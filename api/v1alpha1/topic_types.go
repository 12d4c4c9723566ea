// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Topic declares one topic of a RocketMQ cluster: how many queues it has on each broker, and how a
// change of that number may proceed.
//
// A smaller queues.perBroker is not applied in one step. Writes are narrowed first; reads follow when
// everything in the retiring queues has been consumed by every group, so that no message is stranded.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rmqt,categories=rocketmq;lockstep
// +kubebuilder:printcolumn:name="Topic",type=string,JSONPath=`.status.topicName`,description="Name of the topic on the brokers"
// +kubebuilder:printcolumn:name="Queues",type=integer,JSONPath=`.spec.queues.perBroker`,description="Queues per broker as declared"
// +kubebuilder:printcolumn:name="Read",type=integer,JSONPath=`.status.readQueues`,description="Readable queues per broker (the largest of all brokers); blank is unknown"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether what an application needs is in force"
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.status.change.stage`,description="Stage of the running change"
// +kubebuilder:printcolumn:name="Waits For",type=string,JSONPath=`.status.conditions[?(@.type=="AsDeclared")].message`,description="What keeps the topic from being as declared"
// +kubebuilder:printcolumn:name="Write",type=integer,priority=1,JSONPath=`.status.writeQueues`,description="Writable queues per broker (the largest of all brokers); blank is unknown"
// +kubebuilder:printcolumn:name="Cluster",type=string,priority=1,JSONPath=`.spec.clusterRef.name`,description="BrokerCluster of the topic"
// +kubebuilder:printcolumn:name="Type",type=string,priority=1,JSONPath=`.spec.messageType`,description="Message type as declared"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the topic is ready or not"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="The sentence of the Ready condition"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="(has(self.spec.topicName) ? self.spec.topicName : self.metadata.name) == (has(oldSelf.spec.topicName) ? oldSelf.spec.topicName : oldSelf.metadata.name)",fieldPath=".spec.topicName",message="the topic's name cannot change, because its messages would stay behind under the old name; declare the new name in a new Topic and delete this one when it has drained"
// +kubebuilder:validation:XValidation:rule="has(self.spec.topicName) || (size(self.metadata.name) <= 127 && self.metadata.name.matches('^[a-z0-9-]+$'))",fieldPath=".spec.topicName",message="set spec.topicName: without it metadata.name names the topic, and a RocketMQ name has no dot and at most 127 characters"
type Topic struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the topic as declared.
	//
	// +required
	Spec TopicSpec `json:"spec,omitzero"`

	// status is what Lockstep last observed of the topic, and the change that is under way.
	//
	// +optional
	// +default={"observedGeneration":-1,"conditions":[{"type":"Ready","status":"Unknown","reason":"NotSeen","message":"Lockstep has not looked at this object yet","lastTransitionTime":"1970-01-01T00:00:00Z"}]}
	Status TopicStatus `json:"status,omitzero"`
}

// TopicList is a list of Topics.
//
// +kubebuilder:object:root=true
type TopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Topic `json:"items"`
}

// TopicSpec is a topic as declared.
type TopicSpec struct {
	// clusterRef names the BrokerCluster on which the topic lives. It cannot be changed: the messages
	// would stay behind on the old brokers.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterRef cannot change, because the topic's messages would stay behind on the old brokers; declare a new Topic there and delete this one when it has drained"
	ClusterRef ClusterReference `json:"clusterRef,omitzero"`

	// topicName is the topic's name on the brokers: letters, digits, _ - | and %. Absent means
	// metadata.name, which then must not contain a dot. The name cannot be changed; writing down the
	// name that is in force anyway is fine.
	//
	// +optional
	TopicName TopicName `json:"topicName,omitempty"`

	// queues is the number of queues.
	//
	// +required
	Queues Queues `json:"queues,omitzero"`

	// placement chooses the brokers on which the topic lives. Absent means every master of the cluster.
	//
	// +optional
	Placement *Placement `json:"placement,omitempty"`

	// messageType is the kind of message that the topic is for: Normal, FIFO, Delay, Transaction,
	// Mixed, or Priority (RocketMQ 5.4 and later). Proxies refuse messages of another kind; brokers
	// never check it, and RocketMQ 4 knows no types. Absent means that the type on the brokers is left
	// as it is.
	//
	// +optional
	MessageType MessageType `json:"messageType,omitempty"`

	// permission says whether clients may write to the topic and read from it: ReadWrite, ReadOnly
	// (producers stop when they learn the new route) or WriteOnly (consumers get nothing). Absent
	// means ReadWrite.
	//
	// +optional
	Permission Permission `json:"permission,omitempty"`

	// order is the topic's order flag on the brokers: Ordered or Unordered. It does not make
	// consumption ordered; it makes brokers that are closed for writing refuse messages rather than
	// let them move to other queues. RocketMQ 4 drops the flag at every change of a topic. Absent
	// means that the flag is left as it is.
	//
	// +optional
	Order Order `json:"order,omitempty"`

	// attributes are further topic attributes (RocketMQ 5 and later). Attributes that are not listed
	// are left as they are.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Attributes []Attribute `json:"attributes,omitempty"`

	// resize says how a change of the number of queues may proceed.
	//
	// +optional
	Resize *Resize `json:"resize,omitempty"`

	// deletionPolicy says what happens to the topic on the brokers when this object is deleted. Retain
	// leaves it as it is. Delete removes it, but only when no member is connected and nothing is
	// unread, or when the annotation rocketmq.lockstep.dev/confirm-delete carries the topic's name;
	// until then the object stays and says what it waits for. Absent means Retain.
	//
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// TopicName is the name of a topic on the brokers.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=127
// +kubebuilder:validation:XValidation:rule="self.matches('^[%|a-zA-Z0-9_-]+$')",message="RocketMQ allows letters, digits, _ - | % in a topic name (at most 127)"
// +kubebuilder:validation:XValidation:rule="!self.startsWith('%RETRY%') && !self.startsWith('%DLQ%') && !self.startsWith('%LMQ%')",message="topics that begin with %RETRY%, %DLQ% or %LMQ% belong to consumer groups and light queues, and RocketMQ makes them itself; choose another name"
// +kubebuilder:validation:XValidation:rule="!self.startsWith('rmq_sys_') && !self.startsWith('RMQ_SYS_') && !(self in ['TBW102', 'SCHEDULE_TOPIC_XXXX', 'BenchmarkTest', 'TRANS_CHECK_MAX_TIME_TOPIC', 'SELF_TEST_TOPIC', 'OFFSET_MOVED_EVENT', 'CHECKPOINT_TOPIC', 'DefaultHeartBeatSyncerTopic'])",message="RocketMQ uses this topic itself and Lockstep leaves it alone; choose another name"
type TopicName string

// Queues is the number of queues of a topic.
type Queues struct {
	// perBroker is the number of queues on each broker, for writing and for reading; a topic on two
	// brokers with perBroker 64 has 128 queues. It is also the largest number of classic consumers
	// per broker that can work at the same time. At most 1024: RocketMQ itself checks nothing, but
	// every queue has index files of 6 MB each on the broker, a broker that was given 100,000 queues by
	// mistake ran out of memory at the next look at its statistics, and what is noted of a change
	// before a cut has to fit one ConfigMap for up to 64 brokers.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	PerBroker int32 `json:"perBroker,omitempty"`
}

// BrokerName is the name of a broker (brokerName in its configuration).
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=127
type BrokerName string

// Placement chooses brokers.
type Placement struct {
	// brokers are the names of the brokers on which the topic lives. A broker that carries the topic
	// but is not listed is named in the status and never edited.
	//
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Brokers []BrokerName `json:"brokers,omitempty"`
}

// MessageType is the kind of message that a topic is for.
//
// +kubebuilder:validation:Enum=Normal;FIFO;Delay;Transaction;Mixed;Priority
type MessageType string

const (
	// MessageTypeNormal is RocketMQ's NORMAL.
	MessageTypeNormal MessageType = "Normal"
	// MessageTypeFIFO is RocketMQ's FIFO: messages of one message group in order.
	MessageTypeFIFO MessageType = "FIFO"
	// MessageTypeDelay is RocketMQ's DELAY: delay levels and timers.
	MessageTypeDelay MessageType = "Delay"
	// MessageTypeTransaction is RocketMQ's TRANSACTION: half messages that are committed later.
	MessageTypeTransaction MessageType = "Transaction"
	// MessageTypeMixed is RocketMQ's MIXED; brokers need enableMixedMessageType.
	MessageTypeMixed MessageType = "Mixed"
	// MessageTypePriority is RocketMQ's PRIORITY (5.4 and later): the queue id is the priority.
	MessageTypePriority MessageType = "Priority"
)

// Permission says whether clients may write to a topic and read from it.
//
// +kubebuilder:validation:Enum=ReadWrite;ReadOnly;WriteOnly
type Permission string

const (
	// PermissionReadWrite is RocketMQ's perm 6.
	PermissionReadWrite Permission = "ReadWrite"
	// PermissionReadOnly is RocketMQ's perm 4.
	PermissionReadOnly Permission = "ReadOnly"
	// PermissionWriteOnly is RocketMQ's perm 2.
	PermissionWriteOnly Permission = "WriteOnly"
)

// Order is a topic's order flag.
//
// +kubebuilder:validation:Enum=Ordered;Unordered
type Order string

const (
	// OrderOrdered sets the flag.
	OrderOrdered Order = "Ordered"
	// OrderUnordered clears the flag.
	OrderUnordered Order = "Unordered"
)

// Attribute is one topic attribute.
//
// +kubebuilder:validation:XValidation:rule="self.name != 'message.type'",message="set spec.messageType instead of the attribute message.type"
// +kubebuilder:validation:XValidation:rule="self.name != 'cleanup.policy' || self.value == 'DELETE'",message="Lockstep does not manage compaction topics, whose queues lose data when their number changes; leave cleanup.policy out"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('lite.')",message="Lockstep does not manage LITE topics, whose queue numbers say nothing about their consumers; leave the lite attributes out"
type Attribute struct {
	// name is the attribute's name without a sign, for example reserve.time.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9][a-zA-Z0-9._-]*$')",message="write the attribute's name as RocketMQ shows it, without a sign in front, for example reserve.time"
	Name string `json:"name,omitempty"`

	// value is the attribute's value. RocketMQ's own syntax has no room for spaces, commas and =.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^\\\\s,=]+$')",message="a topic attribute cannot contain spaces, commas or ="
	Value string `json:"value,omitempty"`
}

// DeletionPolicy says what happens on the brokers when an object is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionRetain leaves everything on the brokers as it is.
	DeletionRetain DeletionPolicy = "Retain"
	// DeletionDelete removes it from the brokers when nothing is lost by that or when it is confirmed.
	DeletionDelete DeletionPolicy = "Delete"
)
