// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// retryInterval is how long the agent waits after a failed call.
const retryInterval = 300 * time.Millisecond

// statusWriter brings the status of one Pod to the API server.
type statusWriter struct {
	client corev1client.PodInterface
	state  *podState
	log    logr.Logger
}

// run writes whenever something changed, until the context ends.
func (w statusWriter) run(ctx context.Context) {
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.state.changed:
		case <-retry.C:
		}
		if err := w.write(ctx); err != nil && ctx.Err() == nil {
			w.log.Error(err, "writing the status of a Pod")
			retry.Reset(retryInterval)
		}
	}
}

// write makes one attempt. A Pod that is gone, or another of the same name, is
// no error: there is nothing to write any more.
func (w statusWriter) write(ctx context.Context) error {
	pod, f := w.state.snapshot()
	wanted := pod.DeepCopy()
	wanted.Status = podStatus(pod, f, time.Now())
	patch, err := statusPatch(pod, wanted)
	if err != nil || patch == nil {
		return err
	}
	written, err := w.client.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("patching the status of Pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	w.state.see(written)
	return nil
}

// statusPatch returns the patch from one status to another, nil when they are
// equal. It holds the UID, so that it cannot hit another Pod of the same name.
func statusPatch(from, to *corev1.Pod) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: from.Status})
	if err != nil {
		return nil, fmt.Errorf("encoding a Pod: %w", err)
	}
	after, err := json.Marshal(corev1.Pod{Status: to.Status})
	if err != nil {
		return nil, fmt.Errorf("encoding a Pod: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("making a patch of a Pod's status: %w", err)
	}
	if string(patch) == "{}" {
		return nil, nil
	}
	var content map[string]any
	if err := json.Unmarshal(patch, &content); err != nil {
		return nil, fmt.Errorf("adding the UID to a patch: %w", err)
	}
	content["metadata"] = map[string]any{"uid": from.UID}
	return json.Marshal(content)
}
