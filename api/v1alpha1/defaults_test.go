// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func TestTimingsDefault(t *testing.T) {
	for name, row := range map[string]struct {
		spec v1alpha1.BrokerClusterSpec
		want []time.Duration
	}{
		"absent": {v1alpha1.BrokerClusterSpec{},
			[]time.Duration{33 * time.Second, time.Minute, time.Minute, 30 * time.Second, 5 * time.Minute, 30 * time.Second}},
		"empty": {v1alpha1.BrokerClusterSpec{Timings: &v1alpha1.Timings{}},
			[]time.Duration{33 * time.Second, time.Minute, time.Minute, 30 * time.Second, 5 * time.Minute, 30 * time.Second}},
		"with proxies": {v1alpha1.BrokerClusterSpec{Proxies: []v1alpha1.Endpoint{"proxy:8080"}},
			[]time.Duration{303 * time.Second, time.Minute, time.Minute, 30 * time.Second, 5 * time.Minute, 30 * time.Second}},
		"set": {v1alpha1.BrokerClusterSpec{Proxies: []v1alpha1.Endpoint{"proxy:8080"}, Timings: &v1alpha1.Timings{
			LongestRouteAgeSeconds: ptr.To[int32](1), SettleSeconds: ptr.To[int32](2), LongestInvisibleSeconds: ptr.To[int32](3),
			SweepSeconds: ptr.To[int32](4), AuditSeconds: ptr.To[int32](5), CallTimeoutSeconds: ptr.To[int32](6),
		}}, []time.Duration{1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &row.spec
			NewWithT(t).Expect([]time.Duration{
				s.LongestRouteAge(), s.Settle(), s.LongestInvisible(), s.Sweep(), s.Audit(), s.CallTimeout(),
			}).To(Equal(row.want))
		})
	}
}

// TestWireValuesCoverTheChoices: every choice that the API server accepts has a value on the wire, and
// no two have the same.
func TestWireValuesCoverTheChoices(t *testing.T) {
	g := NewWithT(t)
	topic := definitions(t)["Topic"].Spec.Versions[0].Schema.OpenAPIV3Schema
	wire := map[string]string{}
	for _, value := range enum(t, find(topic, "spec.messageType")) {
		wire[value] = v1alpha1.MessageType(value).Wire()
	}
	g.Expect(wire).To(Equal(map[string]string{
		"Normal": "NORMAL", "FIFO": "FIFO", "Delay": "DELAY", "Transaction": "TRANSACTION", "Mixed": "MIXED", "Priority": "PRIORITY",
	}))
	g.Expect(v1alpha1.MessageType("").Wire()).To(BeEmpty())

	perm := map[string]int32{}
	for _, value := range enum(t, find(topic, "spec.permission")) {
		perm[value] = v1alpha1.Permission(value).Wire()
	}
	g.Expect(perm).To(Equal(map[string]int32{"ReadWrite": 6, "ReadOnly": 4, "WriteOnly": 2}))
	g.Expect(v1alpha1.Permission("").Wire()).To(Equal(int32(6)))
}

func enum(t *testing.T, s *schema) (out []string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(s).NotTo(BeNil())
	g.Expect(s.Enum).NotTo(BeEmpty())
	for _, value := range s.Enum {
		out = append(out, string(value.Raw[1:len(value.Raw)-1]))
	}
	return out
}

// TestChoicesDefaultToTheSafeSide: what is left out never narrows, deletes or gives up anything.
func TestChoicesDefaultToTheSafeSide(t *testing.T) {
	for name, spec := range map[string]v1alpha1.TopicSpec{"absent": {}, "empty": {Resize: &v1alpha1.Resize{}}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(spec.ResizeMode()).To(Equal(v1alpha1.ResizeAutomatic))
			g.Expect(spec.AllowsOrderChange()).To(BeFalse())
			g.Expect(spec.KeepsHistory()).To(BeFalse())
			g.Expect(spec.RescuesStranded()).To(BeFalse())
			g.Expect(spec.DeletesTopic()).To(BeFalse())
			g.Expect(spec.Waives("CG_OLD", 8)).To(BeFalse())
		})
	}
	g := NewWithT(t)
	chosen := v1alpha1.TopicSpec{DeletionPolicy: v1alpha1.DeletionDelete, Resize: &v1alpha1.Resize{
		Mode: v1alpha1.ResizeApprove, OrderChange: v1alpha1.OrderChangeAllow, History: v1alpha1.HistoryKeep, Stranded: v1alpha1.StrandedRescue,
	}}
	g.Expect(chosen.ResizeMode()).To(Equal(v1alpha1.ResizeApprove))
	g.Expect(chosen.AllowsOrderChange()).To(BeTrue())
	g.Expect(chosen.KeepsHistory()).To(BeTrue())
	g.Expect(chosen.RescuesStranded()).To(BeTrue())
	g.Expect(chosen.DeletesTopic()).To(BeTrue())
	other := v1alpha1.TopicSpec{DeletionPolicy: v1alpha1.DeletionRetain, Resize: &v1alpha1.Resize{
		Mode: v1alpha1.ResizeAutomatic, OrderChange: v1alpha1.OrderChangeForbid, History: v1alpha1.HistoryRelease, Stranded: v1alpha1.StrandedReport,
	}}
	g.Expect(other.AllowsOrderChange() || other.KeepsHistory() || other.RescuesStranded() || other.DeletesTopic()).To(BeFalse())
}

// TestR20_WaiverIsForOneTarget: next year's shrink asks again.
func TestR20_WaiverIsForOneTarget(t *testing.T) {
	g := NewWithT(t)
	spec := v1alpha1.TopicSpec{Resize: &v1alpha1.Resize{Waivers: []v1alpha1.Waiver{
		{Group: "CG_OLD", ToQueues: 8, Reason: "retired"}, {Group: "CG_OLDER", ToQueues: 4, Reason: "retired"},
	}}}
	g.Expect(spec.Waives("CG_OLD", 8)).To(BeTrue())
	g.Expect(spec.Waives("CG_OLDER", 4)).To(BeTrue())
	g.Expect(spec.Waives("CG_OLD", 4)).To(BeFalse())
	g.Expect(spec.Waives("CG_OLDER", 8)).To(BeFalse())
	g.Expect(spec.Waives("CG_NEW", 8)).To(BeFalse())
	g.Expect(spec.Waives("", 8)).To(BeFalse())
}

func TestGuardModeDefaultsToWarn(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&v1alpha1.BrokerClusterSpec{}).GuardMode()).To(Equal(v1alpha1.ScaleGuardWarn))
	g.Expect((&v1alpha1.BrokerClusterSpec{ScaleGuard: &v1alpha1.ScaleGuard{}}).GuardMode()).To(Equal(v1alpha1.ScaleGuardWarn))
	g.Expect((&v1alpha1.BrokerClusterSpec{ScaleGuard: &v1alpha1.ScaleGuard{Mode: v1alpha1.ScaleGuardEnforce}}).GuardMode()).To(Equal(v1alpha1.ScaleGuardEnforce))
}

func TestNamespaceSelector(t *testing.T) {
	shop := labels.Set{"rocketmq": "shop", "team": "orders"}
	require := func(operator metav1.LabelSelectorOperator, values ...v1alpha1.LabelValue) *v1alpha1.NamespaceSelector {
		return &v1alpha1.NamespaceSelector{MatchExpressions: []v1alpha1.LabelRequirement{{Key: "team", Operator: operator, Values: values}}}
	}
	for name, row := range map[string]struct {
		selector *v1alpha1.NamespaceSelector
		want     bool
	}{
		"label":           {&v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"rocketmq": "shop"}}, true},
		"two labels":      {&v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"rocketmq": "shop", "team": "orders"}}, true},
		"one label wrong": {&v1alpha1.NamespaceSelector{MatchLabels: map[string]v1alpha1.LabelValue{"rocketmq": "shop", "team": "x"}}, false},
		"in":              {require(metav1.LabelSelectorOpIn, "x", "orders"), true},
		"not in":          {require(metav1.LabelSelectorOpNotIn, "x", "orders"), false},
		"exists":          {require(metav1.LabelSelectorOpExists), true},
		"does not exist":  {require(metav1.LabelSelectorOpDoesNotExist), false},
		"absent":          {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			selector, err := metav1.LabelSelectorAsSelector(row.selector.LabelSelector())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(selector.Matches(shop)).To(Equal(row.want))
		})
	}
}
