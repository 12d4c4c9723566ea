// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// Kind is the program that a Server is.
type Kind string

const (
	NameServer Kind = "nameserver"
	Broker     Kind = "broker"
	Proxy      Kind = "proxy"
)

// Server is one server of a Cluster. Its address, folder and name stay the same
// when it is stopped and started again. Methods may be called from any
// goroutine; a test that breaks a server from two at once gets both effects.
type Server struct {
	Kind Kind
	// Name is unique in the cluster: ns-1, broker-a, broker-a-slave-1, proxy-1.
	Name string
	// BrokerName and BrokerID are those of a broker; a master has id 0.
	BrokerName string
	BrokerID   int
	// Addr is the host:port of the remoting protocol.
	Addr string
	// GRPCAddr is the host:port of a proxy's gRPC port, else empty.
	GRPCAddr string
	// Dir holds the server's configuration, store and logs.
	Dir string

	cluster *Cluster
	ports   *portBlock

	mu      sync.Mutex
	process *process.Process
	// outputFrom is where the output of the current process begins in OutputFile.
	outputFrom int64
	paused     bool
}

// OutputFile is what the server prints; its logs are elsewhere below Dir.
func (s *Server) OutputFile() string { return filepath.Join(s.Dir, "output.log") }

func (s *Server) config() string {
	if s.Kind == Proxy {
		return filepath.Join(s.Dir, "proxy.json")
	}
	return filepath.Join(s.Dir, string(s.Kind)+".conf")
}

// Running tells whether the server's process is there; a paused one is.
func (s *Server) Running() bool {
	p := s.current()
	if p == nil {
		return false
	}
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// Serving tells whether the process is there and not paused.
func (s *Server) Serving() bool {
	s.mu.Lock()
	paused := s.paused
	s.mu.Unlock()
	return !paused && s.Running()
}

// PID is the process id of a running server, else 0.
func (s *Server) PID() int {
	if !s.Running() {
		return 0
	}
	return s.current().PID()
}

func (s *Server) current() *process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// proxyTries is how often a proxy is started before its end counts. It ends when
// a name server does not answer within 3 s while it starts.
const proxyTries = 5

// Start starts a stopped server with its old state and waits until it serves.
// A running one is only waited for.
func (s *Server) Start(ctx context.Context) error {
	for try := 1; ; try++ {
		if !s.Running() {
			if err := s.launch(); err != nil {
				return err
			}
		}
		err := s.waitReady(ctx)
		if s.Kind != Proxy || try == proxyTries || !errors.Is(err, errEnded) {
			return err
		}
		s.cluster.logf("%s ended before it served; starting it again", s.Name)
	}
}

// launch starts the process and does not wait.
func (s *Server) launch() error {
	if err := os.MkdirAll(filepath.Join(s.Dir, "tmp"), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", s.Name, err)
	}
	output, err := os.OpenFile(s.OutputFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the output file of %s: %w", s.Name, err)
	}
	defer func() { _ = output.Close() }()
	from, err := output.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("reading the output file of %s: %w", s.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.cluster.processes.Start(process.Spec{
		Path:   s.cluster.java,
		Args:   s.cluster.javaArgs(s),
		Env:    environment(s.Dir, filepath.Dir(s.cluster.java)),
		Dir:    s.Dir,
		Output: output,
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", s.Name, err)
	}
	s.process, s.outputFrom, s.paused = p, from, false
	return nil
}

// Stop ends the server in good order and waits for the end of its process, which
// a 5.x broker takes 5 to 25 s for (its ports close at once). When the context
// ends first the process is killed and the error says so.
func (s *Server) Stop(ctx context.Context) error {
	p := s.current()
	if p == nil {
		return nil
	}
	if err := errors.Join(p.Signal(syscall.SIGTERM), s.Resume()); err != nil {
		return err
	}
	select {
	case <-p.Done():
		return p.State().Err
	case <-ctx.Done():
		p.Stop(0)
		return fmt.Errorf("%s did not end in time and was killed: %w", s.Name, ctx.Err())
	}
}

// Kill ends the process as a crash does and waits until it is gone.
func (s *Server) Kill() {
	if p := s.current(); p != nil {
		p.Stop(0)
	}
}

// Restart kills the server when it runs, starts it on its old state and waits
// until it serves.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	return s.Start(ctx)
}

// Pause stops the process (SIGSTOP): its ports stay open and nothing answers.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal(syscall.SIGSTOP, true)
}

// Resume lets a paused process go on.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal(syscall.SIGCONT, false)
}

func (s *Server) signal(signal syscall.Signal, paused bool) error {
	if s.process == nil {
		return fmt.Errorf("%s was never started", s.Name)
	}
	if err := s.process.Signal(signal); err != nil {
		return err
	}
	s.paused = paused
	return nil
}

// outputTail is the end of what the current process printed.
func (s *Server) outputTail() string {
	s.mu.Lock()
	from := s.outputFrom
	s.mu.Unlock()
	data, err := os.ReadFile(s.OutputFile())
	if err != nil {
		return err.Error()
	}
	return lastLines(data[min(from, int64(len(data))):], 15)
}
