// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// capture is an Invoker that keeps the last successful reply's body of each
// request code, so that the golden replies of the unit tests and the seeds of
// the fuzz tests are what released servers say.
type capture struct {
	*remoting.Client
	mu     sync.Mutex
	bodies map[int][]byte
}

func newCapture(wire *remoting.Client) *capture {
	return &capture{Client: wire, bodies: map[int][]byte{}}
}

func (c *capture) keep(request *remoting.Command, reply *remoting.Command) {
	if reply == nil || reply.Code != remoting.RespSuccess || len(reply.Body) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies[request.Code] = reply.Body
}

func (c *capture) InvokeInfo(ctx context.Context, addr string, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	reply, info, err := c.Client.InvokeInfo(ctx, addr, request)
	c.keep(request, reply)
	return reply, info, err
}

func (c *capture) InvokeOn(ctx context.Context, addr string, generation uint64, request *remoting.Command) (*remoting.Command, remoting.ReplyInfo, error) {
	reply, info, err := c.Client.InvokeOn(ctx, addr, generation, request)
	c.keep(request, reply)
	return reply, info, err
}

// save writes the bodies to testdata/captured/<version>/<code>, when the
// environment variable CAPTURE is set.
func (c *capture) save(t *testing.T, version string) {
	if os.Getenv("CAPTURE") == "" {
		return
	}
	dir := filepath.Join("testdata", "captured", version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for code, body := range c.bodies {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(code)), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
