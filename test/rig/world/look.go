// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// MergeFrom makes a merge patch with the difference to base.
func MergeFrom(base client.Object) client.Patch { return client.MergeFrom(base) }

// Condition reads an object and returns the status of one of its conditions:
// empty when there is none, or when it speaks about an older spec.
func (w *World) Condition(ctx context.Context, object client.Object, kind string) (metav1.ConditionStatus, error) {
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return "", fmt.Errorf("reading %s: %w", client.ObjectKeyFromObject(object), err)
	}
	c := meta.FindStatusCondition(Conditions(object), kind)
	if c == nil || c.ObservedGeneration != object.GetGeneration() {
		return "", nil
	}
	return c.Status, nil
}

// Conditions are those of a Topic or a BrokerCluster.
func Conditions(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *rocketmqv1alpha1.Topic:
		return o.Status.Conditions
	case *rocketmqv1alpha1.BrokerCluster:
		return o.Status.Conditions
	}
	return nil
}

// Message is the sentence of one of an object's conditions; empty when there is
// none.
func Message(object client.Object, kind string) string {
	if c := meta.FindStatusCondition(Conditions(object), kind); c != nil {
		return c.Message
	}
	return ""
}

// Describe prints what an object says of itself, one line a condition.
func Describe(object client.Object) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, generation %d\n", client.ObjectKeyFromObject(object), object.GetGeneration())
	for _, c := range Conditions(object) {
		fmt.Fprintf(&text, "  %s %s %s (generation %d): %s\n", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
	}
	if topic, ok := object.(*rocketmqv1alpha1.Topic); ok && topic.Status.Change != nil {
		fmt.Fprintf(&text, "  stage %s since %s\n", topic.Status.Change.Stage, topic.Status.Change.StageSince)
		for _, hold := range topic.Status.Change.WaitsFor {
			fmt.Fprintf(&text, "    waits for %s %s\n", hold.Reason, hold.Message)
		}
	}
	return text.String()
}
