// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// definitions are the generated CRDs by kind.
func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "crd", "bases", "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(yaml.UnmarshalStrict(raw, crd)).To(Succeed())
		out[crd.Spec.Names.Kind] = crd
	}
	g.Expect(out).To(And(HaveLen(2), HaveKey("Topic"), HaveKey("BrokerCluster")))
	return out
}

type schema = apiextensionsv1.JSONSchemaProps

// walk visits the schema of every field below spec and status, with its path.
func walk(t *testing.T, visit func(t *testing.T, path string, s *schema)) {
	t.Helper()
	for kind, crd := range definitions(t) {
		t.Run(kind, func(t *testing.T) {
			NewWithT(t).Expect(crd.Spec.Versions).To(HaveLen(1))
			root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			for _, part := range []string{"spec", "status"} {
				child := root.Properties[part]
				descend(t, part, &child, visit)
			}
		})
	}
}

func descend(t *testing.T, path string, s *schema, visit func(t *testing.T, path string, s *schema)) {
	visit(t, path, s)
	for name, child := range s.Properties {
		descend(t, path+"."+name, &child, visit)
	}
	if s.Items != nil {
		descend(t, path+"[]", s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil {
		descend(t, path+"{}", s.AdditionalProperties.Schema, visit)
	}
}

// TestK03_NoBoolsFloatsDurations: a bool has no third value to add later, a float is compared badly, a
// duration has no bounds.
func TestK03_NoBoolsFloatsDurations(t *testing.T) {
	walk(t, func(t *testing.T, path string, s *schema) {
		g := NewWithT(t)
		g.Expect(s.Type).To(BeElementOf("object", "array", "string", "integer"), path)
		g.Expect(s.Format).To(BeElementOf("", "int32", "int64", "date-time"), path)
		g.Expect(s.XPreserveUnknownFields).To(BeNil(), path)
	})
}

// TestK03_EverythingHasAMaximum bounds what one object can weigh in etcd and in every cache.
func TestK03_EverythingHasAMaximum(t *testing.T) {
	walk(t, func(t *testing.T, path string, s *schema) {
		g := NewWithT(t)
		switch s.Type {
		case "string":
			g.Expect(s.MaxLength != nil || len(s.Enum) > 0 || s.Format == "date-time").To(BeTrue(), "%s has no maximum", path)
		case "array":
			g.Expect(s.MaxItems).NotTo(BeNil(), path)
			g.Expect(s.XListType).NotTo(BeNil(), path)
			if *s.XListType == "map" {
				g.Expect(s.XListMapKeys).NotTo(BeEmpty(), path)
			}
		case "object":
			if s.AdditionalProperties != nil {
				g.Expect(s.MaxProperties).NotTo(BeNil(), path)
			}
		case "integer":
			if strings.HasPrefix(path, "spec.") {
				g.Expect(s.Minimum).NotTo(BeNil(), path)
				g.Expect(s.Maximum).NotTo(BeNil(), path)
			}
		}
	})
}

// TestK03_NoDefaultInSpec: a default of the schema would be stored with every object, and a better one
// of a later version would reach none of them.
func TestK03_NoDefaultInSpec(t *testing.T) {
	allowed := []string{"status", "status.observedGeneration"}
	walk(t, func(t *testing.T, path string, s *schema) {
		NewWithT(t).Expect(s.Default == nil).To(Equal(!slices.Contains(allowed, path)), path)
	})
}

// TestEveryFieldIsExplained: each description is a sentence that starts with the field's name.
func TestEveryFieldIsExplained(t *testing.T) {
	walk(t, func(t *testing.T, path string, s *schema) {
		if strings.HasPrefix(path, "status.conditions[]") {
			return // the words of Kubernetes
		}
		g := NewWithT(t)
		text := strings.Join(strings.Fields(s.Description), " ")
		if last := path[strings.LastIndexByte(path, '.')+1:]; !strings.HasSuffix(last, "]") && !strings.HasSuffix(last, "}") {
			g.Expect(text).To(HavePrefix(last+" "), path)
		}
		if strings.HasSuffix(path, "[]") && s.Type == "string" {
			return // kubectl explain has no page for an entry of a list of plain strings
		}
		g.Expect(text).To(HaveSuffix("."), path)
	})
}

// TestOptionalFieldsSayWhatAbsentMeans: somebody who reads kubectl explain must not have to guess what
// holds when a choice or a number of the spec is left out.
func TestOptionalFieldsSayWhatAbsentMeans(t *testing.T) {
	walk(t, func(t *testing.T, path string, s *schema) {
		if !strings.HasPrefix(path, "spec.") {
			return
		}
		for name, child := range s.Properties {
			tunable := child.Type == "integer" || len(child.Enum) > 0
			if tunable && !slices.Contains(s.Required, name) {
				NewWithT(t).Expect(strings.Join(strings.Fields(child.Description), " ")).To(ContainSubstring("Absent means"), path+"."+name)
			}
		}
	})
}

// TestEveryRuleSaysWhatToDo: a rule has a message of its own, without the words that make kubectl apply
// --force delete the object (K01), in one line.
func TestEveryRuleSaysWhatToDo(t *testing.T) {
	rules := 0
	check := func(t *testing.T, path string, s *schema) {
		g := NewWithT(t)
		for _, rule := range s.XValidations {
			rules++
			g.Expect(len(rule.Message)).To(And(BeNumerically(">", 40), BeNumerically("<=", 256)), "%s: %s", path, rule.Rule)
			g.Expect(rule.Message).NotTo(Or(ContainSubstring("immutable"), ContainSubstring("\n"), HaveSuffix(".")), path)
		}
	}
	walk(t, check)
	for _, crd := range definitions(t) {
		check(t, "", crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	NewWithT(t).Expect(rules).To(BeNumerically(">=", 15))
}

// TestConditionsComeFirst in the Go types, so that they do when a status is printed.
func TestConditionsComeFirst(t *testing.T) {
	g := NewWithT(t)
	for _, status := range []any{
		v1alpha1.TopicStatus{Conditions: conditions("A"), ObservedGeneration: 1, TopicName: "T"},
		v1alpha1.BrokerClusterStatus{Conditions: conditions("A"), ObservedGeneration: 1},
	} {
		raw, err := json.Marshal(status)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(HavePrefix(`{"conditions":`))
	}
}

// TestLimitsAreThoseOfTheSchema: code cuts lists and sentences where the schema would refuse them.
func TestLimitsAreThoseOfTheSchema(t *testing.T) {
	topic := definitions(t)["Topic"].Spec.Versions[0].Schema.OpenAPIV3Schema
	cluster := definitions(t)["BrokerCluster"].Spec.Versions[0].Schema.OpenAPIV3Schema
	for path, row := range map[string]struct {
		root  *schema
		of    func(*schema) *int64
		limit int64
	}{
		"spec.topicName":                   {topic, maxLength, v1alpha1.MaxTopicName},
		"status.brokers":                   {topic, maxItems, v1alpha1.MaxBrokers},
		"status.brokers[].message":         {topic, maxLength, v1alpha1.MaxBrokerMessage},
		"status.change.waitsFor":           {topic, maxItems, v1alpha1.MaxHolds},
		"status.change.waitsFor[].message": {topic, maxLength, v1alpha1.MaxHoldMessage},
		"status.givenUp":                   {topic, maxItems, v1alpha1.MaxGivenUp},
		"status.givenUp[].queues":          {topic, maxItems, v1alpha1.MaxGivenUpQueues},
		"status.stranded.worst":            {topic, maxItems, v1alpha1.MaxStrandedQueues},
		"spec.queues.perBroker":            {topic, maximum, v1alpha1.MaxQueuesPerBroker},
		"spec.resize.waivers[].toQueues":   {topic, maximum, v1alpha1.MaxQueuesPerBroker},
		// Clusters.
		"status.nameServers":           {cluster, maxItems, v1alpha1.MaxServers},
		"status.proxies":               {cluster, maxItems, v1alpha1.MaxServers},
		"status.nameServers[].message": {cluster, maxLength, v1alpha1.MaxBrokerMessage},
		"status.proxies[].message":     {cluster, maxLength, v1alpha1.MaxBrokerMessage},
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			s := find(row.root, path)
			g.Expect(s).NotTo(BeNil())
			g.Expect(row.of(s)).To(HaveValue(Equal(row.limit)))
		})
	}
}

func maxLength(s *schema) *int64 { return s.MaxLength }
func maxItems(s *schema) *int64  { return s.MaxItems }
func maximum(s *schema) *int64   { return ptr.To(int64(*s.Maximum)) }

// find is the schema at a path, or nil.
func find(s *schema, path string) *schema {
	for _, step := range strings.Split(path, ".") {
		name := strings.TrimSuffix(step, "[]")
		child, found := s.Properties[name]
		if !found {
			return nil
		}
		s = &child
		if name != step {
			s = s.Items.Schema
		}
	}
	return s
}
