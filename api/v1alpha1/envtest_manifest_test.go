// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const minimalTopic = `
apiVersion: rocketmq.lockstep.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec:
  clusterRef: {name: shop}
  topicName: TOPIC_SHOP_ORDER
  queues: {perBroker: 64}
`

const minimalCluster = `
apiVersion: rocketmq.lockstep.dev/v1alpha1
kind: BrokerCluster
metadata: {name: shop}
spec:
  nameServers: [namesrv:9876]
  clusterName: shop
`

// manifest is the base with a JSON merge patch, both in YAML, in the namespace.
func manifest(t *testing.T, namespace, base, patch string) *unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	baseJSON, err := yaml.YAMLToJSON([]byte(base))
	g.Expect(err).NotTo(HaveOccurred())
	if patch == "" {
		patch = "{}"
	}
	patchJSON, err := yaml.YAMLToJSON([]byte(patch))
	g.Expect(err).NotTo(HaveOccurred())
	merged, err := jsonpatch.MergePatch(baseJSON, patchJSON)
	g.Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	g.Expect(object.UnmarshalJSON(merged)).To(Succeed())
	object.SetNamespace(namespace)
	return object
}

// creation is one object that is sent to the API server and what must come back.
type creation struct {
	name  string
	patch string
	// refused is the sentence that must be in the answer; empty means that the object is accepted.
	refused string
}

// edit is one change of an object that exists.
type edit struct {
	name     string
	from, to string
	refused  string
}

func checkCreations(t *testing.T, base string, rows []creation) {
	t.Helper()
	namespace := newNamespace(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			object := manifest(t, namespace, base, row.patch)
			err := api(t).client.Create(testContext(t), object, client.DryRunAll)
			checkAnswer(t, err, row.refused)
		})
	}
}

func checkEdits(t *testing.T, base string, rows []edit) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			g := NewWithT(t)
			namespace := newNamespace(t)
			object := manifest(t, namespace, base, row.from)
			g.Expect(api(t).client.Create(testContext(t), object)).To(Succeed())
			changed := manifest(t, namespace, base, row.to)
			changed.SetResourceVersion(object.GetResourceVersion())
			checkAnswer(t, api(t).client.Update(testContext(t), changed), row.refused)
		})
	}
}

// checkAnswer also holds every refusal to K01: kubectl apply --force answers texts with these words by
// deleting the object and making it anew.
func checkAnswer(t *testing.T, err error, refused string) {
	t.Helper()
	g := NewWithT(t)
	if refused == "" {
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	g.Expect(err).To(MatchError(ContainSubstring(refused)))
	g.Expect(err.Error()).NotTo(Or(ContainSubstring("immutable field"), ContainSubstring("is immutable")))
}
