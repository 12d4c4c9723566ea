// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mqnames "github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

func TestTopicNames(t *testing.T) {
	const (
		letters  = "RocketMQ allows letters, digits, _ - | % in a topic name (at most 127)"
		ofGroups = "belong to consumer groups and light queues"
		system   = "RocketMQ uses this topic itself"
		set      = "set spec.topicName: without it metadata.name names the topic"
	)
	name := func(name string) string { return fmt.Sprintf("spec: {topicName: %q}", name) }
	defaulted := func(name string) string { return fmt.Sprintf("{metadata: {name: %q}, spec: {topicName: null}}", name) }
	checkCreations(t, minimalTopic, []creation{
		{"every allowed character", name("Az09_-|%x"), ""},
		{"of a client namespace", name("ns%TOPIC"), ""},
		{"127 characters", name(strings.Repeat("a", 127)), ""},
		{"128 characters", name(strings.Repeat("a", 128)), "may not be more than 127 bytes"},
		{"empty", name(""), "should be at least 1 char"},
		{"dot", name("orders.v2"), letters},
		{"space", name("orders v2"), letters},
		{"newline at the end", name("orders\n"), letters},
		{"other alphabet", name("заказы"), letters},
		{"plus", name("%RETRYxG+T"), letters},
		{"retry topic", name("%RETRY%CG_SHOP"), ofGroups},
		{"dead letters", name("%DLQ%CG_SHOP"), ofGroups},
		{"light queue", name("%LMQ%a"), ofGroups},
		{"wheel timer", name("rmq_sys_wheel_timer"), system},
		{"default topic", name("TBW102"), system},
		{"schedule", name("SCHEDULE_TOPIC_XXXX"), system},
		{"half messages", name("RMQ_SYS_TRANS_HALF_TOPIC"), system},
		{"heartbeats of proxies", name("DefaultHeartBeatSyncerTopic"), system},
		{"nearly reserved", name("TBW1020"), ""},
		{"defaulted", defaulted("orders"), ""},
		{"K04 defaulted with a dot", defaulted("orders.v2"), set},
		{"K04 dot beside a name of its own", "metadata: {name: orders.v2}", ""},
		{"K04 defaulted, 127 characters", defaulted(strings.Repeat("a", 127)), ""},
		{"K04 defaulted, 128 characters", defaulted(strings.Repeat("a", 128)), set},
	})
}

// TestK04_EffectiveNameStays: what counts is the name on the brokers, however it is written down.
func TestK04_EffectiveNameStays(t *testing.T) {
	const (
		nameStays = "the topic's name cannot change, because its messages would stay behind under the old name"
		refStays  = "clusterRef cannot change, because the topic's messages would stay behind on the old brokers"
	)
	checkEdits(t, minimalTopic, []edit{
		{"same", "", "", ""},
		{"other name", "", "spec: {topicName: TOPIC_SHOP_ORDERS}", nameStays},
		{"name removed", "", "spec: {topicName: null}", nameStays},
		{"equal name added", "spec: {topicName: null}", "spec: {topicName: orders}", ""},
		{"equal name removed", "spec: {topicName: orders}", "spec: {topicName: null}", ""},
		{"other name added", "spec: {topicName: null}", "spec: {topicName: Orders}", nameStays},
		{"other cluster", "", "spec: {clusterRef: {name: mall}}", refStays},
		{"namespace of the cluster added", "", "spec: {clusterRef: {namespace: rocketmq}}", refStays},
		{"fewer queues", "", "spec: {queues: {perBroker: 8}}", ""},
		{"other deletion policy", "", "spec: {deletionPolicy: Delete}", ""},
	})
}

func TestO09_TopicBounds(t *testing.T) {
	many := func(n int, format string) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(format, i)
		}
		return "[" + strings.Join(entries, ", ") + "]"
	}
	waivers := func(n int) string {
		return "spec: {resize: {waivers: " + many(n, "{group: g%d, toQueues: 4, reason: retired}") + "}}"
	}
	checkCreations(t, minimalTopic, []creation{
		{"no queue", "spec: {queues: {perBroker: 0}}", "spec.queues.perBroker: Invalid value: 0: spec.queues.perBroker in body should be greater than or equal to 1"},
		{"fewer than none", "spec: {queues: {perBroker: -1}}", "greater than or equal to 1"},
		{"one queue", "spec: {queues: {perBroker: 1}}", ""},
		{"most queues", "spec: {queues: {perBroker: 1024}}", ""},
		{"too many queues", "spec: {queues: {perBroker: 1025}}", "less than or equal to 1024"},
		{"a typing error of mqadmin", "spec: {queues: {perBroker: 100000}}", "less than or equal to 1024"},
		{"half a queue", "spec: {queues: {perBroker: 1.5}}", "must be of type integer"},
		{"queues left out", "spec: {queues: null}", "spec.queues: Required value"},
		{"cluster left out", "spec: {clusterRef: null}", "spec.clusterRef: Required value"},
		{"cluster without a name", "spec: {clusterRef: {name: \"\"}}", "spec.clusterRef.name"},
		{"64 brokers", "spec: {placement: {brokers: " + many(64, "b%d") + "}}", ""},
		{"65 brokers", "spec: {placement: {brokers: " + many(65, "b%d") + "}}", "must have at most 64 items"},
		{"no broker", "spec: {placement: {brokers: []}}", "should have at least 1 items"},
		{"a broker twice", "spec: {placement: {brokers: [a, a]}}", "Duplicate value"},
		{"64 waivers", waivers(64), ""},
		{"65 waivers", waivers(65), "must have at most 64 items"},
		{"longest delay least", "spec: {resize: {longestDelaySeconds: 1}}", ""},
		{"longest delay none", "spec: {resize: {longestDelaySeconds: 0}}", "greater than or equal to 1"},
		{"longest delay a year", "spec: {resize: {longestDelaySeconds: 31536000}}", ""},
		{"longest delay more", "spec: {resize: {longestDelaySeconds: 31536001}}", "less than or equal to 31536000"},
		{"longest delay before now", "spec: {resize: {longestDelaySeconds: -1}}", "greater than or equal to 1"},
		{"longest delay as a duration", "spec: {resize: {longestDelaySeconds: 2h}}", "must be of type integer"},
	})
}

func TestTopicChoices(t *testing.T) {
	rows := []creation{
		{"LITE", "spec: {messageType: Lite}", `Unsupported value: "Lite"`},
		{"type as on the wire", "spec: {messageType: NORMAL}", `supported values: "Normal", "FIFO", "Delay", "Transaction", "Mixed", "Priority"`},
		{"permission as a number", "spec: {permission: 6}", "must be of type string"},
		{"order as a bool", "spec: {order: true}", "must be of type string"},
		{"mode", "spec: {resize: {mode: Manual}}", `supported values: "Automatic", "Approve"`},
		{"order change", "spec: {resize: {orderChange: Maybe}}", `supported values: "Forbid", "Allow"`},
		{"history", "spec: {resize: {history: Drop}}", `supported values: "Release", "Keep"`},
		{"stranded", "spec: {resize: {stranded: Ignore}}", `supported values: "Report", "Rescue"`},
		{"deletion policy", "spec: {deletionPolicy: Orphan}", `supported values: "Retain", "Delete"`},
	}
	for field, values := range map[string][]string{
		"messageType":    {"Normal", "FIFO", "Delay", "Transaction", "Mixed", "Priority"},
		"permission":     {"ReadWrite", "ReadOnly", "WriteOnly"},
		"order":          {"Ordered", "Unordered"},
		"deletionPolicy": {"Retain", "Delete"},
	} {
		for _, value := range values {
			rows = append(rows, creation{field + " " + value, fmt.Sprintf("spec: {%s: %s}", field, value), ""})
		}
	}
	checkCreations(t, minimalTopic, rows)
}

func TestTopicWaivers(t *testing.T) {
	waivers := func(list string) string { return "spec: {resize: {waivers: [" + list + "]}}" }
	checkCreations(t, minimalTopic, []creation{
		{"complete", waivers("{group: old, toQueues: 64, reason: retired}"), ""},
		{"two groups", waivers("{group: old, toQueues: 64, reason: retired}, {group: older, toQueues: 64, reason: retired}"), ""},
		{"one group twice", waivers("{group: old, toQueues: 64, reason: retired}, {group: old, toQueues: 32, reason: retired}"), "Duplicate value"},
		{"no reason", waivers("{group: old, toQueues: 64}"), "reason: Required value"},
		{"empty reason", waivers("{group: old, toQueues: 64, reason: \"\"}"), "should be at least 1 char"},
		{"for any number", waivers("{group: old, reason: retired}"), "toQueues: Required value"},
		{"for no queue", waivers("{group: old, toQueues: 0, reason: retired}"), "greater than or equal to 1"},
		{"no group", waivers("{toQueues: 64, reason: retired}"), "group: Required value"},
	})
}

func TestTopicAttributes(t *testing.T) {
	attribute := func(name, value string) string {
		return fmt.Sprintf("spec: {attributes: [{name: %q, value: %q}]}", name, value)
	}
	checkCreations(t, minimalTopic, []creation{
		{"reserve time", attribute("reserve.time", "86400000"), ""},
		{"queue type", attribute("queue.type", "BatchCQ"), ""},
		{"delete policy", attribute("cleanup.policy", "DELETE"), ""},
		{"compaction", attribute("cleanup.policy", "COMPACTION"), "Lockstep does not manage compaction topics"},
		{"message type", attribute("message.type", "FIFO"), "set spec.messageType instead of the attribute message.type"},
		{"lite", attribute("lite.topic.expiration", "60"), "Lockstep does not manage LITE topics"},
		{"sign", attribute("+reserve.time", "1"), "without a sign in front"},
		{"minus", attribute("-reserve.time", "1"), "without a sign in front"},
		{"space", attribute("a", "b c"), "a topic attribute cannot contain spaces, commas or ="},
		{"newline", attribute("a", "b\n"), "a topic attribute cannot contain spaces, commas or ="},
		{"comma", attribute("a", "b,+message.type"), "a topic attribute cannot contain spaces, commas or ="},
		{"equals", attribute("a", "b=c"), "a topic attribute cannot contain spaces, commas or ="},
		{"no value", attribute("a", ""), "should be at least 1 char"},
		{"twice", "spec: {attributes: [{name: a, value: b}, {name: a, value: c}]}", "Duplicate value"},
	})
}

// TestTopicNameDoorsAgree: the API server and the function that controllers and tools use give the same
// answer for any name.
func TestTopicNameDoorsAgree(t *testing.T) {
	namespace := newNamespace(t)
	ctx := testContext(t)
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.OneOf(
			rapid.StringMatching(`[%|a-zA-Z0-9_.+-]{1,20}`),
			rapid.StringMatching(`(%RETRY%|%DLQ%|%LMQ%|rmq_sys_|RMQ_SYS_|%retry%)[a-zA-Z]{0,3}`),
			rapid.SampledFrom([]string{"TBW102", "SCHEDULE_TOPIC_XXXX", "BenchmarkTest", "RMQ_SYS_TRANS_HALF_TOPIC",
				"RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC", "SELF_TEST_TOPIC",
				"OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC", "DefaultHeartBeatSyncerTopic", "tbw102"}),
		).Draw(r, "name")
		object := manifest(t, namespace, minimalTopic, fmt.Sprintf("spec: {topicName: %q}", name))
		err := api(t).client.Create(ctx, object, client.DryRunAll)
		wellFormed := !strings.ContainsAny(name, ".+")
		NewWithT(r).Expect(err == nil).To(Equal(wellFormed && mqnames.ReservedTopic(name, mqnames.Scope{}) == ""), "name %q: %v", name, err)
	})
}
