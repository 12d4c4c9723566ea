// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "strings"

// DefaultHeartbeatTopic is the topic in which proxies tell each other which gRPC members they serve,
// unless configured otherwise (rocketmq.md 11.1).
const DefaultHeartbeatTopic = "DefaultHeartBeatSyncerTopic"

// EffectiveName is the topic's name on the brokers: spec.topicName, or metadata.name where that is
// absent.
func (t *Topic) EffectiveName() string {
	if t.Spec.TopicName != "" {
		return string(t.Spec.TopicName)
	}
	return t.Name
}

// ClusterKey is the namespace and name of the BrokerCluster to which the topic belongs.
func (t *Topic) ClusterKey() (namespace, name string) {
	if t.Spec.ClusterRef.Namespace != "" {
		return t.Spec.ClusterRef.Namespace, t.Spec.ClusterRef.Name
	}
	return t.Namespace, t.Spec.ClusterRef.Name
}

// IsReservedTopicName reports whether RocketMQ itself uses the name on every cluster: system topics, and
// retry, dead-letter and light-queue topics, which belong to groups (rocketmq.md 11.1). Names that depend on
// the cluster (its own name, its brokers' names) are found only with IsReservedOn.
func IsReservedTopicName(name string) bool {
	switch name {
	case "TBW102", "SCHEDULE_TOPIC_XXXX", "BenchmarkTest", "RMQ_SYS_TRANS_HALF_TOPIC",
		"RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC",
		"SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC", DefaultHeartbeatTopic:
		return true
	}
	for _, prefix := range []string{"rmq_sys_", "%RETRY%", "%DLQ%", "%LMQ%"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// IsReservedOn reports whether the cluster uses the name itself: its own name, its reply topic, a
// broker's name, or the heartbeat topic of its proxies (rocketmq.md 11.1).
func (s *BrokerClusterSpec) IsReservedOn(name string, brokers []string) bool {
	if IsReservedTopicName(name) || name == s.ClusterName || name == s.ClusterName+"_REPLY_TOPIC" {
		return true
	}
	if heartbeat, _ := s.Heartbeat(); name == heartbeat {
		return true
	}
	for _, broker := range brokers {
		if name == broker {
			return true
		}
	}
	return false
}

// Heartbeat is the heartbeat topic of the proxies and the RocketMQ cluster on which it lives.
func (s *BrokerClusterSpec) Heartbeat() (topic, cluster string) {
	topic, cluster = DefaultHeartbeatTopic, s.ClusterName
	if s.HeartbeatTopic == nil {
		return topic, cluster
	}
	if s.HeartbeatTopic.Name != "" {
		topic = s.HeartbeatTopic.Name
	}
	if s.HeartbeatTopic.Cluster != "" {
		cluster = s.HeartbeatTopic.Cluster
	}
	return topic, cluster
}

// Matches reports whether the name fits the pattern, in which * stands for any characters, also none.
func (p NamePattern) Matches(name string) bool {
	parts := strings.Split(string(p), "*")
	if len(parts) == 1 {
		return name == parts[0]
	}
	rest, found := strings.CutPrefix(name, parts[0])
	if !found {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, last)
}
