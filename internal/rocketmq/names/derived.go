// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import "strings"

// Prefixes of the topics that RocketMQ derives (rocketmq.md 11.1, 11.4).
const (
	RetryPrefix = "%RETRY%"
	DLQPrefix   = "%DLQ%"
	LMQPrefix   = "%LMQ%"
	// SystemPrefix and UpperSystemPrefix begin topics of RocketMQ's own. 5.5.0
	// brought new ones of the second kind (RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC).
	SystemPrefix      = "rmq_sys_"
	UpperSystemPrefix = "RMQ_SYS_"
	// SystemGroupPrefix begins the names of the brokers' own consumer groups.
	SystemGroupPrefix = "CID_RMQ_SYS_"
)

// DefaultHeartbeatTopic is the topic in which proxies tell each other of their
// members, unless a proxy's heartbeatSyncerTopicName says otherwise.
const DefaultHeartbeatTopic = "DefaultHeartBeatSyncerTopic"

// ToolsGroup is the built-in group under which administrators read: it exists
// on every broker, so a pull under it creates nothing (rocketmq-live.md 1.1).
const ToolsGroup = "TOOLS_CONSUMER"

// HalfTopic holds half messages, ScheduleTopic messages of delay levels.
const (
	HalfTopic     = "RMQ_SYS_TRANS_HALF_TOPIC"
	ScheduleTopic = "SCHEDULE_TOPIC_XXXX"
	// TransactionGroup is the group whose offset in HalfTopic lags while a half
	// message is unresolved (rocketmq.md 4.4).
	TransactionGroup = "CID_RMQ_SYS_TRANS"
)

// RetryTopic is the topic from which a group's failed messages come back.
func RetryTopic(group string) string { return RetryPrefix + group }

// DLQTopic is the topic of messages a group gave up.
func DLQTopic(group string) string { return DLQPrefix + group }

// PopRetryTopics are the two names under which a broker may keep a POP group's
// failed messages of one topic: version 1 and, with enableRetryTopicV2, 2.
// Version 1 is ambiguous when a name holds '_' (rocketmq.md 11.4).
func PopRetryTopics(group, topic string) (v1, v2 string) {
	return RetryPrefix + group + "_" + topic, RetryPrefix + group + "+" + topic
}

// HeartbeatGroup is the proxies' own consumer group on their heartbeat topic.
func HeartbeatGroup(topic string) string { return "CID_" + topic }

// IsRetry reports whether a topic holds failed messages of a group.
func IsRetry(topic string) bool { return strings.HasPrefix(topic, RetryPrefix) }

// IsDLQ reports whether a topic holds messages a group gave up.
func IsDLQ(topic string) bool { return strings.HasPrefix(topic, DLQPrefix) }

// IsLMQ reports whether a topic is a light message queue: a reader of one is
// not a reader of queues that a resize can follow (rule R07).
func IsLMQ(topic string) bool { return strings.HasPrefix(topic, LMQPrefix) }
