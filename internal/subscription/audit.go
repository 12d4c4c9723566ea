// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"strings"
)

// Audit says whether the members of a group subscribe alike, as declared, and
// as the brokers have it, who does not, and what identity has to say. It keeps
// nothing: hand Report.State to the next call.
func Audit(ask Ask, prev State) Report {
	e := examine(ask, prev)
	r := &e.report
	urgent := len(e.doubts) > 0 && e.doubts[0].urgent
	if since := e.since(); since != "" {
		r.MembersAgree.NowSentence += since
	}
	seq, now := ask.Look.Seq, ask.Now
	e.state.Agree = prev.Agree.settle(&r.MembersAgree, e.t, seq, now, urgent)
	e.state.Match = prev.Match.settle(&r.MatchesSpec, e.t, seq, now, urgent)
	e.state.Hold = prev.Hold.settle(&r.BrokersHold, e.t, seq, now, false)
	e.state.lived.lastSeq = seq
	r.State = e.state
	return *r
}

// since says what is being skipped, and since when.
func (e *examination) since() string {
	r := &e.report
	if r.MembersAgree.Now != False {
		return ""
	}
	var what []string
	for _, s := range r.Skipped {
		what = append(what, s.String())
	}
	var b strings.Builder
	if len(what) > 0 {
		fmt.Fprintf(&b, ". While they differ, brokers may use one filter for all: %s may be skipped for good", strings.Join(what, ", "))
	}
	fmt.Fprintf(&b, ". Since %s", r.Since.UTC().Format("15:04:05"))
	if !r.LastAgreed.IsZero() {
		fmt.Fprintf(&b, "; last seen to agree at %s", r.LastAgreed.UTC().Format("15:04:05"))
	}
	return b.String() + "."
}
