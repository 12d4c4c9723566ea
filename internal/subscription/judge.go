// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// camp is a number of members that subscribe alike.
type camp struct {
	set     Set
	members []*Member
}

// camps groups the members that answered by what they subscribe to, the one to
// compare with first: the declared one if any member is in it, else the
// largest, else the one that comes first by name.
func (e *examination) camps() []camp {
	by := map[string]*camp{}
	for _, m := range e.answered {
		set, _ := m.Reads.Get()
		k := set.key()
		if by[k] == nil {
			by[k] = &camp{set: set}
		}
		by[k].members = append(by[k].members, m)
	}
	out := make([]camp, 0, len(by))
	for _, k := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[k])
	}
	slices.SortStableFunc(out, func(a, b camp) int {
		if n := len(b.members) - len(a.members); n != 0 {
			return n
		}
		switch {
		case e.ask.Declared == nil:
		case a.set.Equal(e.ask.Declared):
			return -1
		case b.set.Equal(e.ask.Declared):
			return 1
		}
		return 0
	})
	return out
}

func (e *examination) verdict(s Status, r Reason, sentence string) Verdict {
	return Verdict{Now: s, NowReason: r, NowSentence: sentence, Answered: len(e.answered), Of: len(e.counted)}
}

func (e *examination) unsure() Verdict {
	return e.verdict(Unknown, e.doubts[0].reason, e.doubts[0].sentence)
}

// agree judges whether all members subscribe alike. Two members that answered
// and differ prove that they do not, whatever else is unknown; that they do is
// said only when nothing is in doubt.
func (e *examination) agree() {
	camps := e.camps()
	if len(camps) > 0 {
		e.report.Agreeing = len(camps[0].members)
	}
	v := &e.report.MembersAgree
	switch {
	case len(camps) > 1:
		*v = e.verdict(False, e.differ(camps), "")
		for _, c := range camps[1:] {
			for _, m := range c.members {
				v.add(m.odd(c.set.against(camps[0].set)))
			}
		}
		if e.state.DisagreeSince.IsZero() {
			e.state.DisagreeSince = e.ask.Look.Started
		}
		v.NowSentence = e.disagreement(camps, v)
	case len(e.doubts) > 0:
		*v = e.unsure()
	case len(e.counted) == 0:
		*v = e.verdict(True, ReasonNoMembers, "no member is connected")
	default:
		*v = e.verdict(True, ReasonAgree, fmt.Sprintf("%d of %d members read %s%s", len(e.answered), len(e.counted), camps[0].set, e.joining()))
		e.report.Agreed = camps[0].set
		e.state.LastAgreed = e.ask.Look.Started
	}
	if v.Now == True {
		e.state.DisagreeSince = time.Time{}
	}
	e.report.LastAgreed = e.state.LastAgreed
	e.report.Since = e.state.DisagreeSince
}

func (e *examination) joining() string {
	if e.report.Joining == 0 {
		return ""
	}
	return fmt.Sprintf("; %d joined just now and have not answered yet", e.report.Joining)
}

// differ says in one word how the camps differ.
func (e *examination) differ(camps []camp) Reason {
	if e.rolling != nil {
		return ReasonRolloutInProgress
	}
	a, b := camps[0], camps[1]
	shared := false
	for topic, f := range a.set {
		o, both := b.set[topic]
		shared = shared || both
		if both && f.Type != o.Type {
			return ReasonExpressionType
		}
	}
	if !shared && owner(a.members[0]) != owner(b.members[0]) {
		return ReasonSameGroupTwoApps
	}
	for _, c := range camps[1:] {
		if !slices.Equal(c.set.Topics(), a.set.Topics()) {
			return ReasonTopicsDiffer
		}
	}
	return ReasonFilterDiffers
}

func owner(m *Member) string {
	if m.Pod == nil {
		return ""
	}
	return m.Pod.Owner.String()
}

// disagreement is the sentence of ux: how many read what, who does not.
func (e *examination) disagreement(camps []camp, v *Verdict) string {
	var b strings.Builder
	if r := e.rolling; r != nil {
		fmt.Fprintf(&b, "%s rolls out: %d of %d pods updated, deadline %s; ", r.Workload, r.Updated, r.Pods, r.Deadline.UTC().Format("15:04"))
	}
	fmt.Fprintf(&b, "%d of %d members read %s; ", len(camps[0].members), len(e.counted), camps[0].set)
	odd := camps[1].members[0]
	fmt.Fprintf(&b, "%s %s", odd.name(), camps[1].set.against(camps[0].set))
	if n := len(v.Odd) + v.Omitted - 1; n > 0 {
		fmt.Fprintf(&b, "; %d more differ", n)
	}
	if a, o := owner(camps[0].members[0]), owner(odd); a != o && a != "" && o != "" && e.rolling == nil {
		fmt.Fprintf(&b, "; it belongs to %s and the others to %s, so give it a group of its own", o, a)
	}
	if silent := len(e.counted) - len(e.answered); silent > 0 {
		fmt.Fprintf(&b, "; %d did not answer", silent)
	}
	return b.String()
}

func (v *Verdict) add(o Odd) {
	if len(v.Odd) == MaxOdd {
		v.Omitted++
		return
	}
	v.Odd = append(v.Odd, o)
}

func (m *Member) odd(differs string) Odd {
	o := Odd{ClientID: m.ClientID, Address: strings.Join(m.Addresses, ", "), Differs: differs}
	if set, ok := m.Reads.Get(); ok {
		o.Reads = set.String()
	}
	if m.Pod != nil {
		o.Pod, o.Workload, o.ReplicaSet = m.Pod.String(), m.Pod.Owner.String(), m.Pod.ReplicaSet
	}
	return o
}

// match judges whether all members subscribe as the manifest declares.
func (e *examination) match() {
	v := &e.report.MatchesSpec
	if e.ask.Declared == nil {
		*v = e.verdict(Unknown, ReasonNothingDeclared, "the manifest declares no subscription")
		return
	}
	var first *Member
	*v = e.verdict(False, ReasonMemberDiffers, "")
	for _, m := range e.answered {
		if set, _ := m.Reads.Get(); !set.Equal(e.ask.Declared) {
			if first == nil {
				first = m
			}
			v.add(m.odd(set.against(e.ask.Declared)))
		}
	}
	switch {
	case first != nil:
		if e.rolling != nil {
			v.NowReason = ReasonRolloutInProgress
		}
		v.NowSentence = fmt.Sprintf("%d of %d members do not subscribe as declared (%s): %s %s", len(v.Odd)+v.Omitted, len(e.counted), e.ask.Declared, first.name(), v.Odd[0].Differs)
	case len(e.doubts) > 0:
		*v = e.unsure()
	case len(e.counted) == 0:
		*v = e.verdict(True, ReasonNoMembers, "no member is connected")
	default:
		*v = e.verdict(True, ReasonDeclaredAndPresent, fmt.Sprintf("%d of %d members subscribe as declared%s", len(e.answered), len(e.counted), e.joining()))
	}
}
