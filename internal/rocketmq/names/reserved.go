// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"fmt"
	"slices"
	"strings"
)

// Scope is what computed names depend on. Its zero value knows only the fixed
// ones.
type Scope struct {
	// Cluster is the RocketMQ cluster's name.
	Cluster string
	// Brokers are the names of its brokers.
	Brokers []string
	// HeartbeatTopic is the proxies' topic; DefaultHeartbeatTopic if empty.
	HeartbeatTopic string
	// System are further topics a broker calls its own (request 305), among
	// them a trace topic of another name.
	System []string
}

func (s Scope) heartbeatTopic() string {
	if s.HeartbeatTopic == "" {
		return DefaultHeartbeatTopic
	}
	return s.HeartbeatTopic
}

// ReservedTopic says whose a topic is if it is not a user's, as a phrase such
// as "belongs to the broker"; the empty string means that it is a user's. Such
// a topic is never created, changed, resized or deleted (rocketmq.md 11.1).
func ReservedTopic(topic string, in Scope) string {
	switch topic {
	case "TBW102", ScheduleTopic, "BenchmarkTest", "TRANS_CHECK_MAX_TIME_TOPIC",
		"SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC":
		return "is a system topic of RocketMQ"
	case DefaultHeartbeatTopic, in.heartbeatTopic():
		return "is the topic in which proxies tell each other of their members"
	}
	switch {
	case strings.HasPrefix(topic, SystemPrefix), strings.HasPrefix(topic, UpperSystemPrefix):
		return fmt.Sprintf("is a system topic of RocketMQ (prefix %s)", topic[:len(SystemPrefix)])
	case IsRetry(topic), IsDLQ(topic):
		return "belongs to a consumer group"
	case IsLMQ(topic):
		return "is a light message queue, not a topic"
	case in.Cluster != "" && topic == in.Cluster:
		return "bears the name of the cluster"
	case in.Cluster != "" && topic == in.Cluster+"_REPLY_TOPIC":
		return "is the cluster's reply topic"
	case slices.Contains(in.Brokers, topic):
		return "bears the name of a broker"
	case slices.Contains(in.System, topic):
		return "is a system topic of its broker"
	}
	return ""
}

// ReservedGroup says whose a consumer group is if it is not a user's; the empty
// string means that it is a user's. Such a group is never changed and never
// holds a drain (rocketmq.md 11.2, rule R07).
func ReservedGroup(group string, in Scope) string {
	switch group {
	case ToolsGroup, "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "SELF_TEST_P_GROUP",
		"CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER",
		"SCHEDULE_CONSUMER", "__MONITOR_CONSUMER", "CLIENT_INNER_PRODUCER":
		return "is built into RocketMQ or belongs to its tools"
	case "DEFAULT_PRODUCER", "DEFAULT_CONSUMER":
		return "is a name that every client refuses"
	case HeartbeatGroup(DefaultHeartbeatTopic), "PID_" + DefaultHeartbeatTopic,
		HeartbeatGroup(in.heartbeatTopic()), "PID_" + in.heartbeatTopic():
		return "belongs to the proxies"
	}
	if strings.HasPrefix(group, SystemGroupPrefix) {
		return fmt.Sprintf("belongs to the brokers (prefix %s)", SystemGroupPrefix)
	}
	return ""
}
