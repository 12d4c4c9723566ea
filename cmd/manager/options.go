// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/lockstep-dev/lockstep/controllers"
)

// leaseName is the name of the lease that the leader holds.
const leaseName = "lockstep-manager"

func managerOptions(o options, scheme *runtime.Scheme) ctrl.Options {
	serving := metricsserver.Options{BindAddress: o.metrics}
	if !o.insecure {
		serving.SecureServing = true
		serving.FilterProvider = filters.WithAuthenticationAndAuthorization
		// HTTP/2 is off: its stream resets can be used to exhaust a server.
		serving.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 serving,
		HealthProbeBindAddress:  o.probes,
		LeaderElection:          o.leaderElect,
		LeaderElectionID:        leaseName,
		LeaderElectionNamespace: o.namespace,
		// The process ends when it no longer leads, so the lease can be given
		// back at once.
		LeaderElectionReleaseOnCancel: true,
		Cache:                         controllers.CacheOptions(o.namespace),
		Client:                        controllers.ClientOptions(),
	}
}
