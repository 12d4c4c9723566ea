// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func TestK04_EffectiveName(t *testing.T) {
	for name, row := range map[string]struct {
		object, spec, want string
	}{
		"own name":   {"orders", "TOPIC_SHOP_ORDER", "TOPIC_SHOP_ORDER"},
		"defaulted":  {"orders", "", "orders"},
		"equal name": {"orders", "orders", "orders"},
	} {
		t.Run(name, func(t *testing.T) {
			topic := v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Name: row.object}, Spec: v1alpha1.TopicSpec{TopicName: v1alpha1.TopicName(row.spec)}}
			NewWithT(t).Expect(topic.EffectiveName()).To(Equal(row.want))
		})
	}
}

func TestClusterKey(t *testing.T) {
	g := NewWithT(t)
	topic := v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: v1alpha1.TopicSpec{ClusterRef: v1alpha1.ClusterReference{Name: "main"}}}
	namespace, name := topic.ClusterKey()
	g.Expect(namespace + "/" + name).To(Equal("shop/main"))
	topic.Spec.ClusterRef.Namespace = "rocketmq"
	namespace, name = topic.ClusterKey()
	g.Expect(namespace + "/" + name).To(Equal("rocketmq/main"))
}

func TestHeartbeat(t *testing.T) {
	for name, row := range map[string]struct {
		declared       *v1alpha1.HeartbeatTopic
		topic, cluster string
	}{
		"absent":  {nil, "DefaultHeartBeatSyncerTopic", "shop"},
		"empty":   {&v1alpha1.HeartbeatTopic{}, "DefaultHeartBeatSyncerTopic", "shop"},
		"name":    {&v1alpha1.HeartbeatTopic{Name: "Beats"}, "Beats", "shop"},
		"cluster": {&v1alpha1.HeartbeatTopic{Cluster: "mall"}, "DefaultHeartBeatSyncerTopic", "mall"},
		"both":    {&v1alpha1.HeartbeatTopic{Name: "Beats", Cluster: "mall"}, "Beats", "mall"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := v1alpha1.BrokerClusterSpec{ClusterName: "shop", HeartbeatTopic: row.declared}
			topic, cluster := spec.Heartbeat()
			NewWithT(t).Expect([]string{topic, cluster}).To(Equal([]string{row.topic, row.cluster}))
		})
	}
}

func TestNamePatternMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"TOPIC_SHOP_*", "TOPIC_SHOP_ORDER", true},
		{"TOPIC_SHOP_*", "TOPIC_SHOP_", true},
		{"TOPIC_SHOP_*", "TOPIC_SHO", false},
		{"TOPIC_SHOP_*", "MY_TOPIC_SHOP_ORDER", false},
		{"*", "", true},
		{"*", "anything", true},
		{"orders", "orders", true},
		{"orders", "orders2", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"*_DLQ", "A_DLQ", true},
		{"*_DLQ", "A_DLQ_", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"a**c", "ac", true},
		{"", "", true},
		{"", "a", false},
	} {
		NewWithT(t).Expect(v1alpha1.NamePattern(row.pattern).Matches(row.name)).To(Equal(row.want), "%s on %s", row.pattern, row.name)
	}
}

// TestNamePatternIsTheRegularExpression: a pattern means what the same pattern means as a regular
// expression in which * is .* and everything else stands for itself.
func TestNamePatternIsTheRegularExpression(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pattern := rapid.StringMatching(`[ab|%*]{0,8}`).Draw(r, "pattern")
		name := rapid.StringMatching(`[ab|%]{0,8}`).Draw(r, "name")
		expression := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		NewWithT(r).Expect(v1alpha1.NamePattern(pattern).Matches(name)).To(Equal(expression.MatchString(name)))
	})
}

func TestClaimHeldBy(t *testing.T) {
	g := NewWithT(t)
	claim := &v1alpha1.Claim{UID: "a"}
	g.Expect(claim.HeldBy("a")).To(BeTrue())
	g.Expect(claim.HeldBy("b")).To(BeFalse())
	g.Expect(claim.HeldBy("")).To(BeFalse())
	g.Expect((*v1alpha1.Claim)(nil).HeldBy("a")).To(BeFalse())
	g.Expect((&v1alpha1.Claim{}).HeldBy("")).To(BeFalse(), "an object without a UID holds nothing")
}

func TestCut(t *testing.T) {
	for _, row := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"one more than fits", 10, "one mor…"},
		{"ключ-значение", 10, "клю…"},
		{"", 3, ""},
		{"abcd", 3, "…"},
	} {
		NewWithT(t).Expect(v1alpha1.Cut(row.text, row.limit)).To(Equal(row.want), row.text)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		limit := rapid.IntRange(3, 40).Draw(r, "limit")
		g := NewWithT(r)
		cut := v1alpha1.Cut(text, limit)
		g.Expect(len(cut)).To(BeNumerically("<=", max(limit, 0)))
		g.Expect(strings.ToValidUTF8(cut, "?")).To(Equal(cut))
		g.Expect(text).To(HavePrefix(strings.TrimSuffix(cut, "…")))
	})
}
