// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// startWatching follows Pods, Nodes, ConfigMaps and Secrets, and begins to work.
func (a *Agent) startWatching(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(a.client, 0)
	core := factory.Core().V1()
	a.objects = objects{configMaps: core.ConfigMaps().Lister(), secrets: core.Secrets().Lister()}
	a.nodes = core.Nodes().Lister()
	s := &scheduler{client: a.client, pods: core.Pods().Lister(), nodes: a.nodes, recorder: a.recorder,
		log: a.log, wake: make(chan struct{}, 1), assumed: map[podKey]string{}}

	changed := func(any) { signal(s.wake) }
	reference := func(object any) {
		if object, ok := unwrap(object).(metav1.Object); ok {
			a.objectChanged(object.GetNamespace())
		}
	}
	for informer, handle := range map[cache.SharedIndexInformer]func(any){
		core.Nodes().Informer():      changed,
		core.ConfigMaps().Informer(): reference,
		core.Secrets().Informer():    reference,
	} {
		if _, err := informer.AddEventHandler(onAny(handle)); err != nil {
			return fmt.Errorf("watching: %w", err)
		}
	}
	factory.Start(a.ctx.Done())
	a.loops.Go(factory.Shutdown)
	if err := synced(ctx, factory); err != nil {
		return err
	}
	// Pods come last: their containers read the other caches.
	if _, err := core.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { a.podSeen(s, object) },
		UpdateFunc: func(old, object any) {
			if was, is := old.(*corev1.Pod), object.(*corev1.Pod); was.UID != is.UID {
				a.podGone(was.UID) // deleted and made anew between two looks
			}
			a.podSeen(s, object)
		},
		DeleteFunc: func(object any) {
			if pod, ok := unwrap(object).(*corev1.Pod); ok {
				a.podGone(pod.UID)
			}
			signal(s.wake)
		},
	}); err != nil {
		return fmt.Errorf("watching Pods: %w", err)
	}
	factory.Start(a.ctx.Done())
	if err := synced(ctx, factory); err != nil {
		return err
	}
	a.loops.Go(func() { s.run(a.ctx) })
	a.loops.Go(a.keepReady)
	return nil
}

func (a *Agent) podSeen(s *scheduler, object any) {
	pod := object.(*corev1.Pod)
	switch pod.Spec.NodeName {
	case "":
		signal(s.wake)
	case a.options.NodeName:
		a.pod(pod)
	}
}

func synced(ctx context.Context, factory informers.SharedInformerFactory) error {
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return fmt.Errorf("%s: %w", kind, errNotSynced)
		}
	}
	return nil
}

func onAny(handle func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: handle, UpdateFunc: func(_, object any) { handle(object) }, DeleteFunc: handle}
}

// unwrap returns the last known state of an object whose deletion was missed.
func unwrap(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}
