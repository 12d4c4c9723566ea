// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

func (w *podWorker) client() corev1client.PodInterface {
	return w.agent.client.CoreV1().Pods(w.state.newest().Namespace)
}

// finish writes the last status of a Pod whose containers have ended, if this
// agent ran them, and removes the Pod from the API. It tries until it is done or
// the agent stops.
func (w *podWorker) finish(ran bool) {
	w.state.update(func(f *facts) { f.stopped = true })
	ctx := w.agent.ctx
	if ran {
		w.untilDone(ctx, statusWriter{w.client(), w.state, w.log}.write)
	}
	w.untilDone(ctx, w.remove)
}

func (w *podWorker) untilDone(ctx context.Context, try func(context.Context) error) {
	for ctx.Err() == nil {
		err := try(ctx)
		if err == nil {
			return
		}
		w.log.Error(err, "finishing a Pod")
		if !wait(ctx, nil, retryInterval) {
			return
		}
	}
}

// remove deletes the Pod for good. The UID keeps it from deleting another Pod of
// the same name.
func (w *podWorker) remove(ctx context.Context) error {
	pod := w.state.newest()
	err := w.client().Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions(string(w.uid))})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("removing Pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// unsupported says what a Pod asks for that the rig cannot do and that changes
// how the Pod runs. What can be left out without harm (images, resources,
// security contexts) is not mentioned.
func unsupported(spec *corev1.PodSpec) error {
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil {
			return fmt.Errorf("init container %s has a restart policy of its own: not supported by the rig", c.Name)
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			if probe != nil && probe.GRPC != nil {
				return fmt.Errorf("container %s has a gRPC probe: not supported by the rig", c.Name)
			}
		}
		if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
			return fmt.Errorf("container %s has a postStart hook: not supported by the rig", c.Name)
		}
		for _, m := range c.VolumeMounts {
			if m.MountPath == "/" || m.SubPathExpr != "" {
				return fmt.Errorf("container %s mounts volume %s at / or by subPathExpr: not supported by the rig", c.Name, m.Name)
			}
		}
	}
	return nil
}

// hostsFile is what a kubelet writes into /etc/hosts of a Pod.
func hostsFile(pod *corev1.Pod, address string) string {
	name := hostname(pod)
	names := name
	if pod.Spec.Subdomain != "" {
		names = fmt.Sprintf("%s.%s.%s.svc.cluster.local\t%s", name, pod.Spec.Subdomain, pod.Namespace, name)
	}
	file := "127.0.0.1\tlocalhost\n" + address + "\t" + names + "\n"
	for _, alias := range pod.Spec.HostAliases {
		for _, name := range alias.Hostnames {
			file += alias.IP + "\t" + name + "\n"
		}
	}
	return file
}
