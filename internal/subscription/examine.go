// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// examination is one audit of one look, before anything is debounced.
type examination struct {
	ask        Ask
	t          AuditTimings
	prev       State
	state      State
	members    []*Member
	hostNames  map[*Member]string
	unreported map[*Member]bool
	report     Report

	// counted are the members that count: no ghosts, none that is joining;
	// answered are those of them that said what they subscribe to.
	counted, answered []*Member
	doubts            []doubt
	rolling           *Rollout
	without           []string // ready pods without a member
}

// doubt is a reason why something is not known.
type doubt struct {
	reason   Reason
	sentence string
	// urgent doubts withdraw an earlier verdict at once (rule R40).
	urgent bool
}

func examine(ask Ask, prev State) *examination {
	e := &examination{ask: ask, t: ask.Timings.orDefaults(), prev: prev, state: prev.clone(),
		hostNames: map[*Member]string{}, unreported: map[*Member]bool{}}
	e.report.Seq = ask.Look.Seq
	e.gather()
	e.count()
	e.rollouts()
	e.doubt()
	e.agree()
	e.match()
	e.hold()
	e.risk()
	e.identity()
	return e
}

// count says which members count. Ghosts do not (case A18), nor does a new
// member until it has answered or its grace is over.
func (e *examination) count() {
	seen := map[string]time.Time{}
	for _, m := range e.members {
		k := m.key()
		since, before := e.prev.lived.seen[k]
		if !before {
			since = e.ask.Look.Finished
		}
		if m.Reads.IsKnown() || e.prev.lived.lastSeq == 0 {
			since = e.ask.Look.Finished.Add(-e.t.Grace) // no longer new
		}
		seen[k] = since
		m.Joining = !m.Ghost && !m.Duplicate && !m.Reads.IsKnown() && e.ask.Look.Finished.Sub(since) < e.t.Grace
		e.report.All = append(e.report.All, *m)
		switch {
		case m.Ghost:
			e.report.Ghosts++
			continue
		case m.Joining:
			e.report.Joining++
			continue
		}
		e.counted = append(e.counted, m)
		if m.Reads.IsKnown() {
			e.answered = append(e.answered, m)
		}
		if m.Pod == nil {
			e.report.Unmapped++
		}
	}
	e.report.Members = len(e.counted)
	e.state.lived.seen = seen
}

// rollouts finds the referenced workloads whose pods are of more than one
// template, or whose own status shows a rollout (rule K31).
func (e *examination) rollouts() {
	pods, _ := e.ask.Pods.Get()
	since := map[string]time.Time{}
	for _, w := range e.ask.Workloads {
		revisions := map[string]int{}
		total := 0
		for i := range pods {
			if p := &pods[i]; p.Owner == w.Ref && p.Gone.IsZero() {
				revisions[p.Revision]++
				total++
			}
		}
		if len(revisions) < 2 && !w.Rolling {
			continue
		}
		k := w.Ref.Namespace + "/" + w.Ref.String()
		began, before := e.prev.Rollouts[k]
		if !before {
			began = e.ask.Now
		}
		since[k] = began
		limit := w.Deadline
		if limit <= 0 {
			limit = e.t.Rollout
		}
		r := Rollout{Workload: w.Ref, Updated: revisions[w.Revision], Pods: total, Since: began, Deadline: began.Add(limit)}
		if e.ask.Now.Before(r.Deadline) && (e.rolling == nil || r.Deadline.Before(e.rolling.Deadline)) {
			e.rolling = &r
		}
	}
	e.state.Rollouts = since
	e.report.Rolling = e.rolling
}

// doubt lists why the members, or what they subscribe to, may not all be
// known. An answer that is missing is never taken for a good one.
func (e *examination) doubt() {
	add := func(r Reason, urgent bool, format string, args ...any) {
		e.doubts = append(e.doubts, doubt{r, fmt.Sprintf(format, args...), urgent})
	}
	var twice []string
	for _, m := range e.counted {
		if m.Duplicate && !slices.Contains(twice, m.ClientID) {
			twice = append(twice, m.ClientID)
		}
	}
	if len(twice) > 0 {
		add(ReasonDuplicateClientID, true, "client id %s is in use at more than one address, so what each of them reads is not known%s", twice[0], more(len(twice)-1))
	}
	if len(e.ask.Look.Brokers) == 0 {
		add(ReasonBrokerSilent, false, "no broker was asked")
	}
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		if f := e.ask.Look.Brokers[name].Members; !f.IsKnown() {
			add(ReasonBrokerSilent, false, "the members that %s has are not known: %s", name, f.Why())
		}
	}
	e.doubtProxies(add)
	var silent []*Member
	for _, m := range e.counted {
		if !m.Reads.IsKnown() && !m.Duplicate {
			silent = append(silent, m)
		}
	}
	if len(silent) > 0 {
		m := silent[0]
		reason := ReasonMemberSilent
		if e.unreported[m] {
			reason = ReasonNotReported
		}
		add(reason, false, "%d of %d members answered; %s %s%s", len(e.answered), len(e.counted), m.name(), m.Reads.Why(), more(len(silent)-1))
	}
	e.doubtPods(add)
}

// doubtProxies says why members behind proxies may not be seen (rule R41,
// cases G01, S16). No broker lists gRPC members of CLUSTER proxies.
func (e *examination) doubtProxies(add func(Reason, bool, string, ...any)) {
	beats, known := e.ask.Look.Heartbeats.Get()
	pops := false
	for _, m := range e.counted {
		pops = pops || m.Pop
	}
	switch {
	case known && beats.Back < e.t.Expiry:
		add(ReasonProxyNotQueried, false, "the proxies' heartbeats were read back for %d s only; a member may be silent for %d s", int(beats.Back.Seconds()), int(e.t.Expiry.Seconds()))
	case !known && len(e.ask.Look.Proxies) > 0:
		add(ReasonProxyNotQueried, false, "members behind proxies are not known: %s", e.ask.Look.Heartbeats.Why())
	case !known && e.ask.Protocol == snapshot.ProtocolPOP:
		add(ReasonProxyNotQueried, false, "the group is declared to speak gRPC, and members behind proxies are not known: %s", e.ask.Look.Heartbeats.Why())
	}
	for address, f := range e.ask.Look.Proxies {
		if !f.IsKnown() && !known {
			add(ReasonProxyNotQueried, false, "proxy %s: %s", address, f.Why())
		}
	}
	if pops {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		f := e.ask.Look.Brokers[name].PopTraces
		switch traces, ok := f.Get(); {
		case !ok && !known:
			add(ReasonProxyNotQueried, false, "whether members consume by POP on %s is not known: %s", name, f.Why())
		case traces && len(e.counted) == 0:
			add(ReasonProxyNotQueried, false, "%s has traces of POP consumers, but no such member was seen; name the proxies in the BrokerCluster", name)
		case traces && !known:
			add(ReasonProxyNotQueried, false, "%s has traces of POP consumers, and members behind proxies are not known: %s", name, e.ask.Look.Heartbeats.Why())
		}
	}
}

// doubtPods says which ready pods of referenced workloads have no member.
func (e *examination) doubtPods(add func(Reason, bool, string, ...any)) {
	pods, known := e.ask.Pods.Get()
	if !known || len(e.ask.Workloads) == 0 {
		return
	}
	with, unmapped := map[string]bool{}, 0
	for _, m := range e.members {
		if m.Pod != nil {
			with[m.Pod.String()] = true
		} else {
			unmapped++
		}
	}
	var without []string
	for i := range pods {
		p := &pods[i]
		w, ok := e.workload(p)
		if ok && !w.Mixed && p.Ready && !p.Terminating && p.Gone.IsZero() && !with[p.String()] {
			without = append(without, p.Name)
		}
	}
	if len(without) <= unmapped {
		return // each may be one of the members without a pod
	}
	slices.Sort(without)
	e.without = without
	add(ReasonPodsWithoutMember, false, "%d ready pods have no member, such as %s, so what they read is not known", len(without), without[0])
}

func more(n int) string {
	switch {
	case n < 1:
		return ""
	case n == 1:
		return "; 1 more likewise"
	}
	return fmt.Sprintf("; %d more likewise", n)
}

// name is how a sentence names a member.
func (m *Member) name() string {
	if m.Pod == nil {
		return fmt.Sprintf("client %s at %s", m.ClientID, strings.Join(m.Addresses, " and "))
	}
	if m.Pod.ReplicaSet == "" {
		return fmt.Sprintf("pod %s (client %s)", m.Pod.Name, m.ClientID)
	}
	return fmt.Sprintf("pod %s (ReplicaSet %s, client %s)", m.Pod.Name, m.Pod.ReplicaSet, m.ClientID)
}
