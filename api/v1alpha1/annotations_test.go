// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

func annotated(key, value string) *v1alpha1.Topic {
	return &v1alpha1.Topic{
		ObjectMeta: metav1.ObjectMeta{Name: "orders", UID: "u-1", Annotations: map[string]string{key: value}},
		Spec:       v1alpha1.TopicSpec{TopicName: "TOPIC_SHOP_ORDER"},
	}
}

func TestIsPaused(t *testing.T) {
	g := NewWithT(t)
	g.Expect(v1alpha1.IsPaused(&v1alpha1.Topic{})).To(BeFalse())
	for value, want := range map[string]bool{"true": true, "yes": true, "until Monday": true, "false": false, "": false} {
		g.Expect(v1alpha1.IsPaused(annotated(v1alpha1.AnnotationPaused, value))).To(Equal(want), value)
	}
}

// TestK01_DeletionIsConfirmedByTheTopicsName: not by the object's name, not by a yes.
func TestK01_DeletionIsConfirmedByTheTopicsName(t *testing.T) {
	g := NewWithT(t)
	for value, want := range map[string]bool{"TOPIC_SHOP_ORDER": true, "orders": false, "true": false, "": false, "topic_shop_order": false} {
		g.Expect(annotated(v1alpha1.AnnotationConfirmDelete, value).IsDeleteConfirmed()).To(Equal(want), value)
	}
	g.Expect((&v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}).IsDeleteConfirmed()).To(BeFalse())
	g.Expect((&v1alpha1.Topic{}).IsDeleteConfirmed()).To(BeFalse(), "a topic without a name and without the annotation")
}

func TestAbandonNamesTheObject(t *testing.T) {
	g := NewWithT(t)
	g.Expect(v1alpha1.IsAbandoned(annotated(v1alpha1.AnnotationAbandon, "u-1"))).To(BeTrue())
	g.Expect(v1alpha1.IsAbandoned(annotated(v1alpha1.AnnotationAbandon, "true"))).To(BeFalse())
	g.Expect(v1alpha1.IsAbandoned(annotated(v1alpha1.AnnotationAbandon, "u-2"))).To(BeFalse(), "the object of the same name that was here before")
	g.Expect(v1alpha1.IsAbandoned(&v1alpha1.Topic{})).To(BeFalse())
}

// TestApprovalIsForOneStep: an approval that was given for another step, or for none, does nothing.
func TestApprovalIsForOneStep(t *testing.T) {
	for name, row := range map[string]struct {
		annotation string
		change     *v1alpha1.QueueChange
		want       bool
	}{
		"this step":         {"narrow-reads/7", &v1alpha1.QueueChange{Approval: "narrow-reads/7"}, true},
		"the step before":   {"narrow-writes/7", &v1alpha1.QueueChange{Approval: "narrow-reads/7"}, false},
		"an earlier change": {"narrow-reads/6", &v1alpha1.QueueChange{Approval: "narrow-reads/7"}, false},
		"a yes":             {"true", &v1alpha1.QueueChange{Approval: "narrow-reads/7"}, false},
		"nothing waits":     {"", &v1alpha1.QueueChange{}, false},
		"no change":         {"narrow-reads/7", nil, false},
		"no annotation":     {"", &v1alpha1.QueueChange{Approval: "narrow-reads/7"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			topic := annotated(v1alpha1.AnnotationApprove, row.annotation)
			topic.Status.Change = row.change
			NewWithT(t).Expect(topic.IsApproved()).To(Equal(row.want))
		})
	}
}

func TestReconcileRequestFitsTheStatus(t *testing.T) {
	g := NewWithT(t)
	g.Expect(v1alpha1.ReconcileRequest(&v1alpha1.Topic{})).To(BeEmpty())
	g.Expect(v1alpha1.ReconcileRequest(annotated(v1alpha1.AnnotationReconcileRequest, "2026-11-30T14:02:11Z"))).To(Equal("2026-11-30T14:02:11Z"))
	long := v1alpha1.ReconcileRequest(annotated(v1alpha1.AnnotationReconcileRequest, "x"+strings.Repeat("ж", 100)))
	g.Expect(len(long)).To(BeNumerically("<=", 128))
	g.Expect(utf8.ValidString(long)).To(BeTrue())
}

// TestR06_OffsetEntries: the exit of a committed offset beyond a queue's end is one value that a person
// names; what cannot be read in full is not done in part.
func TestR06_OffsetEntries(t *testing.T) {
	entry := v1alpha1.OffsetEntry{Group: "CG_SHOP_POINTS", Broker: "broker-a", Queue: 97, Offset: 1200}
	for name, row := range map[string]struct {
		value   string
		want    []v1alpha1.OffsetEntry
		refused string
	}{
		"absent":           {"", nil, ""},
		"blank":            {"  ", nil, ""},
		"one":              {"CG_SHOP_POINTS@broker-a/97=1200", []v1alpha1.OffsetEntry{entry}, ""},
		"zero":             {"g@b/0=0", []v1alpha1.OffsetEntry{{Group: "g", Broker: "b"}}, ""},
		"two with spaces":  {" g@b/0=0 , CG_SHOP_POINTS@broker-a/97=1200", []v1alpha1.OffsetEntry{{Group: "g", Broker: "b"}, entry}, ""},
		"slash in broker":  {"g@b/c/1=2", []v1alpha1.OffsetEntry{{Group: "g", Broker: "b/c", Queue: 1, Offset: 2}}, ""},
		"largest":          {fmt.Sprintf("g@b/%d=%d", math.MaxInt32, int64(math.MaxInt64)), []v1alpha1.OffsetEntry{{Group: "g", Broker: "b", Queue: math.MaxInt32, Offset: math.MaxInt64}}, ""},
		"no group":         {"@b/0=0", nil, "the group is missing"},
		"no at":            {"g/b/0=0", nil, "the group is missing"},
		"no broker":        {"g@/0=0", nil, "the broker is missing"},
		"no slash":         {"g@b0=0", nil, "the broker is missing"},
		"no offset":        {"g@b/0", nil, "the offset is missing"},
		"empty offset":     {"g@b/0=", nil, "the offset is not a number"},
		"negative offset":  {"g@b/0=-1", nil, "the offset is not a number"},
		"offset too large": {"g@b/0=9223372036854775808", nil, "the offset is not a number"},
		"negative queue":   {"g@b/-1=0", nil, "the queue is not a number"},
		"queue too large":  {"g@b/2147483648=0", nil, "the queue is not a number"},
		"end of line":      {"g@b/0=0,", nil, `entry ""`},
		"one good one bad": {"g@b/0=0,nonsense", nil, `entry "nonsense"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := v1alpha1.OffsetEntries(annotated(v1alpha1.AnnotationSetOffset, row.value))
			if row.refused != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring(row.refused), ContainSubstring("write group@broker/queue=offset"))))
				g.Expect(got).To(BeNil())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(row.want))
		})
	}
}

func TestOffsetEntriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := NewWithT(r)
		name := rapid.StringMatching(`[%|a-zA-Z0-9_-]{1,20}`)
		want := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) v1alpha1.OffsetEntry {
			return v1alpha1.OffsetEntry{
				Group: name.Draw(r, "group"), Broker: name.Draw(r, "broker"),
				Queue: rapid.Int32Min(0).Draw(r, "queue"), Offset: rapid.Int64Min(0).Draw(r, "offset"),
			}
		}), 1, 5).Draw(r, "entries")
		texts := make([]string, 0, len(want))
		for _, e := range want {
			texts = append(texts, fmt.Sprintf("%s@%s/%d=%d", e.Group, e.Broker, e.Queue, e.Offset))
		}
		got, err := v1alpha1.OffsetEntries(annotated(v1alpha1.AnnotationSetOffset, strings.Join(texts, ",")))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	})
}
