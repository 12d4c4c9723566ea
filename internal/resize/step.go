// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// StepKind says what an actor has to do.
type StepKind string

// Step kinds. The zero StepKind is no step.
const (
	// StepFreshLook asks for a full look of this topic's own, begun after the
	// decision (rules R01, R02). It changes nothing.
	StepFreshLook StepKind = "FreshLook"

	// StepCreateTopic creates the topic on brokers that do not have it. Where
	// no broker has it this is first creation, the only step that may go in a
	// batch (rule R17).
	StepCreateTopic StepKind = "CreateTopic"
	// StepSetOffsets commits offsets for groups; the actor reads each back.
	// Where a broker does not know the group yet, its config is created there
	// first, copied from another master of the cluster (rule R14).
	StepSetOffsets StepKind = "SetOffsets"
	// StepRepairReads raises reads to the write count that a broker shows.
	StepRepairReads StepKind = "RepairReads"
	// StepWidenReads raises reads for a growth or a rescue.
	StepWidenReads StepKind = "WidenReads"
	// StepReopenReads raises reads again, for late messages after a cut.
	StepReopenReads StepKind = "ReopenReads"
	// StepWidenWrites raises writes, never above reads.
	StepWidenWrites StepKind = "WidenWrites"
	// StepNarrowWrites lowers writes; reads stay.
	StepNarrowWrites StepKind = "NarrowWrites"
	// StepNarrowReads is the cut: it takes retiring queues from readers.
	StepNarrowReads StepKind = "NarrowReads"
	// StepSetPermission opens or closes a topic on brokers.
	StepSetPermission StepKind = "SetPermission"
	// StepSetOrderConfig writes the order configuration of the topic on name
	// servers (namespace ORDER_TOPIC_CONFIG, case Q10).
	StepSetOrderConfig StepKind = "SetOrderConfig"
	// StepSetRetryQueues writes a group's retry queue count (case Q17).
	StepSetRetryQueues StepKind = "SetRetryQueues"
	// StepDeleteFromBroker deletes the topic from the named brokers only.
	StepDeleteFromBroker StepKind = "DeleteFromBroker"
)

// Shown is what matters here of a topic as a broker shows it.
type Shown struct {
	// Present is false where the broker does not have the topic.
	Present bool `json:"present,omitempty"`
	// Read and Write are the queue counts, Perm the permission.
	Read  int           `json:"read,omitempty"`
	Write int           `json:"write,omitempty"`
	Perm  snapshot.Perm `json:"perm,omitempty"`
}

// String prints the counts as people write them, read first.
func (s Shown) String() string {
	if !s.Present {
		return "none"
	}
	return fmt.Sprintf("read %d, write %d, permission %d", s.Read, s.Write, s.Perm)
}

// BrokerChange is one config write on one broker's master.
type BrokerChange struct {
	Broker string
	// Expect is what the broker must still show in the read that precedes the
	// write in the same call chain; else nothing is sent (rules R17, R18).
	Expect Shown
	// Want replaces exactly these fields; every other field of the config is
	// written back as read.
	Want Shown
	// Process is the broker process whose answers the decision rests on; the
	// peer must still be it (rule R03). It is zero for a broker that does not
	// have the topic.
	Process snapshot.Process
}

// Seed is one committed offset to be set.
type Seed struct {
	Group  string
	Broker string
	Queue  int
	Offset int64
}

// OrderEntry is one name server's order configuration to be written.
type OrderEntry struct {
	NameServer    string
	Expect, Value string
}

// Step is one thing to do. It is data; an actor carries it out and reads back.
type Step struct {
	Kind StepKind
	// Changes are in broker order; each is sent and read back by itself.
	Changes []BrokerChange
	// Seeds are in order of broker, queue and group.
	Seeds []Seed
	// Order is by name server.
	Order []OrderEntry
	// Retry is by broker.
	Retry []RetryChange
	// Vacant names groups that must have no member connected when the seeds
	// are sent (rule R06).
	Vacant []string
	// NotAfter, unless zero, is the last moment at which a call of the step
	// may be sent, on the monotonic clock (rule R02).
	NotAfter time.Time
}

// Changing reports whether carrying the step out changes RocketMQ.
func (s Step) Changing() bool { return s.Kind != "" && s.Kind != StepFreshLook }

// Cuts reports whether the step takes something away that cannot be handed
// back at once: it needs live intent before it is sent (rule K11).
func (s Step) Cuts() bool {
	return s.Kind == StepNarrowReads || s.Kind == StepDeleteFromBroker
}
