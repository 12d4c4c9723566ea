// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Kind is the SDK of a test client, as hack/clients.sh names it.
type Kind string

// The SDKs that do not go with a version of RocketMQ.
const (
	// Go is rocketmq-client-go v2.
	Go Kind = "go"
	// GRPC is the Java gRPC SDK, which needs a proxy.
	GRPC Kind = "grpc"
)

// Classic is the Java SDK that was released with that version of RocketMQ.
func Classic(version string) Kind { return Kind("classic-" + version) }

// Programs are the test clients that were built, by kind.
type Programs map[Kind]string

// BuildClients builds test clients when they are not there yet.
func BuildClients(ctx context.Context, log io.Writer, kinds ...Kind) (Programs, error) {
	args := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		args = append(args, string(kind))
	}
	out, err := command(ctx, log, filepath.Join("hack", "clients.sh"), args...)
	if err != nil {
		return nil, fmt.Errorf("building test clients: %w", err)
	}
	programs := Programs{}
	for line := range strings.Lines(out) {
		if kind, path, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
			programs[Kind(kind)] = path
		}
	}
	for _, kind := range kinds {
		if programs[kind] == "" {
			return nil, fmt.Errorf("hack/clients.sh did not name the program of %s", kind)
		}
	}
	return programs, nil
}
