// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// shrinking is a Topic of generation 2 in a stage.
func shrinking(stage v1alpha1.Stage, holds ...v1alpha1.Hold) *v1alpha1.Topic {
	topic := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	topic.Spec.Queues.PerBroker = 64
	topic.Status.NameServers = &v1alpha1.NameServerAgreement{Asked: ptr.To(int32(2)), Agreeing: ptr.To(int32(2))}
	topic.Status.Change = &v1alpha1.QueueChange{Generation: 2, Stage: stage, WaitsFor: holds, Brokers: []v1alpha1.BrokerChange{
		{Name: "broker-a", From: ptr.To(int32(128)), To: ptr.To(int32(64))},
		{Name: "broker-b", From: ptr.To(int32(128)), To: ptr.To(int32(64))},
	}}
	return topic
}

// atRest is a Topic as declared, of that generation.
func atRest(generation int64) *v1alpha1.Topic {
	topic := &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
	topic.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAsDeclared, Status: metav1.ConditionTrue, ObservedGeneration: generation}}
	return topic
}

func TestTracker_GoesThroughTheStages(t *testing.T) {
	g := NewWithT(t)
	tr := newTracker(2)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	see := func(topic *v1alpha1.Topic, after time.Duration) ([]int, bool) {
		now = now.Add(after)
		return tr.see(topic, now)
	}
	left, back := see(atRest(1), 0)
	g.Expect(left).To(BeEmpty(), "as declared before the edit")
	g.Expect(back).To(BeFalse())
	g.Expect(tr.over()).To(BeFalse())

	left, _ = see(shrinking(v1alpha1.StageNarrowingWrites), time.Second)
	g.Expect(left).To(BeEmpty())
	left, _ = see(shrinking(v1alpha1.StageSettling), 3*time.Second)
	g.Expect(left).To(Equal([]int{0, 1}), "routes were there at once")
	g.Expect(tr.spent[0]).To(Equal(3 * time.Second))
	g.Expect(tr.spent[1]).To(BeZero())
	g.Expect(tr.proof[0]).To(Equal("broker-a 128→64, broker-b 128→64"))
	g.Expect(tr.proof[1]).To(Equal("2 of 2 name servers route 64 writable"))

	see(shrinking(v1alpha1.StageDraining), 50*time.Second)
	_, back = see(shrinking(v1alpha1.StageSettling), 5*time.Second)
	g.Expect(back).To(BeTrue())
	see(shrinking(v1alpha1.StageDraining), 40*time.Second)
	g.Expect(tr.spent[2]).To(Equal(90*time.Second), "both times count")
	left, _ = see(shrinking(v1alpha1.StageWatchingRetired), 10*time.Second)
	g.Expect(left).To(Equal([]int{4, 5, 6}))
	g.Expect(tr.over()).To(BeFalse())
	left, _ = see(atRest(2), 30*time.Second)
	g.Expect(left).To(Equal([]int{7}))
	g.Expect(tr.over()).To(BeTrue())
	g.Expect(tr.proof[7]).To(ContainSubstring("128 retired queues"))
}

func TestTracker_AnotherChangeIsNotOurs(t *testing.T) {
	g := NewWithT(t)
	tr := newTracker(3)
	left, _ := tr.see(shrinking(v1alpha1.StageDraining), time.Now())
	g.Expect(left).To(BeEmpty())
	g.Expect(tr.at).To(Equal(-1))
	tr.see(atRest(3), time.Now())
	g.Expect(tr.over()).To(BeFalse(), "a change that was never seen is not over")
}

func TestWaitsFor(t *testing.T) {
	g := NewWithT(t)
	topic := shrinking(v1alpha1.StageDraining, v1alpha1.Hold{Message: "a"}, v1alpha1.Hold{Message: "b"})
	topic.Status.Change.Omitted = 3
	g.Expect(waitsFor(topic)).To(Equal("a; b; 3 more"))
	topic = shrinking(v1alpha1.StageProvingAgain)
	topic.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDraining, Message: "a fresh look"}}
	g.Expect(waitsFor(topic)).To(Equal("a fresh look"))
}
