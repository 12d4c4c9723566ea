// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// apply is a server-side apply of a manifest by one field manager.
func apply(t *testing.T, object *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	applied := object.DeepCopy()
	g.Expect(api(t).client.Apply(testContext(t), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(manager))).To(Succeed())
	return read(t, object)
}

const fullSpec = `
spec:
  queues: {perBroker: 8}
  placement: {brokers: [broker-a, broker-b]}
  messageType: Transaction
  permission: ReadWrite
  order: Unordered
  attributes: [{name: queue.type, value: SimpleCQ}]
  resize:
    mode: Approve
    longestDelaySeconds: 7200
    orderChange: Forbid
    history: Keep
    stranded: Report
    waivers: [{group: CG_OLD, toQueues: 8, reason: retired}]
  deletionPolicy: Delete
`

// TestServerSideApplyRoundTrip: what a pipeline applies comes back as it is, without a default that it
// would have to know, and applying it again changes nothing.
func TestServerSideApplyRoundTrip(t *testing.T) {
	for name, row := range map[string]struct{ base, patch string }{
		"least topic":   {minimalTopic, ""},
		"whole topic":   {minimalTopic, fullSpec},
		"least cluster": {minimalCluster, ""},
		"whole cluster": {minimalCluster, `
spec:
  proxies: ['proxy:8080']
  heartbeatTopic: {name: DefaultHeartBeatSyncerTopic, cluster: shop}
  credentials: {secretRef: {name: acl}}
  tls: {verification: Full, serverName: rocketmq, caSecretRef: {name: ca}, clientSecretRef: {name: me}}
  access:
  - namespaces: {from: Selector, selector: {matchLabels: {rocketmq: shop}, matchExpressions: [{key: team, operator: In, values: [a]}]}}
    topics: ["TOPIC_SHOP_*"]
    groups: ["CG_SHOP_*"]
  scaleGuard: {mode: Warn}
  timings: {longestRouteAgeSeconds: 33, settleSeconds: 60, longestInvisibleSeconds: 60, sweepSeconds: 30, auditSeconds: 300, callTimeoutSeconds: 30}
`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := manifest(t, newNamespace(t), row.base, row.patch)
			first := apply(t, object, "pipeline")
			g.Expect(first.Object["spec"]).To(Equal(object.Object["spec"]))
			// The first write after creation stores the status that was only shown until then.
			second := apply(t, object, "pipeline")
			g.Expect(second.GetGeneration()).To(Equal(first.GetGeneration()))
			third := apply(t, object, "pipeline")
			g.Expect(third.GetResourceVersion()).To(Equal(second.GetResourceVersion()))
		})
	}
}

// TestServerSideApplyMergesLists: two managers own entries of the same list without a conflict, and each
// takes away only its own.
func TestServerSideApplyMergesLists(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	base := manifest(t, namespace, minimalTopic, fullSpec)
	apply(t, base, "pipeline")
	const identity = "{apiVersion: rocketmq.lockstep.dev/v1alpha1, kind: Topic, metadata: {name: orders}}"
	person := manifest(t, namespace, identity, `
spec:
  placement: {brokers: [broker-c]}
  attributes: [{name: reserve.time, value: "1000"}]
  resize: {waivers: [{group: CG_OLDER, toQueues: 8, reason: retired too}]}
`)
	merged := topicOf(t, apply(t, person, "person"))
	g.Expect(merged.Spec.Placement.Brokers).To(ConsistOf(v1alpha1.BrokerName("broker-a"), v1alpha1.BrokerName("broker-b"), v1alpha1.BrokerName("broker-c")))
	g.Expect(merged.Spec.Attributes).To(HaveLen(2))
	g.Expect(merged.Spec.Resize.Waivers).To(HaveLen(2))

	without := topicOf(t, apply(t, manifest(t, namespace, identity, ""), "person"))
	g.Expect(without.Spec.Placement.Brokers).To(ConsistOf(v1alpha1.BrokerName("broker-a"), v1alpha1.BrokerName("broker-b")))
	g.Expect(without.Spec.Attributes).To(HaveLen(1))
	g.Expect(without.Spec.Resize.Waivers).To(HaveLen(1))
}

// TestConditionsOfOthersSurvive: a status applied by the operator leaves the condition of another writer
// alone.
func TestConditionsOfOthersSurvive(t *testing.T) {
	g := NewWithT(t)
	topic := createdTopic(t, newNamespace(t), "")
	write := func(manager, conditionType string) {
		object := manifest(t, topic.Namespace, "{apiVersion: rocketmq.lockstep.dev/v1alpha1, kind: Topic, metadata: {name: orders}}",
			"status: {observedGeneration: 1, conditions: [{type: "+conditionType+", status: 'True', reason: R, message: m, lastTransitionTime: '2026-11-30T14:02:11Z'}]}")
		g.Expect(api(t).client.Status().Apply(testContext(t), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(manager))).To(Succeed())
	}
	write("lockstep", v1alpha1.ConditionReady)
	write("audit", "example.com/Audited")
	write("lockstep", v1alpha1.ConditionReady)
	g.Expect(api(t).client.Get(testContext(t), client.ObjectKeyFromObject(topic), topic)).To(Succeed())
	types := []string{}
	for _, condition := range topic.Status.Conditions {
		types = append(types, condition.Type)
	}
	g.Expect(types).To(ConsistOf(v1alpha1.ConditionReady, "example.com/Audited"))
}

func topicOf(t *testing.T, object *unstructured.Unstructured) *v1alpha1.Topic {
	t.Helper()
	topic := &v1alpha1.Topic{}
	NewWithT(t).Expect(api(t).client.Get(testContext(t), client.ObjectKeyFromObject(object), topic)).To(Succeed())
	return topic
}

// TestSamplesApply: the API server accepts every sample as it is, and complains about no field.
func TestSamplesApply(t *testing.T) {
	g := NewWithT(t)
	// A dry run makes no namespace, so those of the samples are made here.
	for _, name := range []string{"rocketmq", "shop"} {
		namespace := &corev1.Namespace{}
		namespace.Name = name
		g.Expect(client.IgnoreAlreadyExists(api(t).client.Create(testContext(t), namespace))).To(Succeed())
	}
	directory := filepath.Join("..", "..", "config", "samples")
	files, err := filepath.Glob(filepath.Join(directory, "*_*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		out, err := kubectl(t, string(raw), "apply", "--dry-run=server", "--validate=strict", "-f", "-")
		g.Expect(err).NotTo(HaveOccurred(), "%s: %s", file, out)
		g.Expect(out).NotTo(ContainSubstring("Warning"), file)
		g.Expect(out).To(ContainSubstring("created (server dry run)"), file)
	}
	out, err := kubectl(t, "", "apply", "--server-side", "--dry-run=server", "-k", directory)
	g.Expect(err).NotTo(HaveOccurred(), out)
}

// TestExplainTeaches: kubectl explain says the unit and what holds when the field is left out.
func TestExplainTeaches(t *testing.T) {
	for path, sentences := range map[string][]string{
		"rmqt":                                     {"Writes are narrowed first"},
		"rmqt.spec.queues.perBroker":               {"a topic on two brokers with perBroker 64 has 128 queues"},
		"rmqt.spec.resize.mode":                    {"ENUM: Automatic Approve", "Absent means Automatic"},
		"rmqt.spec.resize.longestDelaySeconds":     {"retired queues are watched"},
		"rmqt.spec.deletionPolicy":                 {"Absent means Retain"},
		"rmqt.status.change.stage":                 {"LookingForPending"},
		"rmqc.spec.access.topics":                  {"TOPIC_SHOP_* allows TOPIC_SHOP_ORDER"},
		"rmqc.spec.timings.longestRouteAgeSeconds": {"Absent means 303 if spec.proxies lists any, else 33"},
		"rmqc.spec.credentials.secretRef":          {"accessKey and secretKey"},
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			out, err := kubectl(t, "", "explain", path)
			g.Expect(err).NotTo(HaveOccurred(), out)
			for _, sentence := range sentences {
				g.Expect(joinLines(out)).To(ContainSubstring(sentence))
			}
		})
	}
}
