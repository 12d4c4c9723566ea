// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"maps"
	"time"
)

// State is what one audit hands to the next. Its exported part can be kept in
// the object's status, so that a restart of the operator flaps no condition;
// the rest was seen by the running process and begins again (rule R05).
type State struct {
	// Agree, Match and Hold are the verdicts as last shown.
	Agree Settled `json:"agree,omitzero"`
	Match Settled `json:"match,omitzero"`
	Hold  Settled `json:"hold,omitzero"`
	// Rollouts are when rollouts that go on were first seen, by workload.
	Rollouts map[string]time.Time `json:"rollouts,omitempty"`
	// DisagreeSince is when members began to disagree, LastAgreed when they were
	// last seen to agree.
	DisagreeSince time.Time `json:"disagreeSince,omitzero"`
	LastAgreed    time.Time `json:"lastAgreed,omitzero"`

	lived livedState
}

// Settled is a verdict as it was last shown.
type Settled struct {
	Status   Status `json:"status,omitempty"`
	Reason   Reason `json:"reason,omitempty"`
	Sentence string `json:"sentence,omitempty"`

	away  time.Time // when looks began to show something else
	looks int       // how many did
	seq   uint64    // the last of them
}

// Shown makes the state of a verdict from a condition, after a restart.
func Shown(s Status, r Reason, sentence string) Settled {
	return Settled{Status: s, Reason: r, Sentence: sentence}
}

// livedState is what the running process saw.
type livedState struct {
	seen    map[string]time.Time // members by key, when first seen
	alike   string               // members and queue counts
	since   time.Time            // since when they are the same
	split   time.Time            // since when brokers list different members
	lastSeq uint64
}

func (s State) clone() State {
	s.Rollouts = maps.Clone(s.Rollouts)
	s.lived.seen = maps.Clone(s.lived.seen)
	return s
}

// settle shows a verdict, once looks have shown it for long enough. A verdict
// that is not the shown one for long is never kept: the time runs from the
// first look that differed, whatever the looks in between said.
func (s Settled) settle(v *Verdict, t AuditTimings, seq uint64, now time.Time, urgent bool) Settled {
	wait, looks := t.Confirm, 2
	if v.Now == Unknown {
		wait, looks = t.Doubt, 3
	}
	switch {
	case v.Now == s.Status:
		s = Settled{Status: v.Now, Reason: v.NowReason, Sentence: v.NowSentence}
	case s.Status == "" || urgent && v.Now != True:
		s = Settled{Status: v.Now, Reason: v.NowReason, Sentence: v.NowSentence}
	default:
		if s.away.IsZero() || now.Before(s.away) {
			s.away, s.looks, s.seq = now, 1, seq
		} else if s.seq != seq {
			s.looks, s.seq = s.looks+1, seq
		}
		if s.looks >= looks && now.Sub(s.away) >= wait {
			s = Settled{Status: v.Now, Reason: v.NowReason, Sentence: v.NowSentence}
		}
	}
	v.Status, v.Reason, v.Sentence = s.Status, s.Reason, s.Sentence
	return s
}
