// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// SetupWithManager registers the reconciler: edits and sweeps wake it.
func (r *BrokerClusterReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.wrote = newMemories()
	return ctrl.NewControllerManagedBy(mgr).
		Named("brokercluster").
		For(&rocketmqv1alpha1.BrokerCluster{}, builder.WithPredicates(edited())).
		WatchesRawSource(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			r.wakes = wakesFrom(ctx, r.Observers.Hub(), queue)
			return nil
		})).
		Complete(r)
}

// wakesFrom lets sweeps wake objects through a controller's own queue, which
// holds each object once, at low priority: an edit goes first (rule K40).
func wakesFrom(ctx context.Context, hub *observe.Hub, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) *observe.Subscription {
	wakes := hub.Subscribe(func(key observe.Key) {
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: key.Namespace, Name: key.Name}}
		if p, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
			low := handler.LowPriority
			p.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, request)
			return
		}
		queue.Add(request)
	})
	context.AfterFunc(ctx, wakes.Close)
	return wakes
}
