// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
	"github.com/lockstep-dev/lockstep/test/rig/controlplane"
	"github.com/lockstep-dev/lockstep/test/rig/nodeagent"
)

// podGrace is how long Pods may take to end when the world stops.
const podGrace = 5 * time.Second

// cluster is the Kubernetes that the world lives on: one of our own, or one
// that was there before.
type cluster struct {
	kubeconfig string
	config     *rest.Config
	// plane and node are nil for an existing cluster.
	plane *controlplane.ControlPlane
	node  *nodeagent.Agent
}

// existingCluster reads a kubeconfig file.
func existingCluster(kubeconfig string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, &PartError{Part: "the existing cluster", Err: fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err),
			Try: "kubectl --kubeconfig " + kubeconfig + " get nodes"}
	}
	return &cluster{kubeconfig: kubeconfig, config: config}, nil
}

// ownCluster builds what is missing and starts a control plane and a node.
func ownCluster(ctx context.Context, o Options) (*cluster, error) {
	bin, err := assets.Dir(assets.Etcd, assets.APIServer, assets.ControllerManager)
	if err != nil {
		if bin, err = ControlPlane(ctx, o.Log); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(o.Dir, "control-plane")
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, BinDir: bin})
	if err != nil {
		return nil, &PartError{Part: "the control plane", Err: err,
			Try: "see the logs in " + filepath.Join(dir, "logs") + "; is another program short of memory or disk?"}
	}
	c := &cluster{kubeconfig: plane.Kubeconfig(), config: plane.Config(), plane: plane}
	c.node, err = nodeagent.Start(ctx, nodeagent.Options{Config: plane.Config(), Dir: filepath.Join(o.Dir, "node"), Log: logr.Discard()})
	if err != nil {
		return nil, errors.Join(&PartError{Part: "the node agent", Err: err}, c.stop())
	}
	return c, nil
}

// stop ends what was started; an existing cluster stays.
func (c *cluster) stop() error {
	var errs []error
	if c.node != nil {
		errs = append(errs, c.node.Stop(podGrace))
	}
	if c.plane != nil {
		errs = append(errs, c.plane.Stop())
	}
	return errors.Join(errs...)
}

// alone refuses an existing cluster on which Lockstep is installed: the two
// operators would share one lease, and ours would change its roles.
func (w *World) alone(ctx context.Context) error {
	if w.cluster.plane != nil {
		return nil
	}
	key := client.ObjectKey{Namespace: SystemNamespace, Name: "lockstep-manager"}
	if err := w.Client.Get(ctx, key, &appsv1.Deployment{}); err != nil {
		return client.IgnoreNotFound(err)
	}
	return &PartError{Part: "the existing cluster", Err: fmt.Errorf("it runs Lockstep already (Deployment %s)", key),
		Try: "another cluster, or none: then one of our own is started"}
}
