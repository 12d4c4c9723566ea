// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package names_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name         string
		topic, group bool
	}{
		{"orders", true, true},
		{"Orders_v2-EU", true, true},
		{"prod%orders", true, true},
		{"%RETRY%payments", true, true},
		{"a|b", true, true},
		{"0", true, true},
		{"-", true, true},
		{"", false, false},
		{"a.b", false, false},
		{"a/b", false, false},
		{"a b", false, false},
		{"a+b", false, false},
		{"a@b", false, false},
		{"a\x00", false, false},
		{"订单", false, false},
		{strings.Repeat("x", 120), true, true},
		{strings.Repeat("x", 121), true, false},
		{strings.Repeat("x", 127), true, false},
		{strings.Repeat("x", 128), false, false},
	} {
		g := NewWithT(t)
		g.Expect(names.ValidateTopic(tc.name) == nil).To(Equal(tc.topic), "topic %q", tc.name)
		g.Expect(names.ValidateGroup(tc.name) == nil).To(Equal(tc.group), "group %q", tc.name)
	}
}

func TestValidate_SaysWhy(t *testing.T) {
	g := NewWithT(t)
	g.Expect(errors.Is(names.ValidateTopic(""), names.ErrEmpty)).To(BeTrue())
	g.Expect(names.ValidateTopic("shop.orders")).To(MatchError(
		`topic name "shop.orders": the character at position 4 is not allowed; use letters, digits, '%', '|', '_' and '-'`))
	g.Expect(names.ValidateGroup(strings.Repeat("g", 130))).To(MatchError(ContainSubstring("has 130 characters, at most 120 are allowed")))
	g.Expect(len(names.ValidateTopic(strings.Repeat("\n", 100000)).Error())).To(BeNumerically("<", 600), "a name from elsewhere cannot flood a message")
	g.Expect(names.MaxGroup).To(Equal(120))
}

// TestValidate_IsRocketMQsPattern compares with the pattern of rocketmq.md 11.3.
func TestValidate_IsRocketMQsPattern(t *testing.T) {
	pattern := regexp.MustCompile(`^[%|a-zA-Z0-9_-]+$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringN(0, 130, 140), rapid.StringMatching(`[%|a-zA-Z0-9_-]{0,140}`)).Draw(t, "name")
		matches := pattern.MatchString(name)
		if got := names.ValidateTopic(name) == nil; got != (matches && len(name) <= 127) {
			t.Fatalf("topic %q: %t", name, got)
		}
		if got := names.ValidateGroup(name) == nil; got != (matches && len(name) <= 120) {
			t.Fatalf("group %q: %t", name, got)
		}
		if names.ValidateGroup(name) == nil && names.ValidateTopic(names.RetryTopic(name)) != nil {
			t.Fatalf("the retry topic of group %q cannot be", name)
		}
	})
}

func TestR07_ReservedTopic(t *testing.T) {
	scope := names.Scope{
		Cluster: "shop", Brokers: []string{"broker-a", "broker-b"}, HeartbeatTopic: "beats", System: []string{"my-trace"},
	}
	for topic, want := range map[string]string{
		"TBW102": "system topic", "SCHEDULE_TOPIC_XXXX": "system topic", "BenchmarkTest": "system topic",
		"RMQ_SYS_TRANS_HALF_TOPIC": "system topic", "RMQ_SYS_TRANS_OP_HALF_TOPIC": "system topic",
		"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": "system topic", "TRANS_CHECK_MAX_TIME_TOPIC": "system topic", "RMQ_SYS_TRACE_TOPIC": "system topic", "SELF_TEST_TOPIC": "system topic",
		"OFFSET_MOVED_EVENT": "system topic", "CHECKPOINT_TOPIC": "system topic",
		"rmq_sys_REVIVE_LOG_shop": "system topic", "rmq_sys_wheel_timer": "system topic", "rmq_sys_SYNC_BROKER_MEMBER_broker-a": "system topic",
		"%RETRY%payments": "consumer group", "%DLQ%payments": "consumer group", "%LMQ%x": "light message queue",
		"shop": "name of the cluster", "shop_REPLY_TOPIC": "reply topic", "broker-b": "name of a broker", "my-trace": "system topic of its broker",
		"beats": "proxies", "DefaultHeartBeatSyncerTopic": "proxies",
		"orders": "", "Shop": "", "broker-c": "", "x_rmq_sys_": "", "prod%orders": "",
	} {
		g := NewWithT(t)
		got := names.ReservedTopic(topic, scope)
		if want == "" {
			g.Expect(got).To(BeEmpty(), topic)
			continue
		}
		g.Expect(got).To(ContainSubstring(want), topic)
	}
	g := NewWithT(t)
	for _, topic := range []string{"shop", "broker-a", "_REPLY_TOPIC", "beats", ""} {
		g.Expect(names.ReservedTopic(topic, names.Scope{})).To(BeEmpty(), topic)
	}
}

func TestR07_ReservedGroup(t *testing.T) {
	scope := names.Scope{HeartbeatTopic: "beats"}
	g := NewWithT(t)
	for _, group := range []string{
		"TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "SELF_TEST_P_GROUP", "CID_ONS-HTTP-PROXY",
		"CID_ONSAPI_PULL", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_RMQ_SYS_TRANS", "CID_RMQ_SYS_REVIVE_GROUP",
		"DEFAULT_PRODUCER", "DEFAULT_CONSUMER", "SCHEDULE_CONSUMER", "__MONITOR_CONSUMER", "CLIENT_INNER_PRODUCER",
		"CID_DefaultHeartBeatSyncerTopic", "PID_DefaultHeartBeatSyncerTopic", "CID_beats", "PID_beats",
	} {
		g.Expect(names.ReservedGroup(group, scope)).NotTo(BeEmpty(), group)
	}
	for _, group := range []string{"payments", "CID_payments", "tools_consumer", "prod%payments", ""} {
		g.Expect(names.ReservedGroup(group, scope)).To(BeEmpty(), group)
	}
	g.Expect(names.ReservedGroup("CID_beats", names.Scope{})).To(BeEmpty())
}

func TestDerivedTopics(t *testing.T) {
	g := NewWithT(t)
	g.Expect(names.RetryTopic("G")).To(Equal("%RETRY%G"))
	g.Expect(names.DLQTopic("G")).To(Equal("%DLQ%G"))
	v1, v2 := names.PopRetryTopics("G", "T")
	g.Expect(v1).To(Equal("%RETRY%G_T"))
	g.Expect(v2).To(Equal("%RETRY%G+T"))
	g.Expect(names.ValidateTopic(v2)).NotTo(Succeed(), "version 2 is a name that request 17 cannot carry")
	g.Expect(names.HeartbeatGroup("beats")).To(Equal("CID_beats"))
	for topic, kind := range map[string][3]bool{
		"%RETRY%G": {true, false, false}, "%DLQ%G": {false, true, false}, "%LMQ%a": {false, false, true}, "orders": {},
	} {
		g.Expect([3]bool{names.IsRetry(topic), names.IsDLQ(topic), names.IsLMQ(topic)}).To(Equal(kind), topic)
	}
}
