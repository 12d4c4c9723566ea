// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// uninstallTime bounds the removal of what was applied to an existing cluster.
const uninstallTime = time.Minute

// waitForKinds waits until the API server serves our kinds.
func (w *World) waitForKinds(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = errors.Join(w.Client.List(ctx, &rocketmqv1alpha1.BrokerClusterList{}), w.Client.List(ctx, &rocketmqv1alpha1.TopicList{}))
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server does not serve the kinds of config/crd: %w", errors.Join(err, last))
	}
	return nil
}

// uninstall removes from an existing cluster what was not there before, the
// newest first. Topics go while the operator still runs, for it holds a
// finalizer on them.
func (w *World) uninstall() error {
	ctx, cancel := context.WithTimeout(context.Background(), uninstallTime)
	defer cancel()
	w.mu.Lock()
	created := slices.Clone(w.created)
	w.mu.Unlock()
	slices.Reverse(created)
	var errs []error
	for _, object := range created {
		name := fmt.Sprintf("%s %s", object.GetKind(), client.ObjectKeyFromObject(object))
		if object.GetKind() == "Topic" {
			errs = append(errs, w.abandon(ctx, client.ObjectKeyFromObject(object)))
		}
		err := w.Client.Delete(ctx, object)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("removing %s: %w", name, err))
			continue
		}
		if object.GetKind() != "Topic" {
			continue
		}
		err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			return apierrors.IsNotFound(w.Client.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())), nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s was deleted and is still there: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// abandon lets a Topic go although a change is open on it: its RocketMQ goes
// with the world.
func (w *World) abandon(ctx context.Context, key client.ObjectKey) error {
	topic := &rocketmqv1alpha1.Topic{}
	if err := w.Client.Get(ctx, key, topic); err != nil {
		return client.IgnoreNotFound(err)
	}
	base := topic.DeepCopy()
	if topic.Annotations == nil {
		topic.Annotations = map[string]string{}
	}
	topic.Annotations[rocketmqv1alpha1.AnnotationAbandon] = string(topic.UID)
	return client.IgnoreNotFound(w.Client.Patch(ctx, topic, client.MergeFrom(base)))
}
