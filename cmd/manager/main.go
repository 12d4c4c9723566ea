// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is the Lockstep operator.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way to log in to a cluster
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/controllers"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are the operator's flags.
type options struct {
	metrics     string
	probes      string
	namespace   string
	leaderElect bool
	concurrency int
	insecure    bool
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.StringVar(&o.metrics, "metrics-bind-address", ":8443", "where metrics are served, behind authentication and authorization; 0 turns them off")
	flags.BoolVar(&o.insecure, "metrics-insecure", false, "serve metrics by plain HTTP without authentication")
	flags.StringVar(&o.probes, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served")
	flags.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own namespace, where it keeps notes and its lease")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "work only while holding the lease, so that several replicas can run")
	flags.IntVar(&o.concurrency, "concurrency", 16, "how many topics are reconciled at a time")
	logging := zap.Options{}
	logging.BindFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.namespace == "" {
		return fmt.Errorf("the operator's own namespace is not known; set --namespace or POD_NAMESPACE")
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(rocketmqv1alpha1.AddToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	mgr, err := ctrl.NewManager(config, managerOptions(o, scheme))
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := controllers.Setup(mgr, controllers.Options{Namespace: o.namespace, Concurrency: o.concurrency}); err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
