// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// Status writes that only move numbers are this far apart (rule K05).
const (
	quietAtRest   = time.Minute
	quietInChange = 10 * time.Second
)

// finish reports what the pass found and says when to come back.
func (p *topicPass) finish(ctx context.Context, failed error) (ctrl.Result, error) {
	switch {
	case apierrors.IsConflict(failed):
		// Somebody else wrote first; the pass is made again from what they wrote.
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case errors.Is(failed, observe.ErrStopped):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case p.silent:
		return p.result(), failed
	}
	p.report()
	if err := p.writeStatus(ctx, false); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return ctrl.Result{RequeueAfter: time.Second}, failed
		}
		return ctrl.Result{}, errors.Join(failed, err)
	}
	if err := p.dropFinalizer(ctx); err != nil {
		return ctrl.Result{}, errors.Join(failed, err)
	}
	return p.result(), failed
}

func (p *topicPass) result() ctrl.Result {
	if p.again <= 0 {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: p.again}
}

// report writes what the pass found into the status in memory.
func (p *topicPass) report() {
	if rocketmqv1alpha1.IsPaused(p.topic) {
		return
	}
	status := &p.topic.Status
	p.trackUnknown()
	reportConditions(p.topic, p.stand, p.now)
	status.TopicName = p.topic.EffectiveName()
	if p.observer != nil && p.stand.Blocked == nil {
		status.Brokers = p.brokersStatus()
		p.countsStatus()
	}
	if p.decision != nil {
		status.Change = changeStatus(status.Change, *p.decision, p.now)
		status.GivenUp = givenUp(status.GivenUp, *p.decision, p.now)
		status.Stranded = stranded(*p.decision)
		p.routesStatus()
	} else if p.stand.Blocked == nil {
		status.Change = nil
	}
	status.LastHandledReconcileRequest = rocketmqv1alpha1.ReconcileRequest(p.topic)
	status.ObservedGeneration = p.topic.Generation
}

// trackUnknown remembers since when this process sees too little.
func (p *topicPass) trackUnknown() {
	seesTooLittle := p.stand.Blocked != nil && p.stand.Blocked.Unsure
	if p.stand.Blocked == nil && len(p.stand.Decision.Holds) > 0 {
		_, w := holdReason(p.stand.Decision.Holds[0].Reason)
		seesTooLittle = w == unsure
	}
	switch {
	case !seesTooLittle:
		p.mem.UnknownSince = time.Time{}
	case p.mem.UnknownSince.IsZero():
		p.mem.UnknownSince = p.now
	}
	p.stand.UnknownSince = p.mem.UnknownSince
	p.stand.Grace = unknownGrace + spread(p.topic.UID)
	if wait := p.stand.Grace - p.now.Sub(p.mem.UnknownSince); seesTooLittle && p.again == 0 && wait > 0 {
		p.again = wait
	}
}

// standFromLook is what the look says about the topic beside the decision.
func (p *topicPass) standFromLook() {
	p.stand = standing{
		Decision: *p.decision, Drift: p.view.driftSentence(), Routed: true,
		Brokers: p.decision.Proof.Brokers, NameServers: len(p.look.Routes),
	}
}

// writeStatus writes the status if it says something new. Writes that only
// move numbers are spaced out unless forced.
func (p *topicPass) writeStatus(ctx context.Context, force bool) error {
	if equality.Semantic.DeepEqual(p.was.Status, p.topic.Status) {
		return nil
	}
	if !force && sameNews(&p.was.Status, &p.topic.Status) {
		quiet := quietAtRest
		if p.topic.Status.Change != nil {
			quiet = quietInChange
		}
		if wait := quiet - p.now.Sub(p.mem.Wrote); wait > 0 {
			if p.again == 0 || p.again > wait {
				p.again = wait
			}
			return nil
		}
	}
	before := p.was.Status.DeepCopy()
	next := p.topic.DeepCopy()
	next.ObjectMeta = p.was.ObjectMeta
	if err := p.r.Client.Status().Patch(ctx, next, client.MergeFromWithOptions(p.was, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("writing status of Topic %s/%s: %w", p.topic.Namespace, p.topic.Name, err)
	}
	p.mem.Wrote = p.now
	p.topic.ResourceVersion = next.ResourceVersion
	p.was = p.topic.DeepCopy()
	announce(p.r.Events, p.topic, before)
	log.FromContext(ctx).V(1).Info("Status written", "stage", stageOf(&p.topic.Status))
	return nil
}

// dropFinalizer lets the object go when nothing is open any more and its
// policy does not need it (rule K12).
func (p *topicPass) dropFinalizer(ctx context.Context) error {
	if !p.topic.DeletionTimestamp.IsZero() || p.topic.Spec.DeletesTopic() || p.stand.Blocked != nil ||
		!controllerutil.ContainsFinalizer(p.topic, rocketmqv1alpha1.Finalizer) ||
		(p.decision != nil && p.decision.Open) || !p.note.empty() {
		return nil
	}
	return p.patchMeta(ctx, func(t *rocketmqv1alpha1.Topic) { controllerutil.RemoveFinalizer(t, rocketmqv1alpha1.Finalizer) })
}

// spread sets objects apart in time by up to two minutes, so that a cluster
// that stops answering does not make all its topics write at once (rule K07).
func spread(uid types.UID) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(uid))
	return time.Duration(h.Sum32()%120) * time.Second
}
