// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "unicode/utf8"

// Limits that the schema states too.
const (
	// MaxTopicName is the longest topic name, in bytes (rocketmq.md 11.3).
	MaxTopicName = 127
	// MaxQueuesPerBroker is the largest queues.perBroker.
	MaxQueuesPerBroker = 1024
	// MaxBrokers is the largest number of brokers in a status.
	MaxBrokers = 64
	// MaxServers is the largest number of name servers, and of proxies, in a status.
	MaxServers = 64
	// MaxHolds is the largest number of entries in status.change.waitsFor.
	MaxHolds = 6
	// MaxGivenUp is the largest number of entries in status.givenUp.
	MaxGivenUp = 3
	// MaxGivenUpQueues is the largest number of queues in one of those entries.
	MaxGivenUpQueues = 4
	// MaxStrandedQueues is the largest number of entries in status.stranded.worst.
	MaxStrandedQueues = 2
	// MaxHoldMessage is the longest message of a hold, in bytes.
	MaxHoldMessage = 128
	// MaxBrokerMessage is the longest message about one broker or server, in bytes.
	MaxBrokerMessage = 160
)

// MaxConditionMessage is the longest message that Lockstep gives a condition, in bytes. Kubernetes allows
// 32 KiB; this keeps a status small (K05).
const MaxConditionMessage = 300

// Cut returns the text, or as much of it as fits into limit bytes with an ellipsis at its end. It never
// cuts a character in two. The limit is at least the ellipsis' three bytes.
func Cut(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
