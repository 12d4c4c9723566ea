// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Strategy is how a change of a group's subscription is met, and a
// disagreement that is found outside one.
type Strategy string

// Strategies. The zero Strategy is ReportOnly.
const (
	// ReportOnly changes nothing on brokers; the audit says what is lost.
	ReportOnly Strategy = "Report"
	// ByFence stops all consumption of the group while its pods are replaced. Its
	// price is a pause as long as the rollout. It needs pods that wait at the
	// door (rule K30); elsewhere the change is met by ByRewind.
	ByFence Strategy = "Fence"
	// ByRewind sets the group back, once all members agree, to where it was when
	// they last did. Its price is that what was consumed meanwhile is delivered
	// again, and a pause of seconds.
	ByRewind Strategy = "Rewind"
)

// OnTimeout is what happens to a fence when its time is over and members are
// still mixed.
type OnTimeout string

// What happens to a fence at its deadline. The zero OnTimeout is Hold.
const (
	// HoldFence stays fenced and says so (rule R34).
	HoldFence OnTimeout = "Hold"
	// LiftAndRewind lets the group go on, and sets it back once all agree.
	LiftAndRewind OnTimeout = "Rewind"
	// LiftFence lets the group go on; what is skipped then is lost.
	LiftFence OnTimeout = "Lift"
)

// Spec is what the user wants of one group's subscription, and what the caller
// knows about it from other objects.
type Spec struct {
	// Group is the group's name in RocketMQ, Generation that of the manifest.
	Group      string
	Generation int64
	// Target is the declared subscription; nil when the manifest has none, and
	// then nothing is planned.
	Target Set
	// Strategy, StartTimeout, MaxPause and OnTimeout are spec.subscriptionChange.
	// StartTimeout is how long pods may take to begin to change (300 s when
	// zero), MaxPause how long a fence may last (600 s when zero).
	Strategy               Strategy
	StartTimeout, MaxPause time.Duration
	OnTimeout              OnTimeout
	// Door says that new pods wait until the operator lets them start: it
	// triggers their restart, or they have a scheduling gate (rule K30 a, b).
	Door bool
	// Published is the hash that the published ConfigMap carries, as read; empty
	// when there is none. See [Hash].
	Published string
	// Busy says, by topic, why no subscription may change now: the topic is
	// being resized (rule R16).
	Busy map[string]string
	// Accepted is the id of a choice that a person accepted; see [Choice].
	Accepted string
	// Deleting says that the object is being deleted: whatever is open ends now.
	Deleting bool
	// Timings are the waits; zero fields mean the defaults.
	Timings Timings
}

// Hash is the hash of a subscription under which it is published. It is equal
// for subscriptions that are Equal.
func Hash(s Set) string {
	sum := sha256.Sum256([]byte(s.key()))
	return hex.EncodeToString(sum[:8])
}

// Timings are the waits of the planner. A zero field means the default.
type Timings struct {
	// Still is how long committed offsets must stand still under a fence: 7 s,
	// the 5 s in which clients persist them and a margin (live 10.4).
	Still time.Duration
	// Retry is how long a reset by time may take on each broker before it is
	// sent again: 15 s, as clients wait 10 s (live 10.1).
	Retry time.Duration
	// Movement is how long the group may take to move after a fence: 60 s.
	Movement time.Duration
	// CutLookAge is how old the look before an enable or a reset may be, from
	// its start: 10 s (rule R02).
	CutLookAge time.Duration
	// MaxGap is the longest time between two looks of one window: 30 s.
	MaxGap time.Duration
	// LookEvery is the pace of looks in a change (3 s), IdleEvery at rest (60 s).
	LookEvery, IdleEvery time.Duration
}

// DefaultTimings are the waits that hold for unmodified RocketMQ clients.
func DefaultTimings() Timings {
	s := time.Second
	return Timings{Still: 7 * s, Retry: 15 * s, Movement: 60 * s, CutLookAge: 10 * s, MaxGap: 30 * s, LookEvery: 3 * s, IdleEvery: 60 * s}
}

func (t Timings) orDefaults() Timings {
	d := DefaultTimings()
	for _, f := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&t.Still, d.Still}, {&t.Retry, d.Retry}, {&t.Movement, d.Movement}, {&t.CutLookAge, d.CutLookAge},
		{&t.MaxGap, d.MaxGap}, {&t.LookEvery, d.LookEvery}, {&t.IdleEvery, d.IdleEvery},
	} {
		if *f.have <= 0 {
			*f.have = f.want
		}
	}
	return t
}

func (s Spec) startTimeout() time.Duration {
	if s.StartTimeout > 0 {
		return s.StartTimeout
	}
	return 300 * time.Second
}

func (s Spec) maxPause() time.Duration {
	if s.MaxPause > 0 {
		return s.MaxPause
	}
	return 600 * time.Second
}
