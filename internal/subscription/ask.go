// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Set is what a member, a table or a manifest subscribes to, by topic.
type Set map[string]Filter

// Ask is everything that one audit rests on, as plain data.
type Ask struct {
	// Group is the group's name in RocketMQ.
	Group string
	// Declared is what a manifest declares; nil when nothing is.
	Declared Set
	// Protocol is the declared client protocol, a hint that is compared with
	// what members speak; Unknown or empty when none is declared.
	Protocol snapshot.Protocol
	// Look is what was observed of RocketMQ.
	Look snapshot.GroupLook
	// Pods are the pods of the namespaces in question, those that are gone for
	// less than an hour included.
	Pods snapshot.Fact[[]Pod]
	// Workloads are those that the manifest refers to.
	Workloads []Workload
	// Now is the time, of the clock that stamped the look.
	Now time.Time
	// Timings are the waits; zero fields mean the defaults.
	Timings AuditTimings
}

// Ref names a workload.
type Ref struct{ Namespace, Kind, Name string }

// String prints the reference as kubectl takes it.
func (r Ref) String() string { return r.Kind + "/" + r.Name }

// Pod is what identity needs of a pod.
type Pod struct {
	Namespace, Name string
	// IPs are its addresses; HostName is spec.hostname, or empty for its name.
	IPs      []string
	HostName string
	// HostNetwork says that it shares its node's addresses with other pods.
	HostNetwork bool
	// Owner is the workload it belongs to, ReplicaSet the one between them.
	Owner      Ref
	ReplicaSet string
	// Revision tells pods of different templates apart (pod-template-hash,
	// controller-revision-hash).
	Revision string
	// Ready is its condition; Terminating that it has a deletion time; Gone when
	// it was seen to be gone, zero for one that exists.
	Ready, Terminating bool
	Gone               time.Time
}

// Workload is a workload that the manifest refers to.
type Workload struct {
	Ref Ref
	// Known says that the workload and its rollout can be read; Why not.
	Known bool
	Why   string
	// Revision is that of its present template; empty when it cannot be told.
	Revision string
	// Replicas are wanted, Rolling says that its own status shows a rollout that
	// has not ended, paused ones included.
	Replicas int
	Rolling  bool
	// Deadline is how long its rollout may take (progressDeadlineSeconds); zero
	// means AuditTimings.Rollout.
	Deadline time.Duration
	// Mixed says that its pods do other work as well, so that one without a
	// member is nothing odd.
	Mixed bool
}

// AuditTimings are the waits of the audit. A zero field means the default.
type AuditTimings struct {
	// Confirm is how long a verdict of True or False must be seen, in two looks
	// at least, before it is given: 20 s (case S14).
	Confirm time.Duration
	// Doubt is how long a verdict must be Unknown, in three looks at least,
	// before an earlier one is withdrawn: 60 s, a heartbeat, a rebalance and 10 s.
	Doubt time.Duration
	// Grace is how long a new member may be without an answer: 60 s.
	Grace time.Duration
	// Settle is how long members and queues must have been the same before a
	// queue without an owner, or with two, is said: 60 s (cases A12, A13).
	Settle time.Duration
	// Split is how long brokers may list different members: 120 s (case A14).
	Split time.Duration
	// Expiry is how long brokers and proxies keep a member that is silent: 130 s
	// (rocketmq.md 5.6).
	Expiry time.Duration
	// Fresh is the age up to which a gRPC member's record is believed: 25 s;
	// FreshRemoting that of a classic member behind a proxy: 75 s (live 1.1).
	Fresh, FreshRemoting time.Duration
	// Rollout bounds a rollout whose workload has no deadline of its own: 300 s.
	Rollout time.Duration
}

// DefaultAuditTimings are the waits that hold for unmodified RocketMQ clients.
func DefaultAuditTimings() AuditTimings {
	s := time.Second
	return AuditTimings{Confirm: 20 * s, Doubt: 60 * s, Grace: 60 * s, Settle: 60 * s, Split: 120 * s,
		Expiry: 130 * s, Fresh: 25 * s, FreshRemoting: 75 * s, Rollout: 300 * s}
}

func (t AuditTimings) orDefaults() AuditTimings {
	d := DefaultAuditTimings()
	for _, f := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&t.Confirm, d.Confirm}, {&t.Doubt, d.Doubt}, {&t.Grace, d.Grace}, {&t.Settle, d.Settle},
		{&t.Split, d.Split}, {&t.Expiry, d.Expiry}, {&t.Fresh, d.Fresh},
		{&t.FreshRemoting, d.FreshRemoting}, {&t.Rollout, d.Rollout},
	} {
		if *f.have <= 0 {
			*f.have = f.want
		}
	}
	return t
}
