// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// MaxQueues is the largest number of queues per broker that is planned for.
// Brokers accept any number, and one of 100000 exhausts their memory
// (rocketmq.md 3.4).
const MaxQueues = 1024

// Mode says whether a cut waits for a person.
type Mode string

// Modes. The zero Mode is Automatic.
const (
	ModeAutomatic Mode = "Automatic"
	ModeApprove   Mode = "Approve"
)

// Spec is what the user wants of one topic, and what the caller knows about it
// from other objects.
type Spec struct {
	// Topic is the topic's name in RocketMQ.
	Topic string
	// Generation changes whenever the user edits the spec.
	Generation int64
	// Queues is the wanted number of read and of write queues per broker.
	Queues int
	// Placement are the broker names that are to have the topic. Nil means
	// every broker of the cluster.
	Placement []string
	// Permission is the wanted permission; zero means read and write.
	Permission snapshot.Perm
	// MessageType is the declared message type (FIFO, PRIORITY ...). It can
	// make a topic ordered; it never proves that something cannot happen
	// (rule R15).
	MessageType string
	// Ordered says that the topic, or a group that reads it, is declared to be
	// consumed in order.
	Ordered bool
	// AllowOrderChange is the explicit choice that keys may move to other
	// queues (cases Q09, Q10).
	AllowOrderChange bool
	// Mode is Automatic or Approve.
	Mode Mode
	// Approved is the id of the step that a person approved; see [Approval].
	Approved string
	// FirstSight is set until the spec was edited, or a step approved, after a
	// topic was adopted, handed over, restored or created again: a larger
	// topic then stays as it is (rule K02).
	FirstSight bool
	// Closing says that the object is being deleted: nothing new is begun, and
	// what was retired is watched to the end (rule R23).
	Closing bool
	// KeepHistory makes the read cut wait until everything in the retiring
	// queues has expired (rule R22).
	KeepHistory bool
	// Rescue asks for stranded messages to be made readable again.
	Rescue bool
	// LongestDelay is the longest time a message may be delayed, timed or half
	// committed; zero when the user did not say (rule R10).
	LongestDelay time.Duration
	// Transactions says that half messages may be used; the late window is
	// then never shorter than the broker's retention. It is the caller's
	// choice to set it unless the user declared that there are none.
	Transactions bool
	// Waivers name the groups whose unread messages are given up (rule R20).
	Waivers []Waiver
	// Acknowledged are offsets that the user allows to be set (rule R06).
	Acknowledged []Seed
	// Busy says, by group, why no queue count may change now: a subscription
	// change, a pending note or reset, members that disagree (rule R16).
	Busy map[string]string
	// Proxies says that proxies may exist: producers behind an idle one use a
	// route for up to Timings.ProxyRouteAge.
	Proxies bool
	// Timings are the waits; zero fields mean the defaults.
	Timings Timings

	retryOf string // the group whose retry topic it is; only PlanRetry sets it
}

// Waiver gives up what a group has not read, for one target only.
type Waiver struct {
	// Group is the group's name.
	Group string
	// ToQueues is the target the waiver was written for; next year's shrink
	// asks again.
	ToQueues int
}

func (s Spec) permission() snapshot.Perm {
	if s.Permission == 0 {
		return snapshot.PermReadWrite
	}
	return s.Permission
}
