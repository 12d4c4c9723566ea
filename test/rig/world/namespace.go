// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Namespace makes a namespace with labels unless it is there.
func (w *World) Namespace(ctx context.Context, name string, labels map[string]string) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	object.SetName(name)
	object.SetLabels(labels)
	return w.Apply(ctx, object)
}
