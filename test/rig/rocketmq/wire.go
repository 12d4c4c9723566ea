// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

const (
	loopback = "127.0.0.1"

	codeUpdateTopic  = 17  // rocketmq.md 3.4
	codeRuntimeInfo  = 28  // rocketmq.md 3.23
	codeClusterInfo  = 106 // rocketmq.md 3.1
	responseOK       = 0
	responseNoAccess = 16 // ACL 2.0; ACL 1.0 answers 1

	// callTimeout bounds a call of the rig. 17 waits up to 24 s for a name server
	// that hangs (rocketmq-live.md 8).
	callTimeout = 40 * time.Second
)

// ask sends one request on a connection of its own and returns the response,
// whatever its code.
func ask(ctx context.Context, address string, code int, ext map[string]string) (*remoting.Command, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("calling %d: %w", code, err)
	}
	defer func() { _ = conn.Close() }()
	// The deadline of the context covers the reads below.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request := &remoting.Command{Code: code, Opaque: 1, Version: remoting.Version, ExtFields: ext}
	frame, err := remoting.AppendCommand(nil, request)
	if err != nil {
		return nil, fmt.Errorf("encoding call %d: %w", code, err)
	}
	if _, err := conn.Write(frame); err != nil {
		return nil, fmt.Errorf("sending call %d to %s: %w", code, address, errors.Join(ctx.Err(), err))
	}
	for {
		response, err := remoting.ReadCommand(conn, 0)
		if err != nil {
			return nil, fmt.Errorf("reading the answer of %s to call %d: %w", address, code, errors.Join(ctx.Err(), err))
		}
		if response.IsResponse() && response.Opaque == request.Opaque {
			return response, nil
		}
	}
}
