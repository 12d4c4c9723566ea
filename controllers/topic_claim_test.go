// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

var born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func claims(uid, topic string, age time.Duration, id observe.ID, masters map[string]string) claimant {
	object := &rocketmqv1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns-" + uid, Name: "t", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(born.Add(-age)),
	}}
	object.Spec.TopicName = rocketmqv1alpha1.TopicName(topic)
	return claimant{
		Topic: object, Cluster: id,
		Identity: observe.Identity{Cluster: "C", Masters: masters}, Known: masters != nil,
	}
}

func TestO04_R19_RivalsShareNameAndPhysicalCluster(t *testing.T) {
	here, there := observe.ID{Namespace: "a", Name: "shop"}, observe.ID{Namespace: "b", Name: "alias"}
	one := map[string]string{"broker-a": "10.0.0.1:10911", "broker-b": "10.0.0.2:10911"}
	overlap := map[string]string{"broker-b": "10.0.0.2:10911"}
	two := map[string]string{"broker-a": "10.9.0.1:10911"}
	own := claims("own", "T", time.Hour, here, one)

	for name, tc := range map[string]struct {
		other claimant
		rival bool
	}{
		"the same BrokerCluster":                        {claims("x", "T", 0, here, one), true},
		"the same BrokerCluster before the first sweep": {claims("x", "T", 0, here, nil), true},
		"another BrokerCluster for the same servers":    {claims("x", "T", 0, there, one), true},
		"one master in common is enough":                {claims("x", "T", 0, there, overlap), true},
		"another RocketMQ with the same cluster name":   {claims("x", "T", 0, there, two), false},
		"another cluster that is not known yet":         {claims("x", "T", 0, there, nil), false},
		"another topic":                                 {claims("x", "T2", 0, here, one), false},
		"itself":                                        {own, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := 0
			if tc.rival {
				want = 1
			}
			g.Expect(rivals(own, []claimant{own, tc.other})).To(HaveLen(want))
		})
	}
}

func TestK13_TheOldestHoldsAndTiesGoByUID(t *testing.T) {
	id := observe.ID{Name: "shop"}
	rapid.Check(t, func(t *rapid.T) {
		ages := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 6).Draw(t, "ages")
		gone := rapid.SliceOfN(rapid.Bool(), len(ages), len(ages)).Draw(t, "being deleted")
		var all []claimant
		for i, age := range ages {
			c := claims(string(rune('a'+i)), "T", time.Duration(age)*time.Minute, id, nil)
			if gone[i] {
				c.Topic.DeletionTimestamp = &metav1.Time{Time: born}
			}
			all = append(all, c)
		}
		got := holder(all)
		next := heir(all)
		for i, c := range all {
			if older(c, claimant{Topic: got}) < 0 {
				t.Fatalf("%s is older than the holder %s", c.Topic.UID, got.UID)
			}
			switch {
			case gone[i] && next == c.Topic:
				t.Fatalf("%s is being deleted and inherits", c.Topic.UID)
			case gone[i]:
			case next == nil:
				t.Fatalf("nobody inherits although %s lives", c.Topic.UID)
			case older(c, claimant{Topic: next}) < 0:
				t.Fatalf("%s is older than the heir %s", c.Topic.UID, next.UID)
			}
		}
	})
}

func TestConflictMessageNamesTheHolder(t *testing.T) {
	g := NewWithT(t)
	id := observe.ID{Name: "shop"}
	older, younger := claims("a", "T", time.Hour, id, nil).Topic, claims("b", "T", 0, id, nil).Topic
	g.Expect(conflictMessage(younger, older)).To(Equal("topic T is held by Topic ns-a/t, which is older; nothing is changed for this object; delete one of the two"))
	twin := claims("c", "T", 0, id, nil).Topic
	g.Expect(conflictMessage(twin, younger)).To(ContainSubstring("of the same age; the smaller UID decides"))
}
