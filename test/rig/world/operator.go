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
	// wanted is set while the operator shall run; restarts counts how often it
	// ended by itself.
	wanted   bool
	restarts int
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
// an earlier one was killed. When it ends by itself, as a leader does that could
// not renew its lease in time, it is started again, as its Deployment would see
// to.
func (o *Operator) Start(ctx context.Context) error {
	if o.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, operatorStart)
	defer cancel()
	started, probe, err := o.launch(true)
	if err != nil {
		return &PartError{Part: "the operator", Err: err, Try: "go build ./cmd/manager"}
	}
	if err := o.waitReady(ctx, started, probe); err != nil {
		o.Kill()
		return &PartError{Part: "the operator", Err: err, Log: o.log, Try: "read the log above; each line is one JSON object"}
	}
	go o.keep(started) // ends with the process, unless that is started again
	return nil
}

// launch starts the process and returns the address of its probe. Unless it
// is the first start, the operator must still be wanted.
func (o *Operator) launch(first bool) (*process.Process, string, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, "", err
	}
	output, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, "", fmt.Errorf("opening the operator's log: %w", err)
	}
	defer func() { _ = output.Close() }()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !first && !o.wanted {
		return nil, "", process.ErrClosed
	}
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
		return nil, "", err
	}
	o.process, o.wanted = started, true
	return started, "http://" + ports[0] + "/readyz", nil
}

// keep starts the operator again whenever it ends by itself.
func (o *Operator) keep(running *process.Process) {
	for {
		<-running.Done()
		o.mu.Lock()
		again := o.wanted && o.process == running
		if again {
			o.restarts++
		}
		o.mu.Unlock()
		if !again {
			return
		}
		var err error
		if running, _, err = o.launch(false); err != nil {
			return // the rig is being closed, or Watch says that it is gone
		}
	}
}

// Restarts is how often the operator ended by itself and was started again.
func (o *Operator) Restarts() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.restarts
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
func (o *Operator) Stop() { o.end(operatorGrace) }

// Kill ends the operator as a crash does (SIGKILL) and waits until it is gone.
// The lease stays with it until it runs out. It is not started again but by
// Start.
func (o *Operator) Kill() { o.end(0) }

func (o *Operator) end(grace time.Duration) {
	o.mu.Lock()
	o.wanted = false
	running := o.process
	o.mu.Unlock()
	if running != nil {
		running.Stop(grace)
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
