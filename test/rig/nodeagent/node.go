// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// As in a kubelet: the lease is renewed four times before it runs out.
const (
	leaseSeconds      = 40
	heartbeatInterval = leaseSeconds * time.Second / 4
)

// startNode creates the Node, makes it ready, and renews its lease.
func (a *Agent) startNode(ctx context.Context) error {
	node, err := a.register(ctx)
	if err != nil {
		return err
	}
	if err := a.reportNode(ctx); err != nil {
		return err
	}
	renew := lease.NewController(clock.RealClock{}, a.client, node.Name, leaseSeconds, nil, heartbeatInterval,
		node.Name, corev1.NamespaceNodeLease, func(l *coordinationv1.Lease) error {
			l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
			return nil
		})
	a.loops.Go(func() { renew.Run(klog.NewContext(a.ctx, a.log)) })
	return nil
}

func (a *Agent) register(ctx context.Context) (*corev1.Node, error) {
	labels := map[string]string{
		corev1.LabelHostname: a.options.NodeName, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH}
	maps.Copy(labels, a.options.NodeLabels)
	wanted := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.options.NodeName, Labels: labels}}
	nodes := a.client.CoreV1().Nodes()
	for {
		node, err := nodes.Create(ctx, wanted, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // of an agent before this one
			node, err = nodes.Get(ctx, a.options.NodeName, metav1.GetOptions{})
		}
		switch {
		case err == nil:
			return node, nil
		case utilnet.IsConnectionRefused(err) && wait(ctx, nil, retryInterval):
			// The API server is perhaps about to start.
		default:
			return nil, fmt.Errorf("registering Node %s: %w", a.options.NodeName, err)
		}
	}
}

// keepReady reports the node again whenever somebody else called it not ready,
// as the node lifecycle controller does when the lease has run out.
func (a *Agent) keepReady() {
	for wait(a.ctx, nil, heartbeatInterval) {
		node, err := a.nodes.Get(a.options.NodeName)
		if err == nil && nodeReady(node) {
			continue
		}
		if err := a.reportNode(a.ctx); err != nil && a.ctx.Err() == nil {
			a.log.Error(err, "reporting the node")
		}
	}
}

// reportNode writes the status of the Node. A conflict is tried again: several
// controllers write Nodes.
func (a *Agent) reportNode(ctx context.Context) error {
	nodes := a.client.CoreV1().Nodes()
	for {
		node, err := nodes.Get(ctx, a.options.NodeName, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading Node %s: %w", a.options.NodeName, err)
		}
		a.fillNode(node)
		_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		if err == nil {
			return nil
		}
		if !apierrors.IsConflict(err) || ctx.Err() != nil {
			return fmt.Errorf("writing the status of Node %s: %w", a.options.NodeName, err)
		}
	}
}

func (a *Agent) fillNode(node *corev1.Node) {
	now := metav1.Now()
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(runtime.NumCPU()), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(nodeMemory, resource.BinarySI),
		corev1.ResourcePods:   *resource.NewQuantity(podsPerBlock, resource.DecimalSI),
	}
	node.Status.Capacity, node.Status.Allocatable = resources, resources
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: hostIP}, {Type: corev1.NodeHostName, Address: node.Name}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(a.kubelet.Addr().(*net.TCPAddr).Port)
	node.Status.NodeInfo.KubeletVersion = "lockstep-rig"
	node.Status.NodeInfo.OperatingSystem, node.Status.NodeInfo.Architecture = runtime.GOOS, runtime.GOARCH
	node.Status.NodeInfo.ContainerRuntimeVersion = "process://1"
	for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{
		corev1.NodeReady: corev1.ConditionTrue, corev1.NodeMemoryPressure: corev1.ConditionFalse,
		corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse,
	} {
		setNodeCondition(node, corev1.NodeCondition{Type: kind, Status: status, Reason: "NodeAgentRuns",
			LastHeartbeatTime: now, LastTransitionTime: now})
	}
}

// nodeMemory is only shown; the rig does not limit memory.
const nodeMemory = 16 << 30

func setNodeCondition(node *corev1.Node, c corev1.NodeCondition) {
	for i, old := range node.Status.Conditions {
		if old.Type == c.Type {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			node.Status.Conditions[i] = c
			return
		}
	}
	node.Status.Conditions = append(node.Status.Conditions, c)
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// errNotSynced says that the caches did not fill before the start was given up.
var errNotSynced = errors.New("the caches of the agent did not fill in time")
