// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

const (
	// hostIP is the address of the node, and of Pods in the host's network.
	hostIP = "127.0.0.1"
	// defaultNodeName is the name of the node when none is given.
	defaultNodeName = "rig-node"
	// defaultRestartBackoff is a tenth of the kubelet's: tests wait for it.
	defaultRestartBackoff = time.Second
)

// Options say how the agent runs. Config and Dir are needed.
type Options struct {
	// Config reaches the API server with the rights of a cluster administrator.
	Config *rest.Config
	// Dir takes the folders of Pods (removed with them) and logs (kept).
	Dir string
	// NodeName is the name of the Node; empty means "rig-node".
	NodeName string
	// NodeLabels are added to those that every node has.
	NodeLabels map[string]string
	// Env is added to the environment of every container, each entry
	// "NAME=value". PATH is that of the agent unless it is given here; nothing
	// else is inherited. What a Pod sets itself wins.
	Env []string
	// RestartBackoff is the wait before the second restart of a container; it
	// doubles each time up to 5 min, and the first restart is at once. 0 means 1 s.
	RestartBackoff time.Duration
	// Log takes what goes wrong in the agent itself. The zero value discards it.
	Log logr.Logger
}

func (o Options) completed() (Options, error) {
	if o.Config == nil || o.Dir == "" {
		return o, errors.New("nodeagent.Options.Config and Dir are needed")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("resolving the folder of the node agent: %w", err)
	}
	o.Dir = dir
	if o.NodeName == "" {
		o.NodeName = defaultNodeName
	}
	if o.RestartBackoff <= 0 {
		o.RestartBackoff = defaultRestartBackoff
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	for _, entry := range o.Env {
		if !strings.Contains(entry, "=") {
			return o, fmt.Errorf("nodeagent.Options.Env: %q is not NAME=value", entry)
		}
	}
	return o, os.MkdirAll(o.Dir, 0o755)
}
