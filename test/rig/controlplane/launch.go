// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

const (
	// portTries is how often a program that lost its port is started again.
	portTries = 5
	// pollInterval is how often a starting program is asked whether it is ready.
	pollInterval = 50 * time.Millisecond
	// tailBytes is how much of a log an error quotes.
	tailBytes = 2000
)

// component is one program of the control plane.
type component struct {
	name string
	// ports is how many ports the program needs.
	ports int
	args  func(ports []int) []string
	// ready returns nil when the program answers as it should.
	ready func(ctx context.Context, ports []int) error
	// grace is how long it may take to end.
	grace time.Duration
}

// running is a component that was started.
type running struct {
	component
	ports []int
	proc  *process.Process
}

// launcher starts the programs of one control plane.
type launcher struct {
	bin        string
	layout     layout
	supervisor *process.Supervisor
}

// launch starts a program and waits until it is ready. When another program
// took its port in the meantime, it tries again with others.
func (l launcher) launch(ctx context.Context, c component) (running, error) {
	for try := 1; ; try++ {
		ports, err := freePorts(c.ports)
		if err != nil {
			return running{}, fmt.Errorf("starting %s: %w", c.name, err)
		}
		proc, err := l.start(c, ports)
		if err != nil {
			return running{}, err
		}
		err = waitReady(ctx, proc, func(ctx context.Context) error { return c.ready(ctx, ports) })
		if err == nil {
			return running{component: c, ports: ports, proc: proc}, nil
		}
		proc.Stop(0)
		log := l.layout.log(c.name)
		tail := logTail(log)
		if errors.Is(err, errEnded) && bytes.Contains(tail, []byte("address already in use")) && try < portTries {
			continue
		}
		return running{}, fmt.Errorf("starting %s: %w; its log %s ends with:\n%s", c.name, err, log, tail)
	}
}

func (l launcher) start(c component, ports []int) (*process.Process, error) {
	// Truncated, so that the tail of the log is of this try.
	log, err := os.OpenFile(l.layout.log(c.name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", c.name, err)
	}
	defer func() { _ = log.Close() }() // the program has its own descriptor
	return l.supervisor.Start(process.Spec{
		Path:   filepath.Join(l.bin, c.name),
		Args:   c.args(ports),
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.layout.dir},
		Dir:    l.layout.dir,
		Output: log,
	})
}

// errEnded says that a program ended before it was ready.
var errEnded = errors.New("it ended before it was ready")

// waitReady asks until the answer is nil, the program ends or the context does.
func waitReady(ctx context.Context, proc *process.Process, ready func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		last := ready(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-proc.Done():
			return fmt.Errorf("%w, with exit code %d", errEnded, proc.State().ExitCode)
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w; its last answer: %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}

// freePorts returns n different ports that nothing listened on just now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, fmt.Errorf("asking the kernel for a free port: %w", err)
		}
		defer func() { _ = listener.Close() }() // only at the end, so that the ports differ
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// logTail returns the end of a log file for an error message.
func logTail(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return []byte(err.Error())
	}
	defer func() { _ = file.Close() }()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-tailBytes), io.SeekStart)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(content)
}
