// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"
)

// Scaler is an autoscaler that was found to scale a workload or a group.
type Scaler struct {
	// Kind is such as HorizontalPodAutoscaler or ScaledObject.
	Kind, Name string
	// OnGroup says that it scales the ConsumerGroup, not the workload itself.
	OnGroup bool
	// Max is its maxReplicas.
	Max int64
	// Owner is the name of the ScaledObject that made a HorizontalPodAutoscaler;
	// these two are one.
	Owner string
}

func (s Scaler) String() string { return s.Kind + "/" + s.Name }

// WarnScalers says what is wrong with the autoscalers of a workload, each in less
// than MaxShort bytes: a maximum above what can work, before it is ever reached
// (cases A19, A22), and two that undo each other's work (case O36, K25). Nothing is
// refused and none of them is touched.
func WarnScalers(workload Ref, m Maximum, scalers []Scaler) []string {
	var out, names []string
	group := false
	for _, s := range scalers {
		if s.Owner != "" && slices.ContainsFunc(scalers, func(o Scaler) bool { return o.Kind == "ScaledObject" && o.Name == s.Owner }) {
			continue
		}
		names = append(names, s.String())
		group = group || s.OnGroup
		if m.Kind == Bounded && s.Max > m.limit() {
			say := fmt.Sprintf("%s may ask for %s replicas of %s, but %s can work", s, number(s.Max), workload, number(m.Useful))
			out = append(out, fitting(MaxShort, clean(say+readsShort(m)), clean(say), clean(fmt.Sprintf("%s can work, %s asked at most: %s", number(m.Useful), number(s.Max), s))))
		}
	}
	if len(names) > 1 {
		where := "scale " + workload.String()
		if group {
			where = "scale " + workload.String() + ", one of them through its ConsumerGroup"
		}
		out = append(out, clip(clean(fmt.Sprintf("%d autoscalers %s, and undo each other's work; keep one: %s", len(names), where, strings.Join(names, ", "))), MaxShort))
	}
	return out
}

// readsShort says which queues set the maximum.
func readsShort(m Maximum) string {
	if len(m.Topics) == 0 {
		return ""
	}
	return fmt.Sprintf(": group %s reads %s%s", m.Group, m.Topics[0].Topic, queuesText(m.Topics[0], 0))
}
