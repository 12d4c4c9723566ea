// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReleaseLease takes the operator's lease from a leader that was killed, as a
// leader does itself when it ends in good order. Without it the next one waits
// 15 s for the lease to run out. That wait is leader election's own business; a
// test that kills many times need not repeat it.
func (w *World) ReleaseLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: SystemNamespace, Name: Lease}, lease); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("reading the lease: %w", err)
	}
	base := lease.DeepCopy()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = ptr.To(""), ptr.To(int32(1))
	if err := w.Client.Patch(ctx, lease, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("releasing the lease: %w", err)
	}
	return nil
}

// Leader is who holds the operator's lease; empty when nobody does.
func (w *World) Leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: SystemNamespace, Name: Lease}, lease); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}
