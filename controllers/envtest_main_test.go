// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package controllers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// server is a kube-apiserver with the CRDs of this project. It is shared by all
// tests; each works in namespaces of its own, with an operator of its own that
// sees only those.
type server struct {
	environment *envtest.Environment
	config      *rest.Config
}

var shared = sync.OnceValues(func() (*server, error) {
	s := &server{environment: &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}}
	config, err := s.environment.Start()
	if err != nil {
		return nil, fmt.Errorf("starting kube-apiserver and etcd: %w", err)
	}
	config.QPS, config.Burst = -1, -1
	s.config = config
	return s, nil
})

func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS is not set: these tests need kube-apiserver, etcd and kubectl; run them with make test-envtest, which builds the three")
		os.Exit(1)
	}
	code := m.Run()
	if s, err := shared(); err == nil {
		if err := s.environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping kube-apiserver and etcd:", err)
			code = 1
		}
	}
	os.Exit(code)
}
