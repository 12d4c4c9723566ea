// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"strings"

	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// MaxQueues is the most queues per broker that the client asks for. Brokers
// take any number and some die of it: 100,000 queues exhaust the memory of a
// small one at the next look at its topic (rocketmq.md 3.4).
const MaxQueues = 16384

// mayWriteTopic refuses to write a topic whose name RocketMQ would not carry,
// or that is not a user's.
func mayWriteTopic(addr string, code int, topic, cluster, broker string) error {
	if err := names.ValidateTopic(topic); err != nil {
		return &NotSentError{Addr: addr, Code: code, Why: "the name is not valid", Err: err}
	}
	scope := names.Scope{Cluster: cluster}
	if broker != "" {
		scope.Brokers = []string{broker}
	}
	if whose := names.ReservedTopic(topic, scope); whose != "" {
		return notSent(addr, code, "topic %q %s", topic, whose)
	}
	return nil
}

// mayResizeTopic is mayWriteTopic for the counts of a topic: the retry topic of
// a user's group follows that group (case Q17). It is never created, deleted or
// reset by itself.
func mayResizeTopic(addr string, code int, topic, cluster, broker string) error {
	group, retry := strings.CutPrefix(topic, names.RetryPrefix)
	if !retry {
		return mayWriteTopic(addr, code, topic, cluster, broker)
	}
	return mayWriteGroup(addr, code, group)
}

// mayWriteGroup is mayWriteTopic for consumer groups.
func mayWriteGroup(addr string, code int, group string) error {
	if err := names.ValidateGroup(group); err != nil {
		return &NotSentError{Addr: addr, Code: code, Why: "the name is not valid", Err: err}
	}
	if whose := names.ReservedGroup(group, names.Scope{}); whose != "" {
		return notSent(addr, code, "group %q %s", group, whose)
	}
	return nil
}

// mayBecome refuses a config that breaks read >= write >= 1 (design 5) or that
// a broker would take without a check and go wrong with.
func mayBecome(addr string, code int, want snapshot.TopicConfig) error {
	switch {
	case want.WriteQueues < 1 || want.ReadQueues < want.WriteQueues || want.ReadQueues > MaxQueues:
		return notSent(addr, code, "topic %q with %d read and %d write queues; needed is read >= write >= 1 and at most %d",
			want.Name, want.ReadQueues, want.WriteQueues, MaxQueues)
	case want.Perm <= 0 || want.Perm > snapshot.PermReadWrite|snapshot.PermInherit:
		return notSent(addr, code, "topic %q with permission %d; known are 2 (write), 4 (read) and 6 (both)", want.Name, want.Perm)
	case want.FilterType != SingleTag && want.FilterType != MultiTag:
		return notSent(addr, code, "topic %q with filter type %q; known are %s and %s", want.Name, want.FilterType, SingleTag, MultiTag)
	case want.Static:
		return notSent(addr, code, "topic %q is static; its queues are mapped by RocketMQ", want.Name)
	}
	return nil
}
