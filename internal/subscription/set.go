// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// ObservedSet reads a list of subscriptions. The group's own retry topics are
// left out: clients add and drop them by themselves (rocketmq.md 5.1).
func ObservedSet(group string, subscriptions []snapshot.Subscription) Set {
	s := Set{}
	for _, sub := range subscriptions {
		if !strings.HasPrefix(sub.Topic, "%RETRY%"+group) {
			s[sub.Topic] = Observed(sub)
		}
	}
	return s
}

func tableSet(group string, table map[string]snapshot.Subscription) Set {
	return ObservedSet(group, slices.Collect(maps.Values(table)))
}

// Equal reports whether both take the same messages of the same topics.
func (s Set) Equal(o Set) bool {
	return maps.EqualFunc(s, o, Filter.Equal)
}

// Topics are its topics in order.
func (s Set) Topics() []string { return slices.Sorted(maps.Keys(s)) }

// key is equal for sets that are Equal.
func (s Set) key() string {
	var b strings.Builder
	for _, topic := range s.Topics() {
		fmt.Fprintf(&b, "%s %s\n", topic, s[topic].key())
	}
	return b.String()
}

// String prints what is subscribed, at most three topics.
func (s Set) String() string {
	var out []string
	for i, topic := range s.Topics() {
		if i == 3 {
			out = append(out, fmt.Sprintf("%d more", len(s)-3))
			break
		}
		out = append(out, topic+" with "+s[topic].String())
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// against says how s differs from what is expected, topic by topic; empty when
// it does not.
func (s Set) against(want Set) string {
	var out []string
	for _, topic := range want.Topics() {
		have, ok := s[topic]
		switch {
		case !ok:
			out = append(out, "does not read "+topic)
		case !have.Equal(want[topic]):
			out = append(out, fmt.Sprintf("reads %s with %s", topic, have))
		}
	}
	for _, topic := range s.Topics() {
		if _, ok := want[topic]; !ok {
			out = append(out, fmt.Sprintf("also reads %s with %s", topic, s[topic]))
		}
	}
	if len(out) > 3 {
		out = append(out[:3], fmt.Sprintf("%d more", len(out)-3))
	}
	return strings.Join(out, " and ")
}
