// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// +kubebuilder:rbac:groups=rocketmq.lockstep.dev,resources=brokerclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=rocketmq.lockstep.dev,resources=brokerclusters/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// BrokerClusterReconciler keeps one observer per BrokerCluster and reports what
// it sees. It writes nothing to RocketMQ.
type BrokerClusterReconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Live reads Secrets past the cache, so that no right to list them is needed.
	Live client.Reader
	// Observers are the observers to keep.
	Observers *observe.Manager
	// Events records events.
	Events recorder
	// Clock is the process's clock.
	Clock clock.Clock

	boxes boxes
	wakes *observe.Subscription
	wrote *memories
}

// boxes holds the credentials of each cluster for its connections.
type boxes struct {
	mu  sync.Mutex
	all map[observe.ID]*credentialBox
}

func (b *boxes) of(id observe.ID) *credentialBox {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[observe.ID]*credentialBox{}
	}
	if b.all[id] == nil {
		b.all[id] = &credentialBox{}
	}
	return b.all[id]
}

func (b *boxes) forget(id observe.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, id)
}

// What wakes nobody is looked at again at these intervals: Secrets, which the
// operator has no right to watch, counts, and the routes that sweeps check in
// turn. Sooner while the servers refuse the credentials, or no route was
// checked yet.
const (
	clusterEvery       = time.Minute
	secretsWhenRefused = 15 * time.Second
	untilRoutesChecked = 5 * time.Second
)

// Reconcile keeps the observer of one BrokerCluster and reports what it saw.
func (r *BrokerClusterReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	id := keyOf(req.NamespacedName)
	cluster := &rocketmqv1alpha1.BrokerCluster{}
	err := r.Client.Get(ctx, req.NamespacedName, cluster)
	if apierrors.IsNotFound(err) || (err == nil && !cluster.DeletionTimestamp.IsZero()) {
		r.Observers.Remove(id)
		r.boxes.forget(id)
		r.wakes.Forget(id)
		r.wrote.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading BrokerCluster %s: %w", req.NamespacedName, err)
	}
	was := cluster.DeepCopy()
	r.wakes.Watch(id, id)
	again, failed := r.observe(ctx, id, cluster)
	if err := r.writeStatus(ctx, was, cluster); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, errors.Join(failed, err)
	}
	return ctrl.Result{RequeueAfter: again}, failed
}

// observe keeps the observer in step with the spec and its Secrets, and reports
// the last sweep.
func (r *BrokerClusterReconciler) observe(ctx context.Context, id observe.ID, cluster *rocketmqv1alpha1.BrokerCluster) (time.Duration, error) {
	now := r.Clock.Now()
	config, err := observerConfig(ctx, r.Live, cluster, r.boxes.of(id))
	var missing *secretError
	if errors.As(err, &missing) {
		// What was observed before is kept; nothing is asked with old or no
		// credentials (case O30).
		r.Observers.Remove(id)
		reportSecret(cluster, missing, now)
		return secretsWhenRefused, nil
	}
	if err != nil {
		return 0, err
	}
	observer, err := r.Observers.Ensure(id, config)
	if err != nil {
		return 0, fmt.Errorf("observing BrokerCluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	r.forgetBroker(observer, cluster)
	sweep := observer.Cluster()
	rival, err := r.holderOf(ctx, id, cluster)
	if err != nil {
		return 0, err
	}
	reportCluster(cluster, sweep, rival, now)
	if denied(sweep) {
		observer.Poke()
		return secretsWhenRefused, nil
	}
	if len(sweep.Routes) == 0 {
		return untilRoutesChecked, nil
	}
	return clusterEvery, nil
}

// holderOf is the older BrokerCluster that leads to the same RocketMQ; nil when
// this one is the oldest (rule R19). Both are observed; topics find each other
// through the physical cluster.
func (r *BrokerClusterReconciler) holderOf(ctx context.Context, id observe.ID, own *rocketmqv1alpha1.BrokerCluster) (*rocketmqv1alpha1.BrokerCluster, error) {
	oldest := own
	for _, other := range r.Observers.SamePhysical(id) {
		candidate := &rocketmqv1alpha1.BrokerCluster{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: other.Namespace, Name: other.Name}, candidate)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading BrokerCluster %s/%s: %w", other.Namespace, other.Name, err)
		}
		if c := candidate.CreationTimestamp.Compare(oldest.CreationTimestamp.Time); c < 0 || (c == 0 && candidate.UID < oldest.UID) {
			oldest = candidate
		}
	}
	if oldest == own {
		return nil, nil
	}
	return oldest, nil
}

func (r *BrokerClusterReconciler) writeStatus(ctx context.Context, was, is *rocketmqv1alpha1.BrokerCluster) error {
	if equality.Semantic.DeepEqual(was.Status, is.Status) {
		return nil
	}
	key := client.ObjectKeyFromObject(is)
	mem := r.wrote.of(key, is.UID)
	now := r.Clock.Now()
	if sameClusterNews(&was.Status, &is.Status) && now.Sub(mem.Wrote) < quietAtRest {
		return nil
	}
	next := is.DeepCopy()
	if err := r.Client.Status().Patch(ctx, next, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("writing status of BrokerCluster %s: %w", key, err)
	}
	mem.Wrote = now
	announceCluster(r.Events, is, &was.Status)
	return nil
}
