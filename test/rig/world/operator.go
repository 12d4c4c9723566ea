// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// The operator as config/ installs it.
const (
	// SystemNamespace is where the operator lives, with its lease and its notes.
	SystemNamespace = "lockstep-system"
	// ServiceAccount is whom the operator acts as.
	ServiceAccount = "lockstep-manager"
	// Lease is what the leader holds.
	Lease = "lockstep-manager"
)

const (
	// operatorGrace is how long a stop in good order may take.
	operatorGrace = 30 * time.Second
	// operatorStart bounds the start of the operator on a loaded machine.
	operatorStart = 2 * time.Minute
)

// Operator is the operator's process. Its methods may be called from any
// goroutine.
type Operator struct {
	binary, kubeconfig, log string
	supervisor              *process.Supervisor

	mu      sync.Mutex
	process *process.Process
}

// LogFile takes what the operator logs, over all its starts.
func (o *Operator) LogFile() string { return o.log }

// Kubeconfig is the file with the operator's own identity.
func (o *Operator) Kubeconfig() string { return o.kubeconfig }

// PID is the id of the running process, else 0.
func (o *Operator) PID() int {
	if !o.Running() {
		return 0
	}
	return o.current().PID()
}

func (o *Operator) current() *process.Process {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.process
}

// Running tells whether the process is there.
func (o *Operator) Running() bool {
	p := o.current()
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

// Start starts the operator unless it runs, and waits until it says that it is
// ready. It begins to work when it holds the lease, which takes up to 15 s when
// an earlier one was killed.
func (o *Operator) Start(ctx context.Context) error {
	if o.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, operatorStart)
	defer cancel()
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	output, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the operator's log: %w", err)
	}
	defer func() { _ = output.Close() }()
	started, err := o.supervisor.Start(process.Spec{
		Path: o.binary,
		Args: []string{
			"--leader-elect", "--health-probe-bind-address=" + ports[0], "--metrics-bind-address=" + ports[1],
		},
		Env: []string{
			"KUBECONFIG=" + o.kubeconfig, "POD_NAMESPACE=" + SystemNamespace,
			"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(),
		},
		Output: output,
	})
	if err != nil {
		return &Failure{Part: "the operator", Err: err, Try: "go build ./cmd/manager"}
	}
	o.mu.Lock()
	o.process = started
	o.mu.Unlock()
	if err := o.waitReady(ctx, started, "http://"+ports[0]+"/readyz"); err != nil {
		return &Failure{Part: "the operator", Err: err, Log: o.log, Try: "read the log above; each line is one JSON object"}
	}
	return nil
}

func (o *Operator) waitReady(ctx context.Context, started *process.Process, url string) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-started.Done():
			return false, fmt.Errorf("it ended with exit status %d", started.State().ExitCode)
		default:
		}
		last = healthy(ctx, url)
		return last == nil, nil
	})
	if ctx.Err() != nil {
		return errors.Join(err, last)
	}
	return err
}

// Stop ends the operator in good order: it gives its lease back.
func (o *Operator) Stop() {
	if p := o.current(); p != nil {
		p.Stop(operatorGrace)
	}
}

// Kill ends the operator as a crash does (SIGKILL) and waits until it is gone.
// The lease stays with it until it runs out.
func (o *Operator) Kill() {
	if p := o.current(); p != nil {
		p.Stop(0)
	}
}

// healthy asks a probe.
func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}

// freePorts are addresses on loopback that were free a moment ago.
func freePorts(n int) ([]string, error) {
	var addresses []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer func() { _ = listener.Close() }() // all are held until all were found
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
