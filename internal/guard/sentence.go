// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// maxTopics is how many topics a sentence names.
const maxTopics = 3

// sentence says the share whole, without an asked count. What is longest and
// matters least goes first where it does not fit.
func (s share) sentence(groups int) string {
	limit := MaxSentence + 1
	switch s.kind {
	case Unbounded:
		return clip(clean(fmt.Sprintf("any number can work: group %s: %s", s.group.Name, s.why)), limit)
	case UnknownMaximum:
		return clip(clean(fmt.Sprintf("how many can work is not known (group %s: %s); not judged", s.group.Name, s.why)), limit)
	}
	most := ""
	if groups > 1 {
		most = fmt.Sprintf(" (the most of its %d groups)", groups)
	}
	head := s.canWork() + ": group " + s.group.Name + most
	why := " and " + s.basis.who + ", so a pod more would get none"
	help := "; " + strings.Join(s.helps(s.useful+1), "; or ")
	no := "; " + strings.Join(s.noHelp(), "; ")
	return fitting(limit,
		clean(head+s.reads(maxTopics, MaxOdd)+s.sharers()+why+help+no),
		clean(head+s.reads(1, 0)+s.sharers()+why+help),
		clean(head+s.reads(1, 0)+why+"; "+s.helps(s.useful + 1)[0]))
}

// short says it in a warning's space, the asked count included.
func (s share) short(n int64) string {
	head := asked(n) + s.canWork() + ": group " + s.group.Name
	help := s.shortHelp(n)
	return fitting(MaxShort,
		clean(head+s.reads(1, MaxOdd)+"; "+help),
		clean(head+s.reads(1, 0)+"; "+help),
		clean(head+s.reads(1, 0)),
		clean(asked(n)+s.canWork()+": "+help),
		clean(head))
}

func (s share) shortUnknown(ask Ask) string {
	return fitting(MaxShort,
		clean(fmt.Sprintf("Lockstep cannot tell how many replicas of %s can work (group %s: %s); not judged", ask.Workload, s.group.Name, s.why)),
		clean(fmt.Sprintf("Lockstep cannot tell how many replicas of %s can work (%s); not judged", ask.Workload.Name, clip(s.why, 160))),
		clean(fmt.Sprintf("Lockstep cannot tell how many replicas can work; not judged (%s)", s.why)))
}

// canWork is such as "at most 4 can work with 2 members in each pod".
func (s share) canWork() string {
	if s.capacity.Members <= s.used {
		return "1 may wait for work" // K22: never below 1
	}
	out := number(s.useful) + " can work"
	if s.capacity.Certainty == allocation.AtMost {
		out = "at most " + out
	}
	if s.perPod > 1 {
		out += fmt.Sprintf(" with %s members in each pod", number(s.perPod))
	}
	return out
}

// reads is what the group reads, with so many topics and brokers named.
func (s share) reads(topics, brokers int) string {
	set := s.capacity.Set
	var parts []string
	for i, t := range set {
		if i == topics {
			parts = append(parts, counted(int64(len(set)-topics), "more topic"))
			break
		}
		parts = append(parts, t.Topic+queuesText(t, brokers))
	}
	return " reads " + strings.Join(parts, " and ")
}

func queuesText(t allocation.TopicQueues, most int) string {
	n := t.Total()
	if n == 0 {
		return ", which has no queue that its members could read,"
	}
	out := " with " + counted(n, "queue")
	var parts []string
	for i, b := range t.Brokers {
		if i == most {
			parts = append(parts, counted(int64(len(t.Brokers)-most), "more broker"))
			break
		}
		parts = append(parts, b.Broker+" "+number(b.Queues))
	}
	if most == 0 || len(parts) == 0 {
		return out
	}
	return out + " (" + strings.Join(parts, ", ") + ")"
}

// sharers says what the group's other workloads take.
func (s share) sharers() string {
	if s.used == 0 {
		return ""
	}
	var names []string
	for _, o := range s.group.Others {
		if n, _ := o.Replicas.Get(); n > 0 {
			names = append(names, fmt.Sprintf("%s %s", o.Ref, number(times(n, max(1, o.MembersPerPod)))))
		}
	}
	if len(names) > maxTopics {
		names = append(names[:maxTopics], fmt.Sprintf("%d more", len(names)-maxTopics))
	}
	return fmt.Sprintf(", of which others take %s (%s),", number(s.used), strings.Join(names, ", "))
}
