// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/lockstep-dev/lockstep/internal/observe"
)

// Options are what the operator as a whole is told.
type Options struct {
	// Namespace is the operator's own, where notes are kept.
	Namespace string
	// Concurrency is how many topics are reconciled at a time.
	Concurrency int
	// Clock is the system's unless set.
	Clock actorClock
}

// CacheOptions keep in memory what reconcilers read: of ConfigMaps only our
// notes, in the operator's own namespace.
func CacheOptions(namespace string) cache.Options {
	isNote, err := labels.NewRequirement(labelNote, selection.Exists, nil)
	notesOnly := labels.Nothing()
	if err == nil {
		notesOnly = labels.NewSelector().Add(*isNote)
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{namespace: {LabelSelector: notesOnly}}},
		},
	}
}

// ClientOptions make reads from the cache wait for our own writes, and keep
// Secrets out of it (rule K40).
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor:                      []client.Object{&corev1.Secret{}},
		EnableReadYourWritesConsistency: ptr.To(true),
	}}
}

// Setup adds the observers and all reconcilers to a manager.
func Setup(mgr ctrl.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	observers := observe.NewManager(observe.Options{Clock: o.Clock, Log: mgr.GetLogger().WithName("observe")})
	if err := mgr.Add(observers); err != nil {
		return fmt.Errorf("adding the observers: %w", err)
	}
	clusters := &BrokerClusterReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Observers: observers,
		Events: mgr.GetEventRecorder("lockstep"), Clock: o.Clock,
	}
	if err := clusters.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up BrokerClusters: %w", err)
	}
	topics := &TopicReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Observers: observers,
		Events: mgr.GetEventRecorder("lockstep"), Clock: o.Clock,
		Namespace: o.Namespace, Concurrency: o.Concurrency,
	}
	if err := topics.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up Topics: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		topics.actors.close()
		return nil
	})); err != nil {
		return fmt.Errorf("adding the end of batches: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
