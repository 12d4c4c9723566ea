// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// recorder is the part of an event recorder that is used.
type recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// maxEventNote is the longest note of an event that the API server takes.
const maxEventNote = 1024

// announce sends events for what changed between two statuses, after the new
// one was written. The reason of an event is the reason of its condition; a
// stage gets one event.
func announce(r recorder, topic *rocketmqv1alpha1.Topic, was *rocketmqv1alpha1.TopicStatus) {
	say := func(kind, reason, action, note string) {
		r.Eventf(topic, nil, kind, reason, action, "%s", rocketmqv1alpha1.Cut(note, maxEventNote))
	}
	is := &topic.Status
	if stageOf(was) != stageOf(is) {
		if stage := stageOf(is); stage != "" {
			say(corev1.EventTypeNormal, stage, "Resize", stageNote(topic))
		} else {
			say(corev1.EventTypeNormal, rocketmqv1alpha1.ReasonAsDeclared, "Resize", "the change of queues is over")
		}
	}
	for _, c := range eventConditions() {
		before, now := meta.FindStatusCondition(was.Conditions, c.kind), meta.FindStatusCondition(is.Conditions, c.kind)
		if now == nil || now.Status != c.when || same(before, now) {
			continue
		}
		say(c.event, now.Reason, c.action, now.Message)
	}
}

type eventCondition struct {
	kind   string
	when   metav1.ConditionStatus
	event  string
	action string
}

func eventConditions() []eventCondition {
	return []eventCondition{
		{rocketmqv1alpha1.ConditionStalled, metav1.ConditionTrue, corev1.EventTypeWarning, "Observe"},
		{rocketmqv1alpha1.ConditionReady, metav1.ConditionUnknown, corev1.EventTypeWarning, "Observe"},
		{rocketmqv1alpha1.ConditionReady, metav1.ConditionTrue, corev1.EventTypeNormal, "Observe"},
		{rocketmqv1alpha1.ConditionLateMessages, metav1.ConditionTrue, corev1.EventTypeWarning, "Resize"},
		{rocketmqv1alpha1.ConditionStranded, metav1.ConditionTrue, corev1.EventTypeWarning, "Observe"},
		{rocketmqv1alpha1.ConditionAdoptedLarger, metav1.ConditionTrue, corev1.EventTypeNormal, "Observe"},
		{rocketmqv1alpha1.ConditionConflict, metav1.ConditionTrue, corev1.EventTypeWarning, "Observe"},
	}
}

// same compares what an event would say: numbers in a message move all the
// time and are no news.
func same(was, is *metav1.Condition) bool {
	return was != nil && was.Status == is.Status && was.Reason == is.Reason
}

func stageOf(s *rocketmqv1alpha1.TopicStatus) string {
	if s.Change == nil {
		return ""
	}
	return string(s.Change.Stage)
}

func stageNote(topic *rocketmqv1alpha1.Topic) string {
	for _, kind := range []string{rocketmqv1alpha1.ConditionDraining, rocketmqv1alpha1.ConditionRetiredQueuesWatched, rocketmqv1alpha1.ConditionReconciling, rocketmqv1alpha1.ConditionAsDeclared} {
		if c := meta.FindStatusCondition(topic.Status.Conditions, kind); c != nil && c.Message != "" {
			return c.Message
		}
	}
	return stageOf(&topic.Status)
}
