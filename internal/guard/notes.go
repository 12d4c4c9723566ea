// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// notes are what was seen of the groups besides the maximum.
func (r ranking) notes(ask Ask) []string {
	var out []string
	for _, s := range r.shares {
		out = append(out, s.twice()...)
		out = append(out, s.uneven(ask.Asked)...)
		out = append(out, s.loaded(ask)...)
	}
	for i := range out {
		out[i] = clip(clean(out[i]), MaxSentence+1)
	}
	return out
}

// twice notes client ids at several addresses: these share as one, so more pods do
// not help until each has an id of its own (cases A05, A10).
func (s share) twice() []string {
	members, _ := s.group.Members.Get()
	at := map[string]map[string]bool{}
	for _, m := range members {
		if at[m.ClientID] == nil {
			at[m.ClientID] = map[string]bool{}
		}
		at[m.ClientID][m.Address] = true
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(at)) {
		if len(at[id]) > 1 {
			out = append(out, fmt.Sprintf("group %s: client id %s is in use at %d addresses: these take the same queues, so more pods do not help until each has an id of its own",
				s.group.Name, id, len(at[id])))
		}
	}
	if len(out) > MaxOdd {
		out = append(out[:MaxOdd], fmt.Sprintf("group %s: %d more client ids are in use twice", s.group.Name, len(out)-MaxOdd))
	}
	return out
}

// uneven notes that some members would get more queues than others, and which
// counts share evenly (case A03). It is no fault.
func (s share) uneven(replicas int64) []string {
	if s.kind != Bounded || s.capacity.Certainty != allocation.Exact || replicas < 1 || replicas > s.useful {
		return nil
	}
	topics, _ := queuesOf(s.group)
	most, least, err := allocation.Balance(s.strategy, topics, s.membersFor(replicas))
	even, none := allocation.EvenCounts(s.strategy, topics, s.capacity.Members)
	if err != nil || none != nil || most == least {
		return nil
	}
	note := fmt.Sprintf("group %s: with %s the busiest gets %s and the least busy %s",
		s.group.Name, counted(s.membersFor(replicas), "member"), counted(most, "queue"), number(least))
	var parts []string
	for _, n := range even[max(0, len(even)-MaxOdd):] {
		parts = append(parts, number(n))
	}
	return []string{note + "; these numbers of members share evenly: " + strings.Join(parts, ", ")}
}

// loaded notes that a backlog lies in so few queues that more members get nothing
// of it (case A20).
func (s share) loaded(ask Ask) []string {
	if s.kind != Bounded || ask.Asked <= ask.Current {
		return nil
	}
	var out []string
	for _, t := range s.group.Topics {
		loads, known := t.Backlog.Get()
		if !known {
			continue
		}
		with := int64(0)
		for _, n := range loads {
			if n > 0 {
				with++
			}
		}
		if with > 0 && with < s.membersFor(ask.Asked) && with < int64(len(loads)) {
			out = append(out, fmt.Sprintf("group %s: the whole backlog of %s lies in %d of its %d queues, so not more than %s can work on it: more pods do not help; other message keys, or a client that shares single messages, do",
				s.group.Name, t.Name, with, len(loads), counted(with, "member")))
		}
	}
	return out
}
