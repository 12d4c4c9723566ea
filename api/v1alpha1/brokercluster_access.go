// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AccessRule allows some namespaces to declare some topics and consumer groups.
//
// +kubebuilder:validation:XValidation:rule="has(self.topics) || has(self.groups)",message="this rule allows nothing; list topics, groups or both (\"*\" is every name)"
type AccessRule struct {
	// namespaces says which namespaces this rule is for.
	//
	// +required
	Namespaces AccessNamespaces `json:"namespaces,omitzero"`

	// topics are the topic names that may be declared. A * stands for any characters, also none:
	// TOPIC_SHOP_* allows TOPIC_SHOP_ORDER. Absent means no topic.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Topics []NamePattern `json:"topics,omitempty"`

	// groups are the consumer group names that may be declared, written like topics. Absent means no
	// group.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Groups []NamePattern `json:"groups,omitempty"`
}

// NamePattern is the name of a topic or consumer group in which * stands for any characters.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=127
// +kubebuilder:validation:XValidation:rule="self.matches('^[%|a-zA-Z0-9_*-]+$')",message="a pattern is a RocketMQ name (letters, digits, _ - | %) in which * stands for any characters; regular expressions are not understood"
type NamePattern string

// NamespacesFrom says how the namespaces of an access rule are chosen.
//
// +kubebuilder:validation:Enum=All;Same;Selector
type NamespacesFrom string

const (
	// NamespacesFromAll is every namespace.
	NamespacesFromAll NamespacesFrom = "All"
	// NamespacesFromSame is the namespace of the BrokerCluster.
	NamespacesFromSame NamespacesFrom = "Same"
	// NamespacesFromSelector is every namespace whose labels match the selector.
	NamespacesFromSelector NamespacesFrom = "Selector"
)

// AccessNamespaces chooses namespaces.
//
// +kubebuilder:validation:XValidation:rule="(self.from == 'Selector') == has(self.selector)",message="selector goes with from: Selector, and from: Selector needs one; set both or neither"
type AccessNamespaces struct {
	// from is All (every namespace), Same (the namespace of this BrokerCluster) or Selector (the
	// namespaces whose labels match selector).
	//
	// +required
	From NamespacesFrom `json:"from,omitempty"`

	// selector matches the labels of namespaces. It belongs to from: Selector.
	//
	// +optional
	Selector *NamespaceSelector `json:"selector,omitempty"`
}

// NamespaceSelector matches the labels of namespaces. What it lists must all hold.
//
// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) || has(self.matchExpressions)",message="an empty selector would match every namespace; say from: All if that is meant"
type NamespaceSelector struct {
	// matchLabels are labels that the namespace must have with exactly these values.
	//
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// matchExpressions are requirements on the labels of the namespace.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// LabelRequirement is a requirement on one label.
//
// +kubebuilder:validation:XValidation:rule="(self.operator in ['In', 'NotIn']) == has(self.values)",message="values goes with the operators In and NotIn, which need at least one"
type LabelRequirement struct {
	// key is the label's key.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key,omitempty"`

	// operator is In, NotIn, Exists or DoesNotExist.
	//
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator,omitempty"`

	// values are the values for In and NotIn.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Values []LabelValue `json:"values,omitempty"`
}

// LabelSelector is the same selector in the form that Kubernetes libraries take.
func (s *NamespaceSelector) LabelSelector() *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	out := &metav1.LabelSelector{}
	for key, value := range s.MatchLabels {
		metav1.AddLabelToSelector(out, key, string(value))
	}
	for _, requirement := range s.MatchExpressions {
		values := make([]string, 0, len(requirement.Values))
		for _, value := range requirement.Values {
			values = append(values, string(value))
		}
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: requirement.Key, Operator: requirement.Operator, Values: values,
		})
	}
	return out
}
