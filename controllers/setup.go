// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/lockstep-dev/lockstep/internal/observe"
)

// Options are what the operator as a whole is told.
type Options struct {
	// Namespace is the operator's own, where notes are kept.
	Namespace string
	// Concurrency is how many topics are reconciled at a time.
	Concurrency int
	// Metrics takes what is exported of objects; controller-runtime's registry
	// unless set.
	Metrics prometheus.Registerer
	// Clock is the system's unless set.
	Clock actorClock
}

// Setup adds the observers and all reconcilers to a manager.
func Setup(mgr ctrl.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = metrics.Registry
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
		Namespace: o.Namespace, Concurrency: o.Concurrency, Metrics: o.Metrics,
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
