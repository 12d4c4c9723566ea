// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"fmt"
	"slices"
)

// MaximumOf computes how many replicas of the workload can have work: the largest
// number over all groups that name it, none if any is unbounded, else unknown if
// any is unknown, never below 1 (K22). The asked count plays no part.
func MaximumOf(ask Ask) Maximum { return rank(ask).maximum(ask) }

// ranking are the shares of all groups, and the one that decides.
type ranking struct {
	shares []share
	top    share
}

func rank(ask Ask) ranking {
	r := ranking{}
	for _, g := range ask.Groups {
		r.shares = append(r.shares, shareOf(g))
	}
	order := map[Kind]int{Unbounded: 0, UnknownMaximum: 1, Bounded: 2}
	slices.SortStableFunc(r.shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(order[a.kind], order[b.kind]), cmp.Compare(b.useful, a.useful),
			cmp.Compare(a.group.Name, b.group.Name))
	})
	if len(r.shares) > 0 {
		r.top = r.shares[0]
	}
	return r
}

func (r ranking) maximum(ask Ask) Maximum {
	if len(r.shares) == 0 {
		return Maximum{Kind: Unbounded, Role: Consumer, Why: "no ConsumerGroup names it",
			Sentence: "any number can work: no ConsumerGroup names " + clean(ask.Workload.String())}
	}
	m := Maximum{Kind: r.top.kind, Group: r.top.group.Name, Role: Consumer, Why: clean(r.top.why)}
	for _, s := range r.shares {
		if s.group.Role == Mixed {
			m.Role = Mixed
		}
		if i := s.group.Idle; i.Reason != "" && i.Count > m.Idle {
			m.Idle, m.IdleReason = i.Count, clean(i.Reason)
		}
	}
	if m.Kind == Bounded {
		m.Useful, m.Topics = r.top.useful, r.top.capacity.Set
		m.Replicas = m.Useful
		if slices.ContainsFunc(r.shares, func(s share) bool { return len(s.group.Others) > 0 }) {
			m.Replicas = max(ask.Current, m.Useful)
		}
	}
	m.Sentence = r.top.sentence(len(r.shares))
	return m
}

// Excess is how many of a number of replicas are above the maximum and what a
// person allows to be idle. It is 0 where there is no maximum or it is unknown.
func (m Maximum) Excess(replicas int64) int64 {
	if m.Kind != Bounded {
		return 0
	}
	return max(0, replicas-m.limit())
}

// limit is the largest count that is not refused as an increase. The override
// counts from what is useful and not from Replicas, which follows the current
// count of a shared group: else every scale-up would make room for the next.
func (m Maximum) limit() int64 { return plus(m.Useful, max(0, m.Idle)) }

// Judge answers an Ask. It judges increases only: coming down, from whatever
// number, is always allowed, and Unknown refuses nothing.
func Judge(ask Ask) Verdict {
	r := rank(ask)
	m := r.maximum(ask)
	v := Verdict{Outcome: Allowed, Maximum: m, Asked: ask.Asked, Current: ask.Current, Passed: ask.Asked}
	v.Notes = r.notes(ask)
	switch {
	case ask.Asked <= ask.Current:
		v.Reason = NoIncrease
		if n := m.Excess(ask.Asked); n > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%s of %s replicas are still above the maximum", number(n), number(ask.Asked)))
		}
		return v
	case m.Kind == Unbounded:
		v.Reason = NoMaximum
		return v
	case m.Kind != Bounded:
		v.Outcome, v.Reason = AllowedUnknown, MaximumUnknown
		v.Sentence = asked(ask.Asked) + m.Sentence
		v.Short = r.top.shortUnknown(ask)
		return v
	case ask.Asked <= m.Useful:
		v.Reason = WithinMaximum
		return v
	}
	v.Sentence, v.Short = asked(ask.Asked)+m.Sentence, r.top.short(ask.Asked)
	v.Helps, v.NoHelp = r.top.helps(ask.Asked), r.top.noHelp()
	for i := range v.Helps {
		v.Helps[i] = clean(v.Helps[i])
	}
	switch {
	case ask.Asked <= m.limit():
		v.Reason = WithinIdleReplicas
		v.Short = "" // a person wants it so
		v.Notes = append(v.Notes, fmt.Sprintf("%s replicas will be idle, as spec.scaling.idleReplicas allows: %s", number(ask.Asked-m.Useful), m.IdleReason))
	case m.Role == Mixed:
		v.Reason = MixedRole
	default:
		v.Outcome, v.Reason, v.Passed = Refused, PastMaximum, max(ask.Current, m.limit())
	}
	return v
}
