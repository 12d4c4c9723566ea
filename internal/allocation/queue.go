// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"slices"
	"strconv"
)

// Queue is a RocketMQ message queue.
type Queue struct {
	Topic  string
	Broker string
	// ID is the queue id on that broker, from 0.
	ID int
}

// String is the text of Java's MessageQueue.toString, which consistent hashing
// hashes (rocketmq.md 6).
func (q Queue) String() string { return string(q.appendText(nil)) }

func (q Queue) appendText(b []byte) []byte {
	b = append(b, "MessageQueue [topic="...)
	b = append(b, q.Topic...)
	b = append(b, ", brokerName="...)
	b = append(b, q.Broker...)
	b = append(b, ", queueId="...)
	b = strconv.AppendInt(b, int64(q.ID), 10)
	return append(b, ']')
}

// CompareQueues orders queues as Java's MessageQueue.compareTo does: by topic,
// by broker name, by id as a number.
func CompareQueues(a, b Queue) int {
	return cmp.Or(Compare(a.Topic, b.Topic), Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
}

// SortQueues sorts queues as a client does before it allocates.
func SortQueues(queues []Queue) { slices.SortFunc(queues, CompareQueues) }

// SortClients sorts client ids as a client does before it allocates.
func SortClients(clients []string) { slices.SortFunc(clients, Compare) }
