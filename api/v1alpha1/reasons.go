// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons that every kind uses. An event about the same matter carries the same reason.
const (
	// ReasonNotSeen is the reason of a new object that no operator has looked at.
	ReasonNotSeen = "NotSeen"
	// ReasonPaused goes with Paused True.
	ReasonPaused = "Paused"
	// ReasonConflict says that another object holds the same name on the same physical cluster.
	ReasonConflict = "Conflict"
	// ReasonProgressing goes with Reconciling True where nothing more exact is known.
	ReasonProgressing = "Progressing"
	// ReasonRetrying goes with Reconciling True after a failure that may pass.
	ReasonRetrying = "Retrying"
	// ReasonInvalidSpec says that only an edit of the spec helps.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDeleting says that the object is being deleted and what that waits for.
	ReasonDeleting = "Deleting"
)

// Reasons about a cluster and its servers.
const (
	// ReasonReachable goes with Ready and BrokersReachable True.
	ReasonReachable = "Reachable"
	// ReasonAgree goes with NameServersAgree and RoutesAgree True.
	ReasonAgree = "Agree"
	// ReasonAccepted goes with Authenticated True.
	ReasonAccepted = "Accepted"
	// ReasonNoCredentials goes with Authenticated True where the servers ask for none and none are set.
	ReasonNoCredentials = "NoCredentials"
	// ReasonUnreachable says that a server does not answer.
	ReasonUnreachable = "Unreachable"
	// ReasonUnresolvable says that a host name cannot be resolved.
	ReasonUnresolvable = "Unresolvable"
	// ReasonWrongEndpoint says that a port speaks another protocol (gRPC, HTTP).
	ReasonWrongEndpoint = "WrongEndpoint"
	// ReasonUntrusted says that a TLS certificate is not accepted by one of the two sides.
	ReasonUntrusted = "Untrusted"
	// ReasonTopicsUnrouted says that a name server has lacked topics of a broker for longer than a start
	// explains, so that clients which ask it do not find them.
	ReasonTopicsUnrouted = "TopicsUnrouted"
	// ReasonAuthFailed says that the servers refuse the credentials.
	ReasonAuthFailed = "AuthFailed"
	// ReasonSecretNotFound says that a Secret, or a key of it, is missing.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretInvalid says that a Secret holds something that cannot be used.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonClusterNotFound says that the name servers do not know spec.clusterName.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonNoBrokers says that the cluster has no broker with a master.
	ReasonNoBrokers = "NoBrokers"
	// ReasonBrokerForgotten goes with the event that a broker which is gone for good counts no more.
	ReasonBrokerForgotten = "BrokerForgotten"
	// ReasonMasterMissing says that a broker name has no master.
	ReasonMasterMissing = "MasterMissing"
	// ReasonWrongBroker says that at a routed address another broker answers.
	ReasonWrongBroker = "WrongBroker"
	// ReasonNameServersDiffer says that name servers show different brokers.
	ReasonNameServersDiffer = "NameServersDiffer"
	// ReasonNameServerUndeclared says that brokers register with a name server that the spec lacks.
	ReasonNameServerUndeclared = "NameServerUndeclared"
	// ReasonNameServerWarmingUp says that a name server was started a short time ago and does not know
	// every topic yet; a topic written now could displace the others (rocketmq.md 3.4).
	ReasonNameServerWarmingUp = "NameServerWarmingUp"
	// ReasonRoutesDiffer says that a name server routes a topic otherwise than the brokers have it.
	ReasonRoutesDiffer = "RoutesDiffer"
	// ReasonIncompleteAnswer says that a server answered only in part or not understandably.
	ReasonIncompleteAnswer = "IncompleteAnswer"
	// ReasonUnsupportedVersion says that a broker is older or newer than a step can be proven on.
	ReasonUnsupportedVersion = "UnsupportedVersion"
)

// Reasons about a topic at rest.
const (
	// ReasonAsNeeded goes with Ready True: what an application needs is in force.
	ReasonAsNeeded = "AsNeeded"
	// ReasonAsDeclared goes with AsDeclared True.
	ReasonAsDeclared = "AsDeclared"
	// ReasonCreating says that the topic is being created.
	ReasonCreating = "Creating"
	// ReasonPartiallyApplied says that some brokers have the topic as declared and others failed.
	ReasonPartiallyApplied = "PartiallyApplied"
	// ReasonDrifted says that a broker was changed from outside and is being put back.
	ReasonDrifted = "Drifted"
	// ReasonAdoptedLarger says that the topic was found with more queues than declared.
	ReasonAdoptedLarger = "AdoptedLarger"
	// ReasonBrokerClusterNotFound says that spec.clusterRef leads nowhere.
	ReasonBrokerClusterNotFound = "BrokerClusterNotFound"
	// ReasonBrokerClusterNotReady says that the BrokerCluster cannot be used at present.
	ReasonBrokerClusterNotReady = "BrokerClusterNotReady"
	// ReasonNotAllowed says that the BrokerCluster's access rules do not allow this name here.
	ReasonNotAllowed = "NotAllowed"
	// ReasonReservedName says that the name belongs to RocketMQ or to this cluster.
	ReasonReservedName = "ReservedName"
	// ReasonBrokerNotFound says that spec.placement names a broker that the cluster does not have.
	ReasonBrokerNotFound = "BrokerNotFound"
	// ReasonUnmanageable says that the topic is of a kind whose queues are left alone: static,
	// compaction, LITE.
	ReasonUnmanageable = "Unmanageable"
	// ReasonTopicLost says that the topic was on a broker and is gone without a delete of ours.
	ReasonTopicLost = "TopicLost"
	// ReasonRefused says that a broker refused a request, and quotes why.
	ReasonRefused = "Refused"
	// ReasonNotTaken says that a broker reported success and shows something else.
	ReasonNotTaken = "NotTaken"
)

// Reasons about a change of queues. A Hold uses the same words.
const (
	// ReasonNarrowingWrites says that writable queues are being made fewer.
	ReasonNarrowingWrites = "NarrowingWrites"
	// ReasonSettling says that old routes may still be in use, or that a retiring queue still grows.
	ReasonSettling = "Settling"
	// ReasonPending says that delayed, timed or half messages were seen that are still to arrive.
	ReasonPending = "Pending"
	// ReasonDraining says that groups still read the retiring queues.
	ReasonDraining = "Draining"
	// ReasonDrained goes with Draining False where the reader shall know that the drain is over.
	ReasonDrained = "Drained"
	// ReasonGroupOffline says that a group with unread messages has no member.
	ReasonGroupOffline = "GroupOffline"
	// ReasonGroupUnsubscribed says that a group is online and no longer reads the topic.
	ReasonGroupUnsubscribed = "GroupUnsubscribed"
	// ReasonGroupUnknown says that a reader's position cannot be followed.
	ReasonGroupUnknown = "GroupUnknown"
	// ReasonOffsetBeyondEnd says that a group's offset is larger than the queue's end.
	ReasonOffsetBeyondEnd = "OffsetBeyondEnd"
	// ReasonInvisible says that messages handed to gRPC consumers can still come back.
	ReasonInvisible = "Invisible"
	// ReasonBroadcast says that members of a broadcast group still read, or cannot be proven to have read.
	ReasonBroadcast = "Broadcast"
	// ReasonDispatchBehind says that a broker has stored messages that no queue shows yet.
	ReasonDispatchBehind = "DispatchBehind"
	// ReasonProvingAgain says that a fresh look at everything precedes the cut.
	ReasonProvingAgain = "ProvingAgain"
	// ReasonNarrowingReads says that readable queues are being made fewer.
	ReasonNarrowingReads = "NarrowingReads"
	// ReasonWatchingRetired says that retired queues are watched for late messages.
	ReasonWatchingRetired = "WatchingRetired"
	// ReasonLateMessage says that a message arrived in a retired queue.
	ReasonLateMessage = "LateMessage"
	// ReasonWideningReads says that readable queues are being made more.
	ReasonWideningReads = "WideningReads"
	// ReasonSeeding says that groups are given a place to begin in queues that are about to be opened.
	ReasonSeeding = "Seeding"
	// ReasonWideningWrites says that writable queues are being made more.
	ReasonWideningWrites = "WideningWrites"
	// ReasonRepairing says that a broker had more queues for writing than for reading.
	ReasonRepairing = "Repairing"
	// ReasonAwaitingApproval says that a cut waits for an approval.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonOrderForbidden says that keys of ordered messages would move, and the spec forbids it.
	ReasonOrderForbidden = "OrderForbidden"
	// ReasonHistoryKept says that reads stay wide until consumed messages have expired.
	ReasonHistoryKept = "HistoryKept"
	// ReasonForeignChange says that somebody else changed the topic in the middle of a change.
	ReasonForeignChange = "ForeignChange"
	// ReasonUnsupported says that this version of Lockstep cannot prove the step safe.
	ReasonUnsupported = "Unsupported"
	// ReasonStrandedFound says that messages were found in queues nobody can read.
	ReasonStrandedFound = "StrandedFound"
	// ReasonRescuing says that such queues are opened until they are consumed.
	ReasonRescuing = "Rescuing"
	// ReasonTurnedRound says that the spec was changed in mid-change and the change goes the other way.
	ReasonTurnedRound = "TurnedRound"
	// ReasonGivenUp says that a waiver gave messages up.
	ReasonGivenUp = "GivenUp"
)

// Reasons about deletion.
const (
	// ReasonConfirmationNeeded says that deletion would lose messages or disconnect members, and waits
	// for the annotation rocketmq.lockstep.dev/confirm-delete.
	ReasonConfirmationNeeded = "ConfirmationNeeded"
	// ReasonChangeOpen says that deletion waits because a change or a watch is open.
	ReasonChangeOpen = "ChangeOpen"
	// ReasonHandedOver says that another object took over the topic, which was left as it is.
	ReasonHandedOver = "HandedOver"
	// ReasonReleased says that the object went away and the topic was left as it is.
	ReasonReleased = "Released"
	// ReasonDeletedTopic says that the topic was removed from brokers and name servers.
	ReasonDeletedTopic = "DeletedTopic"
)
