// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// namespaceFacts is what access rules look at of the namespace of a declaration.
type namespaceFacts struct {
	Name   string
	Labels map[string]string
}

// refusal says why the cluster does not allow a namespace to declare a topic;
// it is empty where it is allowed. Without rules only the cluster's own
// namespace may declare.
func refusal(cluster *rocketmqv1alpha1.BrokerCluster, from namespaceFacts, topic string) string {
	rules := cluster.Spec.Access
	if len(rules) == 0 {
		if from.Name == cluster.Namespace {
			return ""
		}
		return fmt.Sprintf("BrokerCluster %s/%s has no access rules, so only namespace %s may declare topics on it; add a rule for namespace %s to its spec.access",
			cluster.Namespace, cluster.Name, cluster.Namespace, from.Name)
	}
	namespaceFits := false
	for i := range rules {
		if !covers(&rules[i].Namespaces, cluster.Namespace, from) {
			continue
		}
		namespaceFits = true
		for _, pattern := range rules[i].Topics {
			if pattern.Matches(topic) {
				return ""
			}
		}
	}
	if namespaceFits {
		return fmt.Sprintf("no access rule of BrokerCluster %s/%s allows namespace %s to declare topic %s; choose a name that its rules allow, or have a pattern added to spec.access",
			cluster.Namespace, cluster.Name, from.Name, topic)
	}
	return fmt.Sprintf("no access rule of BrokerCluster %s/%s is for namespace %s; have one added to its spec.access",
		cluster.Namespace, cluster.Name, from.Name)
}

func covers(rule *rocketmqv1alpha1.AccessNamespaces, own string, from namespaceFacts) bool {
	switch rule.From {
	case rocketmqv1alpha1.NamespacesFromAll:
		return true
	case rocketmqv1alpha1.NamespacesFromSame:
		return from.Name == own
	case rocketmqv1alpha1.NamespacesFromSelector:
		selector, err := metav1.LabelSelectorAsSelector(rule.Selector.LabelSelector())
		// The schema refuses selectors that do not parse; one that got in by
		// another way allows nothing.
		return err == nil && selector.Matches(labels.Set(from.Labels))
	default:
		return false
	}
}
