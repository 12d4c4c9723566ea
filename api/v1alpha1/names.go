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
