// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package assets finds the programs of the Kubernetes control plane that tests
// run: etcd, kube-apiserver, kubectl and kube-controller-manager.
//
// They are built by hack/control-plane.sh, and the folder they are in reaches
// every test by the environment variable KUBEBUILDER_ASSETS, which the Makefile
// sets and which controller-runtime's envtest reads as well. A suite that uses
// envtest sets
//
//	envtest.Environment{BinaryAssetsDirectory: dir, CRDDirectoryPaths: ...}
//
// with the folder from Dir, and so fails with a sentence that says what to do
// rather than with envtest's default path.
package assets

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnvVar names the folder that holds the programs.
const EnvVar = "KUBEBUILDER_ASSETS"

// Program is the name of one program.
type Program string

// The programs that hack/control-plane.sh builds. The first three are enough
// for envtest.
const (
	Etcd              Program = "etcd"
	APIServer         Program = "kube-apiserver"
	Kubectl           Program = "kubectl"
	ControllerManager Program = "kube-controller-manager"
)

// Dir returns the absolute path of the folder named by KUBEBUILDER_ASSETS after
// checking that it holds the programs given. The error names what is missing
// and the command that builds it.
func Dir(programs ...Program) (string, error) {
	dir := os.Getenv(EnvVar)
	if dir == "" {
		return "", fmt.Errorf("%s is not set: this needs real Kubernetes programs; run `make test`, "+
			"or `export %s=$(hack/control-plane.sh | tail -1)`", EnvVar, EnvVar)
	}
	return Check(dir, programs...)
}

// Check returns the absolute path of the folder after checking that it holds
// the programs given.
func Check(dir string, programs ...Program) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", dir, err)
	}
	for _, program := range programs {
		info, err := os.Stat(filepath.Join(abs, string(program)))
		if err != nil {
			return "", fmt.Errorf("looking for %s (hack/control-plane.sh builds it): %w", program, err)
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return "", fmt.Errorf("%s is not a program that can be run (hack/control-plane.sh builds one)",
				filepath.Join(abs, string(program)))
		}
	}
	return abs, nil
}
