// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Kinds of test clients. Their flags are in test/clients/README.md.
const (
	// GRPCClient uses the Java gRPC SDK and needs a proxy.
	GRPCClient = "grpc"
	// GoClient uses rocketmq-client-go v2.
	GoClient = "go"
)

// ClassicClient is the kind of client that uses the Java SDK of that RocketMQ
// version.
func ClassicClient(version string) string { return "classic-" + version }

// Clients are programs to run, by kind.
type Clients map[string]string

// BuildClients builds test clients of these kinds when they are not there yet.
// It runs hack/clients.sh, whose messages go to log. A first build takes a minute
// or more for a kind.
func BuildClients(ctx context.Context, log io.Writer, kinds ...string) (Clients, error) {
	out, err := runScript(ctx, log, "hack/clients.sh", kinds...)
	if err != nil {
		return nil, err
	}
	clients := Clients{}
	for line := range strings.Lines(out) {
		kind, path, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found {
			return nil, fmt.Errorf("hack/clients.sh printed %q instead of a kind and a program", line)
		}
		clients[kind] = path
	}
	return clients, nil
}
