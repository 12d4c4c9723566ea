// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// table is what kubectl get receives: the columns, and the cells of each row by column.
func table(t *testing.T, namespace, resource string) (columns []metav1.TableColumnDefinition, rows []map[string]any) {
	t.Helper()
	g := NewWithT(t)
	httpClient, err := rest.HTTPClientFor(api(t).config)
	g.Expect(err).NotTo(HaveOccurred())
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(api(t).config, httpClient)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := discoveryClient.RESTClient().Get().
		AbsPath("apis", v1alpha1.GroupName, v1alpha1.GroupVersion.Version, "namespaces", namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(testContext(t))
	g.Expect(err).NotTo(HaveOccurred())
	out := metav1.Table{}
	g.Expect(json.Unmarshal(raw, &out)).To(Succeed())
	for _, row := range out.Rows {
		cells := map[string]any{}
		for i, cell := range row.Cells {
			cells[out.ColumnDefinitions[i].Name] = cell
		}
		rows = append(rows, cells)
	}
	return out.ColumnDefinitions, rows
}

func names(columns []metav1.TableColumnDefinition, priority int32) (out []string) {
	for _, column := range columns {
		if column.Priority == priority {
			out = append(out, column.Name)
		}
	}
	return out
}

func TestK06_TopicColumns(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	createdTopic(t, namespace, "metadata: {name: new}")
	shrinking := createdTopic(t, namespace, "metadata: {name: orders}")
	shrinking.Status = v1alpha1.TopicStatus{
		ObservedGeneration: 1, TopicName: shrinking.EffectiveName(),
		ReadQueues: ptr.To[int32](128), WriteQueues: ptr.To[int32](64),
		Change: &v1alpha1.QueueChange{
			ID: "1", Kind: v1alpha1.ChangeShrink, From: ptr.To[int32](128), To: ptr.To[int32](64), Started: when,
			Stage: v1alpha1.StageDraining, StageSince: when,
		},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAsNeeded, Message: "64 queues per broker writable", LastTransitionTime: when},
			{Type: v1alpha1.ConditionAsDeclared, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDraining, Message: "CG_SHOP_POINTS: about 1,200 left in 9 queues", LastTransitionTime: when},
		},
	}
	g.Expect(api(t).client.Status().Update(testContext(t), shrinking)).To(Succeed())

	columns, rows := table(t, namespace, "topics")
	g.Expect(names(columns, 0)).To(Equal([]string{"Name", "Topic", "Queues", "Read", "Ready", "Stage", "Waits For", "Age"}))
	g.Expect(names(columns, 1)).To(Equal([]string{"Write", "Cluster", "Type", "Reason", "Message"}))
	g.Expect(rows).To(HaveLen(2))
	g.Expect(rows[0]).To(And(
		HaveKeyWithValue("Name", "new"), HaveKeyWithValue("Topic", BeNil()), HaveKeyWithValue("Queues", BeEquivalentTo(64)),
		HaveKeyWithValue("Read", BeNil()), HaveKeyWithValue("Ready", "Unknown"), HaveKeyWithValue("Stage", BeNil()),
		HaveKeyWithValue("Waits For", BeNil()),
	), "blank is unknown")
	g.Expect(rows[1]).To(And(
		HaveKeyWithValue("Name", "orders"), HaveKeyWithValue("Topic", "TOPIC_SHOP_ORDER"),
		HaveKeyWithValue("Queues", BeEquivalentTo(64)), HaveKeyWithValue("Read", BeEquivalentTo(128)),
		HaveKeyWithValue("Ready", "True"), HaveKeyWithValue("Stage", "Draining"),
		HaveKeyWithValue("Waits For", "CG_SHOP_POINTS: about 1,200 left in 9 queues"),
		HaveKeyWithValue("Write", BeEquivalentTo(64)), HaveKeyWithValue("Cluster", "shop"),
		HaveKeyWithValue("Reason", "AsNeeded"), HaveKeyWithValue("Message", "64 queues per broker writable"),
	))

	out, err := kubectl(t, "", "get", "rmqt", "-n", namespace)
	g.Expect(err).NotTo(HaveOccurred(), out)
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	g.Expect(strings.Fields(lines[0])).To(Equal([]string{"NAME", "TOPIC", "QUEUES", "READ", "READY", "STAGE", "WAITS", "FOR", "AGE"}))
	for _, line := range lines {
		g.Expect(len(line)).To(BeNumerically("<=", 120), line)
	}
	g.Expect(lines[1]).To(MatchRegexp(`^new +64 +Unknown +\d+s$`))
	g.Expect(lines[2]).To(MatchRegexp(`^orders +TOPIC_SHOP_ORDER +64 +128 +True +Draining +CG_SHOP_POINTS: about 1,200 left in 9 queues +\d+s$`))
}

func TestK06_BrokerClusterColumns(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	g.Expect(api(t).client.Create(testContext(t), manifest(t, namespace, minimalCluster, ""))).To(Succeed())
	columns, rows := table(t, namespace, "brokerclusters")
	g.Expect(names(columns, 0)).To(Equal([]string{"Name", "Cluster", "Brokers", "Answering", "Ready", "Reason", "Age"}))
	g.Expect(names(columns, 1)).To(Equal([]string{"Topics", "Guard", "Message"}))
	g.Expect(rows).To(ConsistOf(And(
		HaveKeyWithValue("Name", "shop"), HaveKeyWithValue("Cluster", "shop"), HaveKeyWithValue("Brokers", BeNil()),
		HaveKeyWithValue("Ready", "Unknown"), HaveKeyWithValue("Reason", "NotSeen"),
	)))
}

// TestShortNamesAndCategories: what people type.
func TestShortNamesAndCategories(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	createdTopic(t, namespace, "")
	g.Expect(api(t).client.Create(testContext(t), manifest(t, namespace, minimalCluster, ""))).To(Succeed())
	for _, what := range []string{"rmqc", "rmqt", "rmqc,rmqt", "rocketmq", "lockstep"} {
		out, err := kubectl(t, "", "get", what, "-n", namespace, "-o", "name")
		g.Expect(err).NotTo(HaveOccurred(), out)
		if what != "rmqt" {
			g.Expect(out).To(ContainSubstring("brokercluster.rocketmq.lockstep.dev/shop"), what)
		}
		if what != "rmqc" {
			g.Expect(out).To(ContainSubstring("topic.rocketmq.lockstep.dev/orders"), what)
		}
	}
}
