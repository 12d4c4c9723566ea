// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
	"slices"
)

// BrokerQueues is how many queues of a topic a broker lets consumers read.
type BrokerQueues struct {
	Broker string
	// Queues is readQueueNums, not writeQueueNums: consumers go by it
	// (rocketmq.md 4.1).
	Queues int64
}

// TopicQueues is what consumers of a topic share: its queues on every readable
// broker of the whole route, those of foreign clusters included (case A17).
//
// A group's retry topic has queues too, but a member that holds only some of
// these has no work of its own: leave it out when the question is who is idle.
type TopicQueues struct {
	Topic   string
	Brokers []BrokerQueues
}

// Total is the number of queues on all brokers.
func (t TopicQueues) Total() int64 {
	total := int64(0)
	for _, b := range t.Brokers {
		total += b.Queues
	}
	return total
}

// list is the queues, sorted as clients sort them.
func (t TopicQueues) list() []Queue {
	out := make([]Queue, 0, t.Total())
	for _, b := range slices.SortedFunc(slices.Values(t.Brokers), func(a, b BrokerQueues) int { return Compare(a.Broker, b.Broker) }) {
		for id := range int(b.Queues) {
			out = append(out, Queue{t.Topic, b.Broker, id})
		}
	}
	return out
}

// checkTopics refuses what no observation can be, so that a slip of the caller
// does not become a number.
func checkTopics(topics []TopicQueues) error {
	if len(topics) == 0 {
		return fmt.Errorf("there is no topic to share: a group without subscriptions has no capacity")
	}
	seen := map[string]bool{}
	for _, t := range topics {
		if seen[t.Topic] {
			return fmt.Errorf("topic %s is given twice", t.Topic)
		}
		seen[t.Topic] = true
		total, brokers := int64(0), map[string]bool{}
		for _, b := range t.Brokers {
			switch {
			case brokers[b.Broker]:
				return fmt.Errorf("topic %s: broker %s is given twice", t.Topic, b.Broker)
			case b.Queues < 0:
				return fmt.Errorf("topic %s: broker %s has %d queues", t.Topic, b.Broker, b.Queues)
			case b.Queues > math.MaxInt64-total:
				return fmt.Errorf("topic %s has more than 2^63-1 queues", t.Topic)
			}
			brokers[b.Broker] = true
			total += b.Queues
		}
	}
	return nil
}

// sortedTopics is a sorted copy.
func sortedTopics(topics []TopicQueues) []TopicQueues {
	return slices.SortedFunc(slices.Values(topics), func(a, b TopicQueues) int {
		return Compare(a.Topic, b.Topic)
	})
}
