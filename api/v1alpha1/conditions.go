// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of every kind.
const (
	// ConditionReady is True when what an application needs is in force. A change whose rest is
	// invisible to applications (a drain, a watch) leaves it True, so that a health gate never blocks
	// the fix.
	ConditionReady = "Ready"
	// ConditionReconciling is True while something is under way or will be tried again, False never; it
	// is absent at rest (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when only an edit of the object helps; absent otherwise (kstatus).
	ConditionStalled = "Stalled"
	// ConditionPaused is True while the annotation rocketmq.lockstep.dev/paused stands: nothing is
	// written to the brokers, the other conditions stay as they were.
	ConditionPaused = "Paused"
)

// Condition types of BrokerCluster.
const (
	// ConditionNameServersAgree is True when every name server answers and all show the same brokers.
	ConditionNameServersAgree = "NameServersAgree"
	// ConditionBrokersReachable is True when the master of every broker name answers and is the broker
	// that it should be.
	ConditionBrokersReachable = "BrokersReachable"
	// ConditionRoutesAgree is True when every name server routes every topic as the brokers have it.
	ConditionRoutesAgree = "RoutesAgree"
	// ConditionAuthenticated is True when the servers accept the credentials, and False with reason
	// AuthFailed when they refuse them.
	ConditionAuthenticated = "Authenticated"
)

// Condition types of Topic.
const (
	// ConditionAsDeclared is the strict sum: True when queues, permission and all else are as declared
	// on every broker and name server, drained and watched to the end. While it is not True its message
	// is one short phrase that says what the topic waits for (the column WAITS FOR); when it is True
	// the message is empty.
	ConditionAsDeclared = "AsDeclared"
	// ConditionDraining is True while retiring queues are read to their end.
	ConditionDraining = "Draining"
	// ConditionRetiredQueuesWatched is True while retired queues are watched for late messages.
	ConditionRetiredQueuesWatched = "RetiredQueuesWatched"
	// ConditionAdoptedLarger is True when the topic was found with more queues than declared; it stays so
	// until the spec is edited or the step approved.
	ConditionAdoptedLarger = "AdoptedLarger"
	// ConditionStranded is True when messages were found that nobody can read.
	ConditionStranded = "Stranded"
	// ConditionLateMessages is True when a message arrived in a retired queue and reads were opened again.
	ConditionLateMessages = "LateMessages"
	// ConditionConflict is True when another object holds the topic.
	ConditionConflict = "Conflict"
)
