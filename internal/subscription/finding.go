// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// FindingKind says in one word what identity has to say.
type FindingKind string

// Findings, the worst first.
const (
	// DuplicateClientID: one id at two addresses (cases A05, A07, A10, A11).
	DuplicateClientID FindingKind = "DuplicateClientID"
	// MixedModes: members in different message models or of both granularities
	// (case G15).
	MixedModes FindingKind = "MixedModes"
	// DoubleOwned and Unowned: queues with two owners, or none (cases A06, A07).
	DoubleOwned FindingKind = "DoubleOwnedQueues"
	Unowned     FindingKind = "UnownedQueues"
	// MembershipSplit: brokers list different members (case A14).
	MembershipSplit FindingKind = "MembershipSplit"
	// UnreferencedWorkload and OutsideCluster: members from elsewhere (case S03).
	UnreferencedWorkload FindingKind = "UnreferencedWorkload"
	OutsideCluster       FindingKind = "OutsideCluster"
	// FewerMembers: fewer members than ready pods (rule R40).
	FewerMembers FindingKind = "FewerMembersThanPods"
	// SeveralInPod: more than one client in a pod (case S07).
	SeveralInPod FindingKind = "SeveralClientsInPod"
	// MixedSDKs: members of different languages (rocketmq.md 5.2).
	MixedSDKs FindingKind = "MixedSDKs"
	// ProtocolMismatch: another protocol than declared (case A29).
	ProtocolMismatch FindingKind = "SDKKindMismatch"
	// Twin: another group, behind a client namespace (case S17).
	Twin FindingKind = "NamespaceTwin"
	// Ghosts: members of pods that are gone (case A18).
	Ghosts FindingKind = "GhostMembers"
)

// Finding is one thing that identity has to say. It changes no verdict.
type Finding struct {
	Kind FindingKind
	// Sentence says it, with what it does and what helps.
	Sentence string
	// Count is how many members, queues or pods it is about.
	Count int
	// Queues are those concerned, at most MaxOdd.
	Queues []snapshot.Queue
}

func (e *examination) found(k FindingKind, count int, format string, args ...any) {
	if len(e.report.Findings) == MaxOdd {
		e.report.OmittedFindings++
		return
	}
	e.report.Findings = append(e.report.Findings, Finding{Kind: k, Count: count, Sentence: fmt.Sprintf(format, args...)})
}

// identity says what is odd about who the members are.
func (e *examination) identity() {
	e.twice()
	e.modes()
	e.ownership()
	e.split()
	e.strangers()
	if n := len(e.without); n > 0 {
		e.found(FewerMembers, n, "%d ready pods have no member of the group, such as %s: the consumer did not start there, or connects where it is not seen; if it is not meant to consume, give the workload the role Mixed", n, e.without[0])
	}
	e.crowded()
	e.languages()
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Twins)) {
		e.found(Twin, e.ask.Look.Twins[name], "group %s has %d members: with a client namespace, that is what %s is called on the brokers; they are two groups", name, e.ask.Look.Twins[name], e.ask.Group)
	}
	e.ghosts()
}

func (e *examination) twice() {
	by := map[string][]string{}
	for _, m := range e.members {
		if m.Duplicate {
			by[m.ClientID] = append(by[m.ClientID], m.at())
		}
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		effect := "members with one id take the same queues, so other queues have no owner and adding pods does not help"
		if len(by) == 1 && len(e.counted) == len(by[id]) && len(by[id]) > 1 {
			effect = "all members have the same id, so each takes all queues and every message is consumed more than once"
		}
		e.found(DuplicateClientID, len(by[id]), "client id %s is in use at %s: %s; set the instance name from the pod's name, or use a client that adds a random part", id, strings.Join(by[id], " and "), effect)
	}
}

// at is where a member connects from, with its pod.
func (m *Member) at() string {
	where := strings.Join(m.Addresses, " and ")
	if m.Pod != nil {
		where += " (pod " + m.Pod.Name + ")"
	}
	return where
}

func (e *examination) modes() {
	broadcast, clustering, pop, classic := 0, 0, 0, 0
	for _, m := range e.counted {
		if m.Broadcast {
			broadcast++
		} else if m.Reads.IsKnown() {
			clustering++
		}
		if m.Pop {
			pop++
		} else if m.Reads.IsKnown() {
			classic++
		}
	}
	if broadcast > 0 && clustering > 0 {
		e.found(MixedModes, broadcast, "%d members broadcast and %d share the queues: the group's mode is that of the last heartbeat, so each kind is served wrongly in turns", broadcast, clustering)
	}
	if pop > 0 && classic > 0 {
		e.found(MixedModes, pop, "%d members take messages (POP or gRPC) and %d take whole queues: both kinds read the same queues, so messages are consumed twice", pop, classic)
	}
	switch {
	case e.ask.Protocol == snapshot.ProtocolPOP && classic > 0:
		e.found(ProtocolMismatch, classic, "the group is declared to speak gRPC, but %d members take whole queues (remoting): the number of queues bounds them", classic)
	case e.ask.Protocol == snapshot.ProtocolClassic && pop > 0:
		e.found(ProtocolMismatch, pop, "the group is declared to speak remoting, but %d members take messages (POP or gRPC)", pop)
	}
}

// split says when brokers list different members for longer than a heartbeat
// explains (case A14).
func (e *examination) split() {
	lists := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		if hosted, why := e.hosts(name); why != "" || len(hosted) == 0 || !e.ask.Look.Brokers[name].Members.IsKnown() {
			continue
		}
		var ids []string
		for _, m := range e.members {
			if !m.Ghost && !m.GRPC && slices.Contains(m.Servers, name) {
				ids = append(ids, m.key())
			}
		}
		k := strings.Join(ids, "\n")
		lists[k] = append(lists[k], fmt.Sprintf("%s lists %d", name, len(ids)))
	}
	if len(lists) < 2 {
		e.state.lived.split = time.Time{}
		return
	}
	if e.prev.lived.split.IsZero() {
		e.state.lived.split = e.ask.Look.Finished
		return
	}
	if e.ask.Look.Started.Sub(e.prev.lived.split) >= e.t.Split {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(lists)) {
			parts = append(parts, lists[k]...)
		}
		slices.Sort(parts)
		e.found(MembershipSplit, len(lists), "brokers list different members: %s; some members do not reach all brokers, so queues are shared out differently", strings.Join(parts, ", "))
	}
}

func (e *examination) strangers() {
	if !e.ask.Pods.IsKnown() {
		return
	}
	by := map[string]int{}
	outside, first := 0, ""
	for _, m := range e.counted {
		switch {
		case m.Pod == nil:
			if outside++; first == "" {
				first = m.at()
			}
		case !e.referenced(m.Pod):
			by[m.Pod.Namespace+": "+m.Pod.Owner.String()]++
		}
	}
	for _, w := range slices.Sorted(maps.Keys(by)) {
		e.found(UnreferencedWorkload, by[w], "%d members belong to a workload that the manifest does not name (%s): name it, or give it a group of its own", by[w], w)
	}
	if outside > 0 {
		e.found(OutsideCluster, outside, "%d members are in no pod that can be seen, such as %s: outside the cluster, or behind address translation", outside, first)
	}
}

func (e *examination) crowded() {
	by := map[string][]string{}
	for _, m := range e.counted {
		if m.Pod != nil && !slices.Contains(by[m.Pod.String()], m.ClientID) {
			by[m.Pod.String()] = append(by[m.Pod.String()], m.ClientID)
		}
	}
	pods := 0
	first := ""
	for _, pod := range slices.Sorted(maps.Keys(by)) {
		if len(by[pod]) > 1 {
			if pods++; first == "" {
				first = fmt.Sprintf("%s with %s", pod, strings.Join(by[pod][:min(3, len(by[pod]))], ", "))
			}
		}
	}
	if pods > 0 {
		e.found(SeveralInPod, pods, "%d pods hold more than one client of the group, such as %s: each counts as a member; if they read different topics, the fix is in the code, not in scaling", pods, first)
	}
}

func (e *examination) languages() {
	by := map[string]int{}
	for _, m := range e.counted {
		if m.Language != "" && !m.Pop {
			by[m.Language]++
		}
	}
	if len(by) > 1 {
		var parts []string
		for _, l := range slices.Sorted(maps.Keys(by)) {
			parts = append(parts, fmt.Sprintf("%d %s", by[l], l))
		}
		hint := ""
		if by["GO"] > 0 {
			hint = "; a Go member's filter always wins over the others' on the brokers"
		}
		e.found(MixedSDKs, len(by), "members use different clients (%s): their ways to share out queues may differ%s", strings.Join(parts, ", "), hint)
	}
}

func (e *examination) ghosts() {
	n := 0
	var last time.Time
	first := ""
	for _, m := range e.members {
		if m.Ghost {
			if n++; first == "" {
				first = m.Pod.Name
			}
			if m.Expires.After(last) {
				last = m.Expires
			}
		}
	}
	if n == 0 {
		return
	}
	if e.ask.Now.After(last) {
		e.found(Ghosts, n, "%d members belong to pods that are gone, such as %s, and should have expired at %s; they may still hold queues: restart one member, or look for a process outside its pod", n, first, last.UTC().Format("15:04:05"))
		return
	}
	e.found(Ghosts, n, "%d members belong to pods that are gone, such as %s; brokers drop them, and give their queues to others, by %s", n, first, last.UTC().Format("15:04:05"))
}

// ownership says which queues have no owner, or two, once members and queues
// have been the same for the settling time (cases A06, A07, A12, A13).
func (e *examination) ownership() {
	owners := map[snapshot.Queue]int{}
	for _, topic := range e.topics() {
		for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
			f, asked := e.ask.Look.Brokers[name].Topics[topic]
			stored, known := f.Get()
			if !asked || !known {
				e.settledSince("")
				return
			}
			for q := 0; stored.Present && stored.Config.Perm.Readable() && q < stored.Config.ReadQueues; q++ {
				owners[snapshot.Queue{Topic: topic, Broker: name, ID: q}] = 0
			}
		}
	}
	var keys []string
	complete := len(e.members) > 0
	for _, m := range e.members {
		queues, known := m.Queues.Get()
		keys = append(keys, m.key())
		switch {
		case m.Broadcast || m.Pop:
			complete = false
		case m.Ghost: // what it holds is not known; the others still show double owners
		case !known:
			complete = false
		}
		for _, q := range queues {
			if _, counts := owners[q]; counts {
				owners[q]++
			}
		}
	}
	since := e.settledSince(strings.Join(keys, "\n") + fmt.Sprint(len(owners)))
	if !complete || e.ask.Look.Started.Sub(since) < e.t.Settle {
		return
	}
	hidden := slices.ContainsFunc(e.members, func(m *Member) bool { return m.Ghost })
	e.owned(owners, hidden)
}

func (e *examination) owned(owners map[snapshot.Queue]int, hidden bool) {
	var none, two []snapshot.Queue
	brokers, all := map[string]int{}, map[string]int{}
	for q, n := range owners {
		all[q.Broker]++
		switch {
		case n == 0 && !hidden:
			none = append(none, q)
			brokers[q.Broker]++
		case n > 1:
			two = append(two, q)
		}
	}
	if len(two) > 0 {
		e.found(DoubleOwned, len(two), "%d of %d queues have more than one owner (%s): their messages are consumed more than once", len(two), len(owners), places(two))
		e.where(two)
	}
	if len(none) > 0 {
		hint := ""
		if len(brokers) == 1 && len(all) > 1 && brokers[none[0].Broker] == all[none[0].Broker] {
			hint = "; they are all of one broker, as after its restart: restart one member, more members do not help"
		}
		e.found(Unowned, len(none), "%d of %d queues have no owner (%s): nobody consumes them%s", len(none), len(owners), places(none), hint)
		e.where(none)
	}
}

// where adds the queues to the finding that was just made.
func (e *examination) where(queues []snapshot.Queue) {
	if e.report.OmittedFindings == 0 {
		e.report.Findings[len(e.report.Findings)-1].Queues = queues[:min(MaxOdd, len(queues))]
	}
}

// settledSince is since when the same members were seen with the same queues.
func (e *examination) settledSince(alike string) time.Time {
	l := &e.state.lived
	if alike == "" || l.alike != alike || l.since.IsZero() {
		l.alike, l.since = alike, e.ask.Look.Finished
	}
	return l.since
}

// places names queues, sorted in place, at most MaxOdd.
func places(queues []snapshot.Queue) string {
	slices.SortFunc(queues, func(a, b snapshot.Queue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
	})
	var out []string
	for i, q := range queues {
		if i == MaxOdd {
			out = append(out, fmt.Sprintf("%d more", len(queues)-MaxOdd))
			break
		}
		out = append(out, fmt.Sprintf("%s %s/%d", q.Topic, q.Broker, q.ID))
	}
	return strings.Join(out, ", ")
}
