// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/process"
	"github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// World is everything that runs. Its methods may be called from any goroutine.
type World struct {
	// Dir holds everything that is written.
	Dir string
	// Kubeconfig is a file with the rights of an administrator; Config and Client
	// use it. Client can also watch.
	Kubeconfig string
	Config     *rest.Config
	Client     client.WithWatch
	// RocketMQ are the servers.
	RocketMQ *rocketmq.Cluster
	// Operator is the operator's process.
	Operator *Operator

	options    Options
	root       string
	cluster    *cluster
	supervisor *process.Supervisor

	mu      sync.Mutex
	created []*unstructured.Unstructured
	stop    sync.Once
	stopErr error
}

// Start builds what is missing and starts everything. The context bounds the
// start, not the life of the world: call Stop. Errors are, where a part did not
// come up, a *PartError.
func Start(ctx context.Context, options Options) (*World, error) {
	o, err := options.completed()
	if err != nil {
		return nil, err
	}
	w := &World{Dir: o.Dir, options: o}
	if w.root, err = Root(); err != nil {
		return nil, err
	}
	if w.supervisor, err = process.NewSupervisor(); err != nil {
		return nil, err
	}
	// The client library wants a logger, or complains; a caller's own counts.
	ctrllog.SetLogger(logr.Discard())
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	// Java starts slowly, and a control plane mostly waits.
	var wg sync.WaitGroup
	var kubernetes, servers error
	wg.Go(func() { kubernetes = w.startCluster(ctx) })
	wg.Go(func() { servers = w.startRocketMQ(ctx) })
	wg.Wait()
	if err := errors.Join(kubernetes, servers); err != nil {
		return err
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	return w.startOperator(ctx)
}

func (w *World) startCluster(ctx context.Context) (err error) {
	if w.options.Kubeconfig != "" {
		done := w.options.Step("existing cluster")
		defer func() { done(err) }()
		w.cluster, err = existingCluster(w.options.Kubeconfig)
	} else {
		done := w.options.Step("control plane and node")
		defer func() { done(err) }()
		w.cluster, err = ownCluster(ctx, w.options)
	}
	if err != nil {
		return err
	}
	w.Kubeconfig, w.Config = w.cluster.kubeconfig, w.cluster.config
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), rocketmqv1alpha1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("making a scheme: %w", err)
	}
	if w.Client, err = client.NewWithWatch(w.Config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return nil
}

func (w *World) startRocketMQ(ctx context.Context) (err error) {
	options := w.options.RocketMQ
	options.Dir, options.Log = filepath.Join(w.Dir, "rocketmq"), w.options.Log
	if options.Version == "" {
		options.Version = rocketmq.DefaultVersion
	}
	done := w.options.Step("RocketMQ " + options.Version)
	defer func() { done(err) }()
	if w.RocketMQ, err = rocketmq.Start(ctx, options); err != nil {
		return &PartError{Part: "RocketMQ " + options.Version, Err: err, Try: "hack/rocketmq.sh " + options.Version}
	}
	return nil
}

// install applies what config/ ships, but for the Deployment: the operator is a
// process of ours.
func (w *World) install(ctx context.Context) (err error) {
	done := w.options.Step("CRDs and roles of config/")
	defer func() { done(err) }()
	if err := w.alone(ctx); err != nil {
		return err
	}
	if err := w.ApplyKustomization(ctx, filepath.Join(w.root, "config", "crd")); err != nil {
		return &PartError{Part: "installing config/", Err: err}
	}
	if err := w.waitForKinds(ctx); err != nil {
		return &PartError{Part: "installing config/", Err: err}
	}
	if err := w.applyFile(ctx, filepath.Join(w.root, "config", "default", "namespace.yaml")); err != nil {
		return &PartError{Part: "installing config/", Err: err}
	}
	if err := w.ApplyKustomization(ctx, filepath.Join(w.root, "config", "rbac")); err != nil {
		return &PartError{Part: "installing config/", Err: err}
	}
	return nil
}

func (w *World) startOperator(ctx context.Context) (err error) {
	done := w.options.Step("operator")
	defer func() { done(err) }()
	binary := w.options.Manager
	if binary == "" {
		binary = filepath.Join(w.Dir, "bin", "manager")
		if err := BuildManager(ctx, binary, w.options.Log); err != nil {
			return err
		}
	}
	kubeconfig, err := w.kubeconfigOf(ctx, SystemNamespace, ServiceAccount)
	if err != nil {
		return err
	}
	w.Operator = &Operator{
		binary: binary, kubeconfig: kubeconfig, supervisor: w.supervisor,
		log: filepath.Join(w.Dir, "logs", "operator.log"),
	}
	return w.Operator.Start(ctx)
}

// Stop ends everything, clients first. Files stay. It may be called again.
func (w *World) Stop() error {
	w.stop.Do(func() { w.stopErr = w.stopAll() })
	return w.stopErr
}

func (w *World) stopAll() error {
	var errs []error
	if w.cluster != nil && w.cluster.plane == nil && w.Client != nil {
		errs = append(errs, w.uninstall())
	}
	if w.Operator != nil {
		w.Operator.Stop()
	}
	var wg sync.WaitGroup
	var kubernetes, servers error
	wg.Go(func() {
		if w.cluster != nil {
			kubernetes = w.cluster.stop()
		}
	})
	wg.Go(func() {
		if w.RocketMQ != nil {
			servers = w.RocketMQ.Stop()
		}
	})
	wg.Wait()
	return errors.Join(append(errs, kubernetes, servers, w.supervisor.Close(podGrace))...)
}
