// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func TestRefusal(t *testing.T) {
	selector := &rocketmqv1alpha1.NamespaceSelector{MatchLabels: map[string]rocketmqv1alpha1.LabelValue{"rocketmq": "shop"}}
	rule := func(from rocketmqv1alpha1.NamespacesFrom, s *rocketmqv1alpha1.NamespaceSelector, topics ...rocketmqv1alpha1.NamePattern) rocketmqv1alpha1.AccessRule {
		return rocketmqv1alpha1.AccessRule{Namespaces: rocketmqv1alpha1.AccessNamespaces{From: from, Selector: s}, Topics: topics}
	}
	all := rule(rocketmqv1alpha1.NamespacesFromAll, nil, "SHARED_*")
	same := rule(rocketmqv1alpha1.NamespacesFromSame, nil, "*")
	shop := rule(rocketmqv1alpha1.NamespacesFromSelector, selector, "TOPIC_SHOP_*", "AUDIT")
	groupsOnly := rocketmqv1alpha1.AccessRule{Namespaces: rocketmqv1alpha1.AccessNamespaces{From: rocketmqv1alpha1.NamespacesFromAll}, Groups: []rocketmqv1alpha1.NamePattern{"*"}}
	labelled := namespaceFacts{Name: "shop", Labels: map[string]string{"rocketmq": "shop"}}
	other := namespaceFacts{Name: "other"}
	own := namespaceFacts{Name: "infra"}

	for name, tc := range map[string]struct {
		rules []rocketmqv1alpha1.AccessRule
		from  namespaceFacts
		topic string
		want  string // part of the refusal; empty where allowed
	}{
		"no rules: its own namespace":               {nil, own, "ANY", ""},
		"no rules: another namespace":               {nil, other, "ANY", "has no access rules, so only namespace infra may declare"},
		"from All, pattern fits":                    {[]rocketmqv1alpha1.AccessRule{all}, other, "SHARED_A", ""},
		"from All, pattern does not fit":            {[]rocketmqv1alpha1.AccessRule{all}, other, "OTHER", "allows namespace other to declare topic OTHER"},
		"from Same, own namespace":                  {[]rocketmqv1alpha1.AccessRule{same}, own, "ANY", ""},
		"from Same, another namespace":              {[]rocketmqv1alpha1.AccessRule{same}, other, "ANY", "no access rule of BrokerCluster infra/shop is for namespace other"},
		"from Selector, labels match":               {[]rocketmqv1alpha1.AccessRule{shop}, labelled, "TOPIC_SHOP_ORDER", ""},
		"from Selector, exact name":                 {[]rocketmqv1alpha1.AccessRule{shop}, labelled, "AUDIT", ""},
		"from Selector, exact name is no prefix":    {[]rocketmqv1alpha1.AccessRule{shop}, labelled, "AUDIT2", "declare topic AUDIT2"},
		"from Selector, labels differ":              {[]rocketmqv1alpha1.AccessRule{shop}, other, "TOPIC_SHOP_ORDER", "is for namespace other"},
		"with rules the own namespace needs one":    {[]rocketmqv1alpha1.AccessRule{shop}, own, "TOPIC_SHOP_ORDER", "is for namespace infra"},
		"one of several rules is enough":            {[]rocketmqv1alpha1.AccessRule{shop, same, all}, other, "SHARED_B", ""},
		"a rule for groups allows no topic":         {[]rocketmqv1alpha1.AccessRule{groupsOnly}, other, "T", "allows namespace other to declare topic T"},
		"a selector that does not parse allows nil": {[]rocketmqv1alpha1.AccessRule{rule(rocketmqv1alpha1.NamespacesFromSelector, &rocketmqv1alpha1.NamespaceSelector{MatchLabels: map[string]rocketmqv1alpha1.LabelValue{"-bad-": "x"}}, "*")}, other, "T", "is for namespace other"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := &rocketmqv1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "shop"}}
			cluster.Spec.Access = tc.rules
			got := refusal(cluster, tc.from, tc.topic)
			if tc.want == "" {
				g.Expect(got).To(BeEmpty())
				return
			}
			g.Expect(got).To(ContainSubstring(tc.want))
			g.Expect(got).To(ContainSubstring("spec.access"), "it says where to change it")
		})
	}
}
