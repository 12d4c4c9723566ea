// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// bases are the least manifest of each kind.
func bases() map[string]string {
	return map[string]string{"Topic": minimalTopic, "BrokerCluster": minimalCluster}
}

// TestK07_NewObjectIsInProgress: nobody may take an object for done that no operator has seen, although
// its generation is 1 and nothing went wrong.
func TestK07_NewObjectIsInProgress(t *testing.T) {
	for kind, base := range bases() {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			object := manifest(t, newNamespace(t), base, "")
			g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
			for what, o := range map[string]*unstructured.Unstructured{"as created": object, "as read": read(t, object)} {
				result, err := status.Compute(o)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(result.Status).To(Equal(status.InProgressStatus), what)
				observed, _, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(observed).To(Equal(int64(-1)), what)
				conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(conditions).To(ConsistOf(And(
					HaveKeyWithValue("type", v1alpha1.ConditionReady),
					HaveKeyWithValue("status", "Unknown"),
					HaveKeyWithValue("reason", v1alpha1.ReasonNotSeen),
				)), what)
			}
		})
	}
}

// TestK07_StatusOfTheCreatorIsIgnored: a manifest that was exported with its status, or forged, starts
// like any other.
func TestK07_StatusOfTheCreatorIsIgnored(t *testing.T) {
	g := NewWithT(t)
	object := manifest(t, newNamespace(t), minimalTopic, `
status:
  observedGeneration: 1
  conditions: [{type: Ready, status: "True", reason: AsNeeded, message: "", lastTransitionTime: "2026-11-30T14:02:11Z"}]
`)
	g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
	result, err := status.Compute(read(t, object))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.Status).To(Equal(status.InProgressStatus))
}

// TestStatusWithoutGenerationIsNotCurrent: a status that somebody wrote without observedGeneration never
// passes for current.
func TestStatusWithoutGenerationIsNotCurrent(t *testing.T) {
	g := NewWithT(t)
	object := manifest(t, newNamespace(t), minimalTopic, "")
	g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"observedGeneration":null,"conditions":[
		{"type":"Ready","status":"True","reason":"AsNeeded","message":"","lastTransitionTime":"2026-11-30T14:02:11Z"}]}}`))
	g.Expect(api(t).client.Status().Patch(testContext(t), object, patch)).To(Succeed())
	result, err := status.Compute(read(t, object))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.Status).To(Equal(status.InProgressStatus))
}

// TestKstatusOfConditions: the conditions of this API mean to kstatus what docs/states.md says.
func TestKstatusOfConditions(t *testing.T) {
	ready := func(s metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionReady, Status: s, Reason: v1alpha1.ReasonAsNeeded}
	}
	is := func(kind string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonProgressing}
	}
	for name, row := range map[string]struct {
		conditions []metav1.Condition
		want       status.Status
	}{
		"at rest":                 {[]metav1.Condition{ready("True")}, status.CurrentStatus},
		"draining":                {[]metav1.Condition{ready("True"), is(v1alpha1.ConditionDraining)}, status.CurrentStatus},
		"retired queues watched":  {[]metav1.Condition{ready("True"), is(v1alpha1.ConditionRetiredQueuesWatched)}, status.CurrentStatus},
		"adopted larger":          {[]metav1.Condition{ready("True"), is(v1alpha1.ConditionAdoptedLarger)}, status.CurrentStatus},
		"narrowing writes":        {[]metav1.Condition{ready("False"), is(v1alpha1.ConditionReconciling)}, status.InProgressStatus},
		"awaiting the first cut":  {[]metav1.Condition{ready("False")}, status.InProgressStatus},
		"unreachable in a change": {[]metav1.Condition{ready("Unknown"), is(v1alpha1.ConditionReconciling)}, status.InProgressStatus},
		"only an edit helps":      {[]metav1.Condition{ready("False"), is(v1alpha1.ConditionStalled)}, status.FailedStatus},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			topic := createdTopic(t, newNamespace(t), "")
			topic.Status = v1alpha1.TopicStatus{ObservedGeneration: topic.Generation, Conditions: row.conditions}
			for i := range topic.Status.Conditions {
				topic.Status.Conditions[i].LastTransitionTime = when
			}
			g.Expect(api(t).client.Status().Update(testContext(t), topic)).To(Succeed())
			result, err := status.Compute(read(t, manifest(t, topic.Namespace, minimalTopic, "")))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result.Status).To(Equal(row.want), result.Message)
		})
	}
}

// TestFullestStatusIsAccepted: what the size test calls the fullest status is one that the API server
// takes and gives back unchanged, and its messages are as long as the schema allows.
func TestFullestStatusIsAccepted(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	topic := createdTopic(t, namespace, "")
	topic.Status = fullTopicStatus(v1alpha1.MaxBrokers)
	g.Expect(api(t).client.Status().Update(testContext(t), topic)).To(Succeed())
	g.Expect(weigh(t, topic.Status)).To(Equal(weigh(t, fullTopicStatus(v1alpha1.MaxBrokers))))

	topic.Status.Change.WaitsFor[0].Message += "m"
	g.Expect(api(t).client.Status().Update(testContext(t), topic)).To(MatchError(ContainSubstring("may not be more than 128 bytes")))

	cluster := &v1alpha1.BrokerCluster{}
	object := manifest(t, namespace, minimalCluster, "")
	g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
	g.Expect(api(t).client.Get(testContext(t), client.ObjectKeyFromObject(object), cluster)).To(Succeed())
	cluster.Status = fullClusterStatus(v1alpha1.MaxBrokers, v1alpha1.MaxServers, v1alpha1.MaxServers)
	g.Expect(api(t).client.Status().Update(testContext(t), cluster)).To(Succeed())
	cluster.Status.Brokers = append(cluster.Status.Brokers, v1alpha1.BrokerStatus{Name: "one-more", State: v1alpha1.PeerUnknown})
	g.Expect(api(t).client.Status().Update(testContext(t), cluster)).To(MatchError(ContainSubstring("must have at most 64 items")))
}

// TestLaterStatesAreAccepted: a newer operator may write states that this schema does not know; an older
// schema must not stop it.
func TestLaterStatesAreAccepted(t *testing.T) {
	g := NewWithT(t)
	topic := createdTopic(t, newNamespace(t), "")
	topic.Status.Brokers = []v1alpha1.TopicBrokerStatus{{Name: "broker-a", State: "Migrating", Read: ptr.To[int32](0)}}
	g.Expect(api(t).client.Status().Update(testContext(t), topic)).To(Succeed())
	topic.Status.Brokers[0].State = "not a word"
	g.Expect(api(t).client.Status().Update(testContext(t), topic)).To(MatchError(ContainSubstring("should match")))
}

// createdTopic is a Topic that exists.
func createdTopic(t *testing.T, namespace, patch string) *v1alpha1.Topic {
	t.Helper()
	g := NewWithT(t)
	object := manifest(t, namespace, minimalTopic, patch)
	g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
	topic := &v1alpha1.Topic{}
	g.Expect(api(t).client.Get(testContext(t), client.ObjectKeyFromObject(object), topic)).To(Succeed())
	return topic
}

// read is the object as the API server has it now.
func read(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(object.GroupVersionKind())
	NewWithT(t).Expect(api(t).client.Get(testContext(t), client.ObjectKeyFromObject(object), out)).To(Succeed())
	return out
}
