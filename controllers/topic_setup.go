// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// Fields by which Topics are found in the cache.
const (
	indexTopicName  = "topicName"
	indexClusterRef = "clusterRef"
)

// SetupWithManager registers the reconciler and everything that wakes a topic:
// edits of it, of its BrokerCluster and of its namespace's labels, the coming
// and going of another object with the same name, and sweeps.
func (r *TopicReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.actors, r.memories = newActors(r.Clock), newMemories()
	if err := r.Metrics.Register(newTopicCollector(r.Client, mgr.Elected())); err != nil {
		return fmt.Errorf("registering the metrics of Topics: %w", err)
	}
	if err := indexTopics(mgr); err != nil {
		return err
	}
	namespaces := &metav1.PartialObjectMetadata{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return ctrl.NewControllerManagedBy(mgr).
		Named("topic").
		For(&rocketmqv1alpha1.Topic{}, builder.WithPredicates(edited())).
		Watches(&rocketmqv1alpha1.Topic{}, handler.EnqueueRequestsFromMapFunc(r.namesakes), builder.WithPredicates(comesOrGoes())).
		Watches(&rocketmqv1alpha1.BrokerCluster{}, handler.EnqueueRequestsFromMapFunc(r.topicsOfCluster), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(namespaces, handler.EnqueueRequestsFromMapFunc(r.topicsOfNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesRawSource(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			r.wakes = wakesFrom(ctx, r.Observers.Hub(), queue)
			return nil
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(r.Concurrency, 1)}).
		Complete(r)
}

// edited lets pass what a person or a pipeline changes: spec, annotations,
// deletion. Our own status writes wake nobody.
func edited() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}

// comesOrGoes lets pass what changes who holds a name.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return true },
		DeleteFunc:  func(event.DeleteEvent) bool { return true },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
	}
}

func indexTopics(mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	for field, value := range map[string]func(*rocketmqv1alpha1.Topic) string{
		indexTopicName: (*rocketmqv1alpha1.Topic).EffectiveName,
		indexClusterRef: func(t *rocketmqv1alpha1.Topic) string {
			namespace, name := t.ClusterKey()
			return namespace + "/" + name
		},
	} {
		extract := func(o client.Object) []string {
			if t, ok := o.(*rocketmqv1alpha1.Topic); ok {
				return []string{value(t)}
			}
			return nil
		}
		if err := indexer.IndexField(context.Background(), &rocketmqv1alpha1.Topic{}, field, extract); err != nil {
			return fmt.Errorf("indexing Topics by %s: %w", field, err)
		}
	}
	return nil
}

// claimants are all objects that declare a topic of this name, on any cluster.
func (r *TopicReconciler) claimants(ctx context.Context, name string) ([]claimant, error) {
	list := &rocketmqv1alpha1.TopicList{}
	// A list in step with our own writes waits for those of all other workers,
	// which makes them take turns. Who claims a name is never ours to write.
	if err := r.Client.List(ctx, list, client.MatchingFields{indexTopicName: name}, client.DisableReadYourWritesConsistency); err != nil {
		return nil, fmt.Errorf("listing Topics that declare %s: %w", name, err)
	}
	out := make([]claimant, 0, len(list.Items))
	for i := range list.Items {
		topic := &list.Items[i]
		namespace, clusterName := topic.ClusterKey()
		c := claimant{Topic: topic, Cluster: observe.ID{Namespace: namespace, Name: clusterName}}
		if observer, ok := r.Observers.Get(c.Cluster); ok {
			c.Identity, c.Known = observer.Identity()
		}
		out = append(out, c)
	}
	return out, nil
}

func (r *TopicReconciler) namesakes(ctx context.Context, o client.Object) []reconcile.Request {
	topic, ok := o.(*rocketmqv1alpha1.Topic)
	if !ok {
		return nil
	}
	return r.requests(ctx, o, client.MatchingFields{indexTopicName: topic.EffectiveName()})
}

func (r *TopicReconciler) topicsOfCluster(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, nil, client.MatchingFields{indexClusterRef: o.GetNamespace() + "/" + o.GetName()})
}

func (r *TopicReconciler) topicsOfNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, nil, client.InNamespace(o.GetName()))
}

// requests are the Topics of a list, without the one that asks.
func (r *TopicReconciler) requests(ctx context.Context, but client.Object, opts ...client.ListOption) []reconcile.Request {
	list := &rocketmqv1alpha1.TopicList{}
	if err := r.Client.List(ctx, list, append(opts, client.DisableReadYourWritesConsistency)...); err != nil {
		// The cache answers lists from memory; it fails only while it stops.
		ctrl.LoggerFrom(ctx).Error(err, "Listing Topics to wake")
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if but != nil && list.Items[i].UID == but.GetUID() {
			continue
		}
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

func (r *TopicReconciler) notes() notes {
	return notes{reader: r.Client, live: r.Live, writer: r.Client, namespace: r.Namespace}
}
