// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/act"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// releaseAfter is how long a deletion waits for a cluster or Secret that is
// missing before the object is released without acting (rule K12).
const releaseAfter = time.Minute

// guardDeletion adds the finalizer to a topic that is to be deleted from the
// brokers with its object.
func (p *topicPass) guardDeletion(ctx context.Context) (bool, error) {
	if !p.topic.Spec.DeletesTopic() {
		return false, nil
	}
	return false, p.ensureFinalizer(ctx)
}

// deletion ends the pass of an object that is being deleted: it hands over,
// finishes a watch, deletes the topic when that is asked for and safe, or
// releases it. Absence of an object is never a reason to delete a topic; only
// a deletion that was seen is (case O01).
func (p *topicPass) deletion(ctx context.Context) (bool, error) {
	if p.topic.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if !controllerutil.ContainsFinalizer(p.topic, rocketmqv1alpha1.Finalizer) {
		p.silent = true
		return true, nil
	}
	if rocketmqv1alpha1.IsAbandoned(p.topic) {
		return true, p.release(ctx, corev1.EventTypeWarning, rocketmqv1alpha1.ReasonReleased, "abandoned on request: "+p.leftUndone())
	}
	next, err := p.successor(ctx)
	if err != nil {
		return true, err
	}
	if next != nil {
		return true, p.handOver(ctx, next)
	}
	if len(p.note.Note.Cuts) > 0 || len(p.note.Note.Leaving) > 0 {
		return p.finishWatch(ctx)
	}
	if !p.topic.Spec.DeletesTopic() {
		return true, p.release(ctx, corev1.EventTypeNormal, rocketmqv1alpha1.ReasonReleased, "the topic stays on the brokers: "+p.leftUndone())
	}
	return p.deleteTopic(ctx)
}

// successor is the object that takes the topic over; nil when there is none.
func (p *topicPass) successor(ctx context.Context) (*rocketmqv1alpha1.Topic, error) {
	all, err := p.r.claimants(ctx, p.topic.EffectiveName())
	if err != nil {
		return nil, err
	}
	own := claimant{Topic: p.topic, Cluster: p.id}
	if p.observer != nil {
		own.Identity, own.Known = p.observer.Identity()
	}
	return heir(rivals(own, all)), nil
}

// handOver passes the note on, so that retired queues stay watched, and lets
// the object go, which wakes the successor (case O05).
func (p *topicPass) handOver(ctx context.Context, to *rocketmqv1alpha1.Topic) error {
	if !p.note.empty() {
		store := p.r.notes()
		_, cm, err := store.load(ctx, to.UID)
		if err != nil {
			return err
		}
		if cm == nil {
			if _, err := store.save(ctx, to, p.note, nil); err != nil {
				return err
			}
		}
	}
	return p.release(ctx, corev1.EventTypeNormal, rocketmqv1alpha1.ReasonHandedOver,
		fmt.Sprintf("Topic %s/%s holds topic %s now; nothing was deleted", to.Namespace, to.Name, p.topic.EffectiveName()))
}

// finishWatch keeps the object until its retired queues have been watched to
// the end (rule R23).
func (p *topicPass) finishWatch(ctx context.Context) (bool, error) {
	if _, err := p.change(ctx); err != nil {
		return true, err
	}
	if p.decision != nil && !p.decision.Open {
		p.note = note{}
		p.again = time.Second
		return true, p.persist(ctx)
	}
	return true, nil
}

// deleteTopic deletes the topic from brokers and name servers, but only when
// no member is connected and nothing is unread, or on confirmation (rule K01).
func (p *topicPass) deleteTopic(ctx context.Context) (bool, error) {
	if p.view.Unknown != "" {
		p.block(blocked{Reason: rocketmqv1alpha1.ReasonUnreachable, Unsure: true,
			Message: "the deletion waits: " + first(problemSentence(p.sweep.Problems), p.view.Unknown)})
		return p.releaseWithout(ctx)
	}
	name := p.topic.EffectiveName()
	look, err := p.observer.TopicLook(ctx, name, observe.LookOptions{Queues: p.highestEver()})
	if err != nil {
		return true, fmt.Errorf("looking at topic %s: %w", name, err)
	}
	if why := inUse(look); why != "" && !p.topic.IsDeleteConfirmed() {
		p.again = 30 * time.Second
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonConfirmationNeeded,
			Message: fmt.Sprintf("%s; to delete the topic all the same, set the annotation %s to %s", why, rocketmqv1alpha1.AnnotationConfirmDelete, name)}), nil
	}
	intent, err := p.intend(ctx)
	if err != nil || intent.IsZero() {
		return true, err
	}
	outcome, err := p.actor().Delete(ctx, act.Deletion{Topic: name, Look: look, NotAfter: look.Started.Add(deleteLookAge), Intent: intent})
	if err != nil || !outcome.Gone() {
		p.again = retryAfter
		return p.block(blocked{Reason: rocketmqv1alpha1.ReasonDeleting, Message: deletionLeft(outcome, err)}), nil
	}
	return true, p.release(ctx, corev1.EventTypeNormal, rocketmqv1alpha1.ReasonDeletedTopic, "topic "+name+" was deleted from brokers and name servers")
}

// deleteLookAge is how old the look before a deletion may be (rule R02).
const deleteLookAge = 10 * time.Second

// deletionLeft says what a deletion left, and where.
func deletionLeft(o act.DeletionOutcome, err error) string {
	if err != nil {
		return "the deletion waits: " + oneLine(err)
	}
	var parts []string
	for _, where := range slices.Sorted(maps.Keys(o.Left)) {
		parts = append(parts, where+": "+o.Left[where])
	}
	return "the deletion goes on: " + strings.Join(parts, "; ")
}

// releaseWithout lets an object go whose cluster is missing, after a while
// (rule K12); until then the pass ends with what blocks it.
func (p *topicPass) releaseWithout(ctx context.Context) (bool, error) {
	since := p.topic.DeletionTimestamp
	if since.IsZero() || !controllerutil.ContainsFinalizer(p.topic, rocketmqv1alpha1.Finalizer) {
		return true, nil
	}
	if wait := releaseAfter - p.now.Sub(since.Time); wait > 0 {
		p.again = wait
		return true, nil
	}
	return true, p.release(ctx, corev1.EventTypeWarning, rocketmqv1alpha1.ReasonReleased,
		"released without acting, because "+p.stand.Blocked.Message+"; "+p.leftUndone())
}

// leftUndone says what an object that goes leaves on the brokers.
func (p *topicPass) leftUndone() string {
	if c := p.topic.Status.Change; c != nil {
		if d := meta.FindStatusCondition(p.topic.Status.Conditions, rocketmqv1alpha1.ConditionAsDeclared); d != nil {
			return fmt.Sprintf("a change to %d queues stops in stage %s (%s); reads are nowhere fewer than writes", *c.To, c.Stage, d.Message)
		}
	}
	return "nothing is under way"
}

// release removes the note and the finalizer and says why.
func (p *topicPass) release(ctx context.Context, kind, reason, message string) error {
	if p.noteCM != nil {
		if _, err := p.r.notes().save(ctx, p.topic, note{}, p.noteCM); err != nil {
			return err
		}
	}
	if err := p.patchMeta(ctx, func(t *rocketmqv1alpha1.Topic) { controllerutil.RemoveFinalizer(t, rocketmqv1alpha1.Finalizer) }); err != nil {
		return client.IgnoreNotFound(err)
	}
	p.r.Events.Eventf(p.topic, nil, kind, reason, "Delete", "%s", rocketmqv1alpha1.Cut(message, maxEventNote))
	p.silent = true
	return nil
}
