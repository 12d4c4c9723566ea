// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// reported is a topic after a pass with this standing.
func reported(t *testing.T, s standing, prepare ...func(*rocketmqv1alpha1.Topic)) *rocketmqv1alpha1.Topic {
	t.Helper()
	topic := &rocketmqv1alpha1.Topic{
		TypeMeta:   metav1.TypeMeta{APIVersion: rocketmqv1alpha1.GroupVersion.String(), Kind: "Topic"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Generation: 2},
	}
	topic.Status.ObservedGeneration = 2
	for _, p := range prepare {
		p(topic)
	}
	reportConditions(topic, s, born)
	topic.Status.ObservedGeneration = topic.Generation
	return topic
}

func kstatusOf(t *testing.T, topic *rocketmqv1alpha1.Topic) status.Status {
	t.Helper()
	g := NewWithT(t)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(topic)
	g.Expect(err).NotTo(HaveOccurred())
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	g.Expect(err).NotTo(HaveOccurred())
	return result.Status
}

func says(topic *rocketmqv1alpha1.Topic, kind string) string {
	c := meta.FindStatusCondition(topic.Status.Conditions, kind)
	if c == nil {
		return "–"
	}
	return string(c.Status)
}

func held(stage resize.Stage, inForce bool, holds ...resize.Hold) standing {
	return standing{
		Decision: resize.Decision{Stage: stage, InForce: inForce, Holds: holds, Open: stage != resize.StageSteady, Proof: resize.Proof{Target: 64, Write: 64, NameServers: 2}},
		Routed:   true, Brokers: 2, NameServers: 2, Grace: unknownGrace,
	}
}

// Each row is a row of docs/states.md.
func TestK07_StatesAndKstatus(t *testing.T) {
	steady := held(resize.StageSteady, true)
	steady.Decision.AsDeclared = true
	creating := held(resize.StageCreating, false)
	failed := held(resize.StageSteady, true)
	failed.Failed = "broker-b: refused"
	drifted := held(resize.StageSteady, true)
	drifted.Drift = "broker-a: permission is 4, declared 6"
	unrouted := held(resize.StageSteady, true)
	unrouted.Routed = false
	wasReady := func(topic *rocketmqv1alpha1.Topic) {
		meta.SetStatusCondition(&topic.Status.Conditions, metav1.Condition{Type: rocketmqv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: rocketmqv1alpha1.ReasonAsNeeded, LastTransitionTime: metav1.NewTime(born)})
	}
	edited := func(topic *rocketmqv1alpha1.Topic) { topic.Generation = 3 }
	justUnknown := standing{Blocked: &blocked{Reason: rocketmqv1alpha1.ReasonUnreachable, Message: "broker-b does not answer", Unsure: true}, UnknownSince: born.Add(-time.Minute), Grace: unknownGrace}
	longUnknown := justUnknown
	longUnknown.UnknownSince = born.Add(-unknownGrace)
	inChange := held(resize.StageSettling, false, resize.Hold{Reason: resize.ReasonUnknown, Broker: "broker-b", Queue: resize.NoQueue, Why: "no answer"})

	for name, tc := range map[string]struct {
		stand                       standing
		prepare                     []func(*rocketmqv1alpha1.Topic)
		ready, reconciling, stalled string
		declared                    string
		kstatus                     status.Status
	}{
		"as declared":               {steady, nil, "True", "–", "–", "True", status.CurrentStatus},
		"creating":                  {creating, nil, "False", "True", "–", "False", status.InProgressStatus},
		"a broker failed":           {failed, nil, "False", "True", "–", "False", status.InProgressStatus},
		"drifted":                   {drifted, nil, "False", "True", "–", "False", status.InProgressStatus},
		"a name server is behind":   {unrouted, nil, "False", "True", "–", "False", status.InProgressStatus},
		"growing":                   {held(resize.StageWideningReads, false), nil, "False", "True", "–", "False", status.InProgressStatus},
		"narrowing writes":          {held(resize.StageNarrowingWrites, false), nil, "False", "True", "–", "False", status.InProgressStatus},
		"settling":                  {held(resize.StageSettling, true, resize.Hold{Reason: resize.ReasonRouteAge, Queue: resize.NoQueue}), nil, "False", "True", "–", "False", status.InProgressStatus},
		"repairing":                 {held(resize.StageRepairing, true), nil, "False", "True", "–", "False", status.InProgressStatus},
		"draining":                  {held(resize.StageDraining, true, resize.Hold{Reason: resize.ReasonUnread, Group: "G", Count: 7, Queue: resize.NoQueue}), nil, "True", "–", "–", "False", status.CurrentStatus},
		"draining, offline group":   {held(resize.StageDraining, true, resize.Hold{Reason: resize.ReasonGroupOffline, Group: "G", Count: 7, Queue: resize.NoQueue}), nil, "True", "–", "–", "False", status.CurrentStatus},
		"watched":                   {held(resize.StageWatching, true, resize.Hold{Reason: resize.ReasonRetiredWatched, Queue: resize.NoQueue}), nil, "True", "–", "–", "False", status.CurrentStatus},
		"approval of the write cut": {held(resize.StageNarrowingWrites, false, resize.Hold{Reason: resize.ReasonAwaitingApproval, Queue: resize.NoQueue}), nil, "False", "–", "–", "False", status.InProgressStatus},
		"approval of the read cut":  {held(resize.StageNarrowingReads, true, resize.Hold{Reason: resize.ReasonAwaitingApproval, Queue: resize.NoQueue}), nil, "True", "–", "–", "False", status.CurrentStatus},
		"ordered topic":             {held(resize.StageSteady, false, resize.Hold{Reason: resize.ReasonOrderedTopic, Queue: resize.NoQueue, Why: "x"}), nil, "False", "–", "True", "False", status.FailedStatus},
		"cluster missing":           {standing{Blocked: &blocked{Reason: rocketmqv1alpha1.ReasonBrokerClusterNotFound, Message: "m"}}, nil, "False", "True", "–", "False", status.InProgressStatus},
		"not allowed":               {standing{Blocked: &blocked{Reason: rocketmqv1alpha1.ReasonNotAllowed, Message: "m"}}, nil, "False", "True", "–", "False", status.InProgressStatus},
		"reserved name":             {standing{Blocked: &blocked{Reason: rocketmqv1alpha1.ReasonReservedName, Message: "m", Edit: true}}, nil, "False", "–", "True", "False", status.FailedStatus},
		"unreachable at rest":       {justUnknown, []func(*rocketmqv1alpha1.Topic){wasReady}, "True", "–", "–", "–", status.CurrentStatus},
		"unreachable for long":      {longUnknown, []func(*rocketmqv1alpha1.Topic){wasReady}, "Unknown", "–", "–", "Unknown", status.InProgressStatus},
		"unreachable after an edit": {justUnknown, []func(*rocketmqv1alpha1.Topic){wasReady, edited}, "Unknown", "True", "–", "Unknown", status.InProgressStatus},
		"unreachable in a change":   {inChange, []func(*rocketmqv1alpha1.Topic){wasReady}, "Unknown", "True", "–", "Unknown", status.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			topic := reported(t, tc.stand, tc.prepare...)
			g.Expect(says(topic, rocketmqv1alpha1.ConditionReady)).To(Equal(tc.ready), "Ready")
			g.Expect(says(topic, rocketmqv1alpha1.ConditionReconciling)).To(Equal(tc.reconciling), "Reconciling")
			g.Expect(says(topic, rocketmqv1alpha1.ConditionStalled)).To(Equal(tc.stalled), "Stalled")
			g.Expect(says(topic, rocketmqv1alpha1.ConditionAsDeclared)).To(Equal(tc.declared), "AsDeclared")
			g.Expect(kstatusOf(t, topic)).To(Equal(tc.kstatus))
			for _, c := range topic.Status.Conditions {
				g.Expect(len(c.Message)).To(BeNumerically("<=", rocketmqv1alpha1.MaxConditionMessage))
				g.Expect(c.Reason).To(MatchRegexp("^[A-Z][A-Za-z]*$"))
			}
		})
	}
}

func TestDrainingSaysWhoAndHowMuch(t *testing.T) {
	g := NewWithT(t)
	topic := reported(t, held(resize.StageDraining, true,
		resize.Hold{Reason: resize.ReasonGroupOffline, Group: "old-report", Count: 1674, Expired: 210, Queue: resize.NoQueue, Of: 128,
			Where: []resize.QueueRef{{Broker: "broker-b", Queue: 97}, {Broker: "broker-a", Queue: 70}}, More: 7}))
	c := meta.FindStatusCondition(topic.Status.Conditions, rocketmqv1alpha1.ConditionDraining)
	g.Expect(c).NotTo(BeNil())
	g.Expect(c.Reason).To(Equal(rocketmqv1alpha1.ReasonGroupOffline))
	g.Expect(c.Message).To(And(ContainSubstring("old-report"), ContainSubstring("1,674"), ContainSubstring("broker-b/97"), ContainSubstring("210 more have expired"), ContainSubstring("spec.resize.waivers")))
	short := meta.FindStatusCondition(topic.Status.Conditions, rocketmqv1alpha1.ConditionAsDeclared)
	g.Expect(len(short.Message)).To(BeNumerically("<", 80), "the column WAITS FOR stays short: %s", short.Message)
}

func TestConditionTimesMoveOnlyWithStatus(t *testing.T) {
	g := NewWithT(t)
	s := held(resize.StageDraining, true, resize.Hold{Reason: resize.ReasonUnread, Group: "G", Count: 7, Queue: resize.NoQueue})
	topic := reported(t, s)
	before := topic.DeepCopy()
	reportConditions(topic, s, born.Add(time.Hour))
	g.Expect(topic.Status).To(Equal(before.Status), "case O10: a second pass writes nothing")
}

// A consumer can take a late message within a second of the re-opening; who
// looks at the object a moment later is still told why reads are wide.
func TestR11_LateMessagesStayTrueUntilReadsAreNarrowedAgain(t *testing.T) {
	g := NewWithT(t)
	late := held(resize.StageReopening, true)
	late.Decision.Findings = []resize.Hold{{Reason: resize.FindingLateMessage, Group: "CG", Queue: resize.NoQueue, Count: 1}}
	topic := reported(t, late)
	condition := func() *metav1.Condition {
		return meta.FindStatusCondition(topic.Status.Conditions, rocketmqv1alpha1.ConditionLateMessages)
	}
	g.Expect(condition()).NotTo(BeNil())
	said := condition().Message
	for _, stage := range []resize.Stage{resize.StageSettling, resize.StageDraining, resize.StageNarrowingReads} {
		reportConditions(topic, held(stage, true), born)
		g.Expect(condition()).NotTo(BeNil(), string(stage))
		g.Expect(condition().Message).To(Equal(said))
	}
	reportConditions(topic, held(resize.StageWatching, true), born)
	g.Expect(condition()).To(BeNil(), "narrowed again")
	reportConditions(topic, held(resize.StageDraining, true), born)
	g.Expect(condition()).To(BeNil(), "nothing was late in this change")
}
