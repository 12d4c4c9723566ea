// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"github.com/lockstep-dev/lockstep/internal/allocation"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Ask is one question: may this workload go from one count to another?
type Ask struct {
	// Workload is what is scaled.
	Workload Ref
	// Asked and Current are spec.replicas after and before the change; see
	// [Replicas] for an absent one. They are never counts of pods, so that the
	// surge of a rollout is no scale-up (K29).
	Asked, Current int64
	// Groups are all consumer groups that name the workload (K22).
	Groups []Group
}

// Replicas is spec.replicas of a Scale as a number: an absent one is 0 (K20).
func Replicas(replicas *int32) int64 {
	if replicas == nil {
		return 0
	}
	return int64(*replicas)
}

// Ref names a workload in the namespace of its groups.
type Ref struct{ APIGroup, Kind, Name string }

// String is such as "deployment apps/points", for sentences.
func (r Ref) String() string {
	if r.APIGroup == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + "." + r.APIGroup + " " + r.Name
}

// ClientProtocol is what a manifest says that the members speak.
type ClientProtocol string

// Client protocols. An empty one is not declared.
const (
	Remoting ClientProtocol = "Remoting"
	GRPC     ClientProtocol = "GRPC"
)

// Role is what the pods of a workload do for a group.
type Role string

// Roles. An empty one is Consumer. Mixed pods do other work too, so that one
// without a queue is no waste: they are reported, never refused (K22).
const (
	Consumer Role = "Consumer"
	Mixed    Role = "Mixed"
)

// Group is one consumer group that names the workload: what its manifest declares
// and what was observed.
type Group struct {
	// Name is the group's name in RocketMQ; Namespace and Object those of its
	// ConsumerGroup.
	Name, Namespace, Object string

	// Protocol, Broadcast, Ordered and Strategy are declared. A nil strategy is
	// not declared; that of the observed members, or else AVG, the default of all
	// clients, is used.
	Protocol  ClientProtocol
	Broadcast bool
	Ordered   bool
	Strategy  allocation.Strategy
	// Idle lets the workload go past its maximum.
	Idle IdleReplicas

	// Role is what the workload is to this group. MembersPerPod is how many
	// members each of its pods runs (case S07); below 1, such as when no pod
	// runs, it counts as 1, which refuses nothing that could work.
	Role          Role
	MembersPerPod int64
	// Others are the other workloads that the group names.
	Others []Other

	// Topics are those that the members subscribe to, declared or observed,
	// without retry topics.
	Topics []Topic
	// Members are those that live: without ghosts (case A18), over all brokers and
	// proxies. They are unknown when one of these did not answer, or when brokers
	// list different members (case A14).
	Members snapshot.Fact[[]Member]
	// Orderly is consumeMessageOrderly of the group on its brokers: proxies hand
	// out whole queues in order if any has it. False where the group is not yet.
	Orderly snapshot.Fact[bool]
}

// IdleReplicas is the override of a person: so many replicas more than can work.
type IdleReplicas struct {
	Count int64
	// Reason must be stated; without one the override counts for nothing.
	Reason string
}

// Other is another workload of the same group.
type Other struct {
	Ref Ref
	// Replicas are its spec.replicas; known and 0 when it does not exist.
	Replicas snapshot.Fact[int64]
	// MembersPerPod is as in Group.
	MembersPerPod int64
}

// Topic is one topic that a group reads.
type Topic struct {
	Name string
	// Brokers are those of the topic's whole route, those of foreign clusters
	// included (case A17). It is unknown when name servers differ (case A15).
	Brokers snapshot.Fact[[]Broker]
	// Object is the Topic object that declares it; nil when there is none.
	Object *TopicObject
	// Backlog is what each queue holds unread for the group, in the order in which
	// clients sort queues. It changes no verdict (case A20).
	Backlog snapshot.Fact[[]int64]
}

// Broker is one broker of a topic's route.
type Broker struct {
	Name string
	// Queues is readQueueNums if the broker lets consumers read, else 0
	// (rocketmq.md 4.1).
	Queues snapshot.Fact[int64]
	// Pop says that the broker's request mode for topic and group is POP: set by
	// call 401, or its default. Known and false before 5.0 (case A28).
	Pop snapshot.Fact[bool]
}

// TopicObject is what advice needs of a Topic object.
type TopicObject struct {
	Namespace, Name string
	// Brokers are those on which it sets queues.perBroker.
	Brokers []string
}

// Member is one live member of a group.
type Member struct {
	// ClientID is its id, Address its socket: one id at two addresses is two
	// connections that share as one (case A05).
	ClientID, Address string
	// GRPC says that it speaks gRPC.
	GRPC bool
	// Broadcast is its own message model.
	Broadcast snapshot.Fact[bool]
	// Pops says for a remoting member that its running info (call 307) shows that
	// it pops and pulls no queue (rocketmq.md 5.5).
	Pops snapshot.Fact[bool]
	// FIFO says for a member that takes messages that it takes them in order.
	FIFO snapshot.Fact[bool]
	// Strategy is the name that its running info shows (allocation.NameOfClass);
	// empty when it shows none, as with rocketmq-client-go.
	Strategy string
}
