// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// +kubebuilder:rbac:groups=rocketmq.lockstep.dev,resources=topics,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=rocketmq.lockstep.dev,resources=topics/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=rocketmq.lockstep.dev,resources=topics/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// TopicReconciler holds Topics in step with RocketMQ. A topic at rest is judged
// from the last sweep: that reads memory, calls nobody and writes nothing. Only
// a topic in a change is looked at (design, 3).
type TopicReconciler struct {
	// Client reads from the cache, and what was written is read back from it
	// only when it has arrived there.
	Client client.Client
	// Live reads past the cache: what precedes a cut, and notes (rules K10, K11).
	Live client.Reader
	// Observers are the clusters that are observed.
	Observers *observe.Manager
	// Events records events.
	Events recorder
	// Clock is the process's clock.
	Clock actorClock
	// Namespace is the operator's own, where notes are kept.
	Namespace string
	// Metrics takes the metrics of all Topics; a registry takes those of one
	// reconciler.
	Metrics prometheus.Registerer
	// Concurrency is how many topics are reconciled at a time.
	Concurrency int

	actors   *actors
	memories *memories
	wakes    *observe.Subscription
}

// topicPass is one pass over one topic.
type topicPass struct {
	r     *TopicReconciler
	topic *rocketmqv1alpha1.Topic
	was   *rocketmqv1alpha1.Topic
	mem   *memory
	now   time.Time

	cluster  *rocketmqv1alpha1.BrokerCluster
	id       observe.ID
	observer *observe.Observer
	sweep    *snapshot.Cluster
	view     sweepView

	note   note
	noteCM *corev1.ConfigMap

	stand    standing
	decision *resize.Decision
	look     *snapshot.TopicLook

	// again is when to come back, unless something wakes the topic before.
	again time.Duration
	// silent ends the pass without a status write.
	silent bool
}

// step is one named part of a pass. It returns done when the pass is over.
type topicStep func(*topicPass, context.Context) (done bool, err error)

// Reconcile brings one topic one step nearer to what is declared.
func (r *TopicReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	topic := &rocketmqv1alpha1.Topic{}
	if err := r.Client.Get(ctx, req.NamespacedName, topic); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(req)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading Topic %s: %w", req.NamespacedName, err)
	}
	p := &topicPass{
		r: r, topic: topic, was: topic.DeepCopy(), now: r.Clock.Now(),
		mem: r.memories.of(req.NamespacedName, topic.UID),
	}
	var failed error
	for _, step := range []topicStep{
		(*topicPass).paused,
		(*topicPass).loadNote,
		(*topicPass).findCluster,
		(*topicPass).claim,
		(*topicPass).deletion,
		(*topicPass).admit,
		(*topicPass).adopt,
		(*topicPass).guardDeletion,
		(*topicPass).atRest,
		(*topicPass).repairDrift,
		(*topicPass).createFirst,
		(*topicPass).change,
	} {
		done, err := step(p, ctx)
		if err != nil || done {
			failed = err
			break
		}
	}
	return p.finish(ctx, failed)
}

func (r *TopicReconciler) forget(req ctrl.Request) {
	r.memories.forget(req.NamespacedName)
	r.wakes.Forget(keyOf(req.NamespacedName))
}

// block ends the pass with the reason why nothing is planned.
func (p *topicPass) block(b blocked) bool {
	p.stand.Blocked = &b
	return true
}
