// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelApp selects the Pods of a workload.
const labelApp = "app.kubernetes.io/name"

// Deployment is the manifest of a workload.
func (w *World) Deployment(workload Workload) (*unstructured.Unstructured, error) {
	selector := map[string]string{labelApp: workload.Name}
	container := corev1.Container{
		Name: "client", Image: "lockstep/test-client:" + string(workload.Kind), Command: []string{workload.Program},
		Args: append(append([]string{}, workload.Args...), "--ready-file="+readyFile),
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: field("metadata.name")},
			{Name: "POD_IP", ValueFrom: field("status.podIP")},
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-f", readyFile}}},
			PeriodSeconds: 60,
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "run", MountPath: clientFolder}},
	}
	env := w.environment(workload)
	for _, name := range sortedKeys(env) {
		container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: env[name]})
	}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: workload.Namespace, Name: workload.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(workload.Replicas),
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector},
				Spec: corev1.PodSpec{
					Containers:                    []corev1.Container{container},
					Volumes:                       []corev1.Volume{{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					TerminationGracePeriodSeconds: ptr.To(int64(stopGrace.Seconds())),
					AutomountServiceAccountToken:  ptr.To(false),
				},
			},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	if err != nil {
		return nil, fmt.Errorf("encoding Deployment %s: %w", workload.Name, err)
	}
	// What a person would not write.
	delete(content, "status")
	unstructured.RemoveNestedField(content, "spec", "strategy")
	unstructured.RemoveNestedField(content, "spec", "template", "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: content}, nil
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func (w *World) deployPods(ctx context.Context, workload Workload) (Fleet, error) {
	deployment, err := w.Deployment(workload)
	if err != nil {
		return nil, err
	}
	if err := w.Apply(ctx, deployment); err != nil {
		return nil, err
	}
	key := client.ObjectKey{Namespace: workload.Namespace, Name: workload.Name}
	return &podFleet{client: w.Client, key: key, wanted: workload.Replicas, known: map[types.UID]bool{}}, nil
}

// podFleet is a Deployment.
type podFleet struct {
	client client.Client
	key    client.ObjectKey

	mu sync.Mutex
	// known are the Pods that Restarts saw since the last scaling; wanted is how
	// many there should be.
	known  map[types.UID]bool
	wanted int32
}

func (f *podFleet) String() string { return "Deployment " + f.key.String() }

func (f *podFleet) Scale(ctx context.Context, replicas int32) error {
	deployment := &appsv1.Deployment{}
	if err := f.client.Get(ctx, f.key, deployment); err != nil {
		return fmt.Errorf("reading %v: %w", f, err)
	}
	base := deployment.DeepCopy()
	deployment.Spec.Replicas = ptr.To(replicas)
	if err := f.client.Patch(ctx, deployment, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("scaling %v: %w", f, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = replicas
	clear(f.known)
	return nil
}

func (f *podFleet) Ready(ctx context.Context) (int32, error) {
	deployment := &appsv1.Deployment{}
	if err := f.client.Get(ctx, f.key, deployment); err != nil {
		return 0, fmt.Errorf("reading %v: %w", f, err)
	}
	return deployment.Status.ReadyReplicas, nil
}

func (f *podFleet) pods(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := f.client.List(ctx, &list, client.InNamespace(f.key.Namespace), client.MatchingLabels{labelApp: f.key.Name}); err != nil {
		return nil, fmt.Errorf("listing the Pods of %v: %w", f, err)
	}
	return list.Items, nil
}

func (f *podFleet) Gone(ctx context.Context) (bool, error) {
	pods, err := f.pods(ctx)
	return len(pods) == 0, err
}

// Restarts counts containers that were started again, and Pods that came in the
// place of others since the first call after the last scaling.
func (f *podFleet) Restarts(ctx context.Context) (int, error) {
	pods, err := f.pods(ctx)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	restarts := 0
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil && !f.known[pod.UID] {
			continue // left over from before
		}
		for _, status := range pod.Status.ContainerStatuses {
			restarts += int(status.RestartCount)
		}
		f.known[pod.UID] = true
	}
	return restarts + max(0, len(f.known)-int(f.wanted)), nil
}
