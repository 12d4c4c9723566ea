// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import "fmt"

// rule is what decides which members have queues.
type rule int

const (
	// unknowable: not from what can be observed.
	unknowable rule = iota
	// byName: each queue has at most one owner, but who it is depends on the ids.
	byName
	// byPlace: of n queues the first n members in the order of ids have some.
	byPlace
)

// ruleOf tells how a strategy decides, or why that cannot be known.
func ruleOf(s Strategy) (rule, string) {
	switch s := s.(type) {
	case Averagely, AveragelyByCircle, GoMachineNearby, ByMachineRoom:
		return byPlace, ""
	case ConsistentHash:
		return byName, "which member owns a queue depends on the hash of its client id, which a pod that does not run yet does not have"
	case GoConsistentHash:
		if s.VirtualNodes == 0 {
			return unknowable, errNoVirtualNodes.Error()
		}
		return byName, "which member owns a queue depends on the hash of its client id, which a pod that does not run yet does not have"
	case MachineRoomNearby:
		if inner, why := ruleOf(s.Inner); inner == unknowable {
			return unknowable, why
		}
		return byName, "which member owns a queue depends on the room its pod will run in"
	case ByConfig:
		return unknowable, "each member consumes the queues that its own application configured; more members with one configuration consume them again"
	case GoMachineRoom:
		return unknowable, "AllocateByMachineRoom of rocketmq-client-go takes parts from queues of other rooms, so some queues are consumed twice and some never"
	default:
		return unknowable, fmt.Sprintf("the strategy %s is not one of the released clients", s.Name())
	}
}

// shared is the part of a topic's queues that the strategy gives to anybody.
func shared(s Strategy, t TopicQueues) (TopicQueues, error) {
	switch s := s.(type) {
	case MachineRoomNearby:
		return shared(s.Inner, t)
	case ConsistentHash:
		if err := s.valid(); err != nil || s.VirtualNodes == 0 {
			return TopicQueues{Topic: t.Topic}, err
		}
	case GoConsistentHash:
		if s.VirtualNodes < 0 {
			return TopicQueues{Topic: t.Topic}, nil
		}
	case ByMachineRoom:
		kept := TopicQueues{Topic: t.Topic}
		for _, b := range t.Brokers {
			taken, err := s.takes(b.Broker)
			if err != nil {
				return TopicQueues{}, err
			}
			if taken {
				kept.Brokers = append(kept.Brokers, b)
			}
		}
		return kept, nil
	}
	return t, nil
}

// sharedAll is shared for each topic, sorted by topic.
func sharedAll(s Strategy, topics []TopicQueues) ([]TopicQueues, error) {
	if err := checkTopics(topics); err != nil {
		return nil, err
	}
	out := sortedTopics(topics)
	for i, t := range out {
		part, err := shared(s, t)
		if err != nil {
			return nil, fmt.Errorf("topic %s by %s: %w", t.Topic, s.Name(), err)
		}
		out[i] = part
	}
	return out, nil
}
