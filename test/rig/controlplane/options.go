// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-dev/lockstep/test/rig/assets"
)

// ServiceCIDR is the range of cluster addresses of Services.
const ServiceCIDR = "127.96.0.0/16"

// kubernetesServiceIP is the first address of ServiceCIDR, which the Service
// "kubernetes" gets.
const kubernetesServiceIP = "127.96.0.1"

// Options say what to start. Only Dir is needed.
type Options struct {
	// Dir takes certificates, kubeconfig files, etcd's data and logs. It is made
	// when missing. Data of an earlier control plane in it are removed.
	Dir string
	// BinDir holds the programs; empty means $KUBEBUILDER_ASSETS.
	BinDir string
	// HPASyncPeriod is how often autoscalers look; 0 means the default of
	// Kubernetes, 15 s.
	HPASyncPeriod time.Duration
	// HPADownscaleStabilization is how long a lower recommendation of an
	// autoscaler must last before it scales down; 0 means the default of
	// Kubernetes, 5 min.
	HPADownscaleStabilization time.Duration
	// APIServerArgs and ControllerManagerArgs are added after our own, so that
	// they win.
	APIServerArgs         []string
	ControllerManagerArgs []string
}

func (o Options) completed() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("controlplane.Options.Dir is needed: it takes certificates, data and logs")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("resolving the folder of the control plane: %w", err)
	}
	o.Dir = dir
	if o.BinDir == "" {
		o.BinDir, err = assets.Dir(assets.Etcd, assets.APIServer, assets.ControllerManager)
	} else {
		o.BinDir, err = assets.Check(o.BinDir, assets.Etcd, assets.APIServer, assets.ControllerManager)
	}
	return o, err
}

// layout names the folders and files below Options.Dir.
type layout struct{ dir string }

func (l layout) etcd() string        { return filepath.Join(l.dir, "etcd") }
func (l layout) pki() string         { return filepath.Join(l.dir, "pki") }
func (l layout) logs() string        { return filepath.Join(l.dir, "logs") }
func (l layout) kubeconfigs() string { return filepath.Join(l.dir, "kubeconfig") }

func (l layout) log(program string) string { return filepath.Join(l.logs(), program+".log") }
func (l layout) kubeconfig(user string) string {
	return filepath.Join(l.kubeconfigs(), user+".kubeconfig")
}

// make makes the folders, without anything of an earlier control plane.
func (l layout) make() error {
	for _, dir := range []string{l.etcd(), l.pki(), l.kubeconfigs(), l.logs()} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing what an earlier control plane left: %w", err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the folders of the control plane: %w", err)
		}
	}
	return nil
}
