// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strings"
)

// TopicConfig is a topic as a broker stores it (rocketmq.md 3.4).
type TopicConfig struct {
	Name        string
	Read, Write int
	Perm        int
	FilterType  string
	SysFlag     int
	Order       bool
	// Attributes carry no sign ("message.type"); 4.9 has none.
	Attributes map[string]string
}

func (t TopicConfig) clone() *TopicConfig {
	t.Attributes = maps.Clone(t.Attributes)
	return &t
}

// equal compares as the broker does.
func (t TopicConfig) equal(o TopicConfig) bool {
	return t.Name == o.Name && t.Read == o.Read && t.Write == o.Write && t.Perm == o.Perm &&
		t.FilterType == o.FilterType && t.SysFlag == o.SysFlag && t.Order == o.Order &&
		maps.Equal(t.Attributes, o.Attributes)
}

// highest is the number of queue ids that sends may name.
func (t TopicConfig) highest() int { return max(t.Read, t.Write) }

func cloneTopics(m map[string]*TopicConfig) map[string]*TopicConfig {
	out := make(map[string]*TopicConfig, len(m))
	for k, t := range m {
		out[k] = t.clone()
	}
	return out
}

func (b *Broker) topicJSON(t *TopicConfig) jObject {
	o := jObject{
		"order": t.Order, "perm": t.Perm, "readQueueNums": t.Read, "topicFilterType": t.FilterType,
		"topicName": t.Name, "topicSysFlag": t.SysFlag, "writeQueueNums": t.Write,
	}
	if b.version.five() {
		attributes := jObject{}
		for k, v := range t.Attributes {
			attributes[k] = v
		}
		o["attributes"] = attributes
	}
	return o
}

// Topics that belong to the server (rocketmq.md 11.1).
const (
	topicTemplate  = "TBW102"
	topicSchedule  = "SCHEDULE_TOPIC_XXXX"
	topicHalf      = "RMQ_SYS_TRANS_HALF_TOPIC"
	topicOpHalf    = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	topicTimer     = "rmq_sys_wheel_timer"
	topicHeartbeat = "DefaultHeartBeatSyncerTopic"
	retryPrefix    = "%RETRY%"
	dlqPrefix      = "%DLQ%"
	systemPrefix   = "rmq_sys_"
)

// builtInTopics are the topics of a new broker.
func (b *Broker) builtInTopics() []TopicConfig {
	cluster := b.cluster
	mk := func(name string, queues, perm int) TopicConfig {
		return TopicConfig{Name: name, Read: queues, Write: queues, Perm: perm, FilterType: "SINGLE_TAG"}
	}
	topics := []TopicConfig{
		mk(topicTemplate, 8, 7), mk("SELF_TEST_TOPIC", 1, 6), mk("BenchmarkTest", 1024, 6),
		mk(cluster, 16, 7), mk(b.name, 1, 7), mk("OFFSET_MOVED_EVENT", 1, 6),
		mk(topicSchedule, 18, 6), mk(cluster+"_REPLY_TOPIC", 1, 6),
	}
	if b.version.five() {
		topics = append(topics, mk(topicHalf, 1, 6), mk(topicOpHalf, 1, 6), mk(topicTimer, 1, 6),
			mk("rmq_sys_REVIVE_LOG_"+cluster, 8, 6), mk("rmq_sys_SYNC_BROKER_MEMBER_"+b.name, 1, 1))
	}
	return topics
}

// systemTopics are the names the broker keeps for itself (call 305).
func (b *Broker) systemTopics() []string {
	names := []string{
		topicTemplate, topicSchedule, "BenchmarkTest", topicHalf, "RMQ_SYS_TRACE_TOPIC", topicOpHalf,
		"TRANS_CHECK_MAX_TIME_TOPIC", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT",
		b.cluster, b.name, b.cluster + "_REPLY_TOPIC",
	}
	if b.version.five() {
		names = append(names, "CHECKPOINT_TOPIC", topicTimer, "rmq_sys_REVIVE_LOG_"+b.cluster,
			"rmq_sys_SYNC_BROKER_MEMBER_"+b.name)
	}
	if b.version.since540() {
		names = append(names, "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC")
	}
	return names
}

// systemTopic reports whether a topic is the server's own.
func (b *Broker) systemTopic(name string) bool {
	return strings.HasPrefix(name, systemPrefix) || slices.Contains(b.systemTopics(), name)
}
