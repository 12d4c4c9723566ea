// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// verdict is what one condition says.
type verdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

func yes(reason, message string) verdict { return verdict{metav1.ConditionTrue, reason, message} }
func no(reason, message string) verdict  { return verdict{metav1.ConditionFalse, reason, message} }
func unknown(reason, message string) verdict {
	return verdict{metav1.ConditionUnknown, reason, message}
}

// conditionSet collects what a pass says and writes it into a list so that a
// condition that says the same keeps its time.
type conditionSet struct {
	generation int64
	now        time.Time
	list       *[]metav1.Condition
}

func (s conditionSet) set(kind string, v verdict) {
	meta.SetStatusCondition(s.list, metav1.Condition{
		Type: kind, Status: v.Status, Reason: v.Reason, Message: rocketmqv1alpha1.Cut(v.Message, rocketmqv1alpha1.MaxConditionMessage),
		ObservedGeneration: s.generation, LastTransitionTime: atSecond(s.now),
	})
}

// keep sets the condition when there is a verdict and removes it otherwise.
func (s conditionSet) keep(kind string, v *verdict) {
	if v == nil {
		meta.RemoveStatusCondition(s.list, kind)
		return
	}
	s.set(kind, *v)
}

// progress sets the two conditions that kstatus reads beside Ready. Both are
// absent at rest; "False" would say nothing more.
func (s conditionSet) progress(reconciling, stalled *verdict) {
	s.keep(rocketmqv1alpha1.ConditionReconciling, reconciling)
	s.keep(rocketmqv1alpha1.ConditionStalled, stalled)
}
