// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

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
			&rocketmqv1alpha1.Topic{}: {Transform: shareStrings},
			&corev1.ConfigMap{}:       {Namespaces: map[string]cache.Config{namespace: {LabelSelector: notesOnly}}},
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

// shareStrings is a cache transform that drops managed fields and keeps one copy
// of what nearly all Topics say alike: ten thousand of them at rest differ in
// little more than their names.
func shareStrings(object any) (any, error) {
	t, ok := object.(*rocketmqv1alpha1.Topic)
	if !ok {
		return object, nil
	}
	t.ManagedFields = nil
	share(&t.Kind)
	share(&t.APIVersion)
	share(&t.Namespace)
	share(&t.Spec.ClusterRef.Name)
	share(&t.Spec.ClusterRef.Namespace)
	for i := range t.Status.Conditions {
		c := &t.Status.Conditions[i]
		share(&c.Type)
		share(&c.Status)
		share(&c.Reason)
		share(&c.Message)
	}
	for i := range t.Status.Brokers {
		b := &t.Status.Brokers[i]
		share(&b.Name)
		share(&b.Address)
		share(&b.State)
		share(&b.Message)
	}
	if claim := t.Status.Claim; claim != nil {
		share(&claim.Identity)
		share(&claim.Namespace)
	}
	return t, nil
}

// share replaces a string by the one copy that is kept of it.
func share[S ~string](s *S) { *s = unique.Make(*s).Value() }
