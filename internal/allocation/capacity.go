// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
)

// Certainty says what a number is worth.
type Certainty int

const (
	// Unknown: nothing that can be observed tells the number; it is 0 and means
	// nothing.
	Unknown Certainty = iota
	// AtMost: the number is a bound. How many have work depends on client ids;
	// see Simulate for those that are known.
	AtMost
	// Exact: the number holds whatever the client ids are, as long as they differ.
	Exact
)

// String is "unknown", "at most" or "exact".
func (c Certainty) String() string {
	switch c {
	case AtMost:
		return "at most"
	case Exact:
		return "exact"
	default:
		return "unknown"
	}
}

// Capacity is how many members of a group can have work at once.
type Capacity struct {
	Certainty Certainty
	// Members is the largest number of members, all of which subscribe to all the
	// topics, at which none is without a queue.
	Members int64
	// Set are the topics that set the number, with their brokers and only the
	// queues that are shared at all. When it is exact, these are the topics with
	// the most queues, and more queues in any of them raise it; otherwise it is
	// the sum of them.
	Set []TopicQueues
	// Why says why the number is not exact, as a clause; empty if it is.
	Why string
}

// CapacityOf computes the capacity for a strategy. Topics are those the members
// subscribe to, with what was observed. An observation that failed has no place
// here: the capacity is then unknown. Time and memory do not depend on the
// numbers of queues.
func CapacityOf(s Strategy, topics []TopicQueues) (Capacity, error) {
	parts, err := sharedAll(s, topics)
	if err != nil {
		return Capacity{}, fmt.Errorf("computing how many members can have work: %w", err)
	}
	r, why := ruleOf(s)
	out := Capacity{Why: why}
	switch r {
	case byPlace:
		out.Certainty = Exact
		for _, t := range parts {
			switch n := t.Total(); {
			case n > out.Members || len(out.Set) == 0:
				out.Members, out.Set = n, []TopicQueues{t}
			case n == out.Members:
				out.Set = append(out.Set, t)
			}
		}
	case byName:
		// Every topic may keep other members busy.
		out.Certainty, out.Set = AtMost, parts
		for _, t := range parts {
			out.Members += min(t.Total(), math.MaxInt64-out.Members)
		}
		if out.Members == 0 {
			out.Certainty, out.Why = Exact, ""
		}
	}
	return out, nil
}

// Pods is a capacity in pods.
type Pods struct {
	// AllBusy is the largest number of pods at which no member is idle.
	AllBusy int64
	// NoneIdle is the largest number of pods at which each has a member with a
	// queue, though some member may be idle. Client ids begin with the pod's
	// address, so the members of a pod stand side by side in the order of ids.
	NoneIdle int64
}

// Pods converts the capacity to pods that each run that many members: consumers
// of the group, each with a client id of its own (case S07). The certainty is
// that of the capacity.
func (c Capacity) Pods(members int64) (Pods, error) {
	if members <= 0 {
		return Pods{}, fmt.Errorf("%d is no number of members in a pod: want 1 or more", members)
	}
	all, none := c.Members/members, c.Members/members
	switch {
	case c.Certainty == AtMost:
		none = c.Members // one busy member in each pod
	case c.Members%members > 0:
		none++
	}
	return Pods{AllBusy: all, NoneIdle: none}, nil
}

// TopicIdle is how many members get no queue of a topic.
type TopicIdle struct {
	Topic string
	// Queues is how many queues of the topic are shared.
	Queues int64
	// Idle is how many members have none of them.
	Idle int64
}

// Idle is how many of a number of members get no queue.
type Idle struct {
	// Certainty is Exact, or AtMost when so many are idle at least: the number of
	// busy members is the bound. When it is Unknown nothing else is set.
	Certainty Certainty
	// Topics are all topics, sorted.
	Topics []TopicIdle
	// Everywhere is how many members get no queue of any topic.
	Everywhere int64
	// Why is as in Capacity.
	Why string
}

// IdleAmong computes how many of so many members with different client ids are
// idle. By AVG, AVG_BY_CIRCLE and MACHINE_ROOM these are the last in the order
// of client ids.
func IdleAmong(s Strategy, topics []TopicQueues, members int64) (Idle, error) {
	if members < 0 {
		return Idle{}, fmt.Errorf("%d is no number of members", members)
	}
	c, err := CapacityOf(s, topics)
	if err != nil || c.Certainty == Unknown {
		return Idle{Why: c.Why}, err
	}
	parts, err := sharedAll(s, topics)
	if err != nil {
		return Idle{}, err
	}
	out := Idle{Certainty: c.Certainty, Why: c.Why, Everywhere: max(0, members-c.Members)}
	for _, t := range parts {
		n := t.Total()
		out.Topics = append(out.Topics, TopicIdle{t.Topic, n, max(0, members-n)})
	}
	return out, nil
}
