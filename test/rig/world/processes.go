// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

// deployProcesses runs the clients of a workload as local processes.
func (w *World) deployProcesses(workload Workload) (Fleet, error) {
	f := &processFleet{workload: workload, env: w.environment(workload), supervisor: w.supervisor,
		dir: filepath.Join(w.Dir, "clients", workload.Namespace, workload.Name)}
	return f, f.Scale(context.Background(), workload.Replicas)
}

// processFleet is a number of local processes.
type processFleet struct {
	workload   Workload
	env        map[string]string
	supervisor *process.Supervisor
	dir        string

	mu      sync.Mutex
	clients []localClient
	// ending are clients that were asked to end.
	ending []*process.Process
}

// localClient is one process.
type localClient struct {
	process *process.Process
	ready   string
}

func (f *processFleet) String() string {
	return "clients " + f.workload.Namespace + "/" + f.workload.Name
}

func (f *processFleet) Scale(_ context.Context, replicas int32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.clients) > int(replicas) {
		last := f.clients[len(f.clients)-1]
		f.clients = f.clients[:len(f.clients)-1]
		f.ending = append(f.ending, last.process)
		go last.process.Stop(stopGrace) // ends with the process
	}
	for len(f.clients) < int(replicas) {
		c, err := f.start(len(f.clients))
		if err != nil {
			return err
		}
		f.clients = append(f.clients, c)
	}
	return nil
}

// start starts the client of that number.
func (f *processFleet) start(number int) (localClient, error) {
	name := fmt.Sprintf("%s-%d", f.workload.Name, number)
	dir := filepath.Join(f.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return localClient{}, fmt.Errorf("making the folder of client %s: %w", name, err)
	}
	c := localClient{ready: filepath.Join(dir, "ready")}
	if err := os.Remove(c.ready); err != nil && !errors.Is(err, os.ErrNotExist) {
		return c, fmt.Errorf("preparing client %s: %w", name, err)
	}
	output, err := os.OpenFile(filepath.Join(dir, "output.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return c, fmt.Errorf("opening the log of client %s: %w", name, err)
	}
	defer func() { _ = output.Close() }()
	env := []string{"POD_NAME=" + name, "PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	for _, key := range sortedKeys(f.env) {
		if key == "JAVA_OPTS" { // the hosts file of a Pod
			continue
		}
		env = append(env, key+"="+f.env[key])
	}
	args := append(append([]string{}, f.workload.Args...), "--ready-file="+c.ready)
	c.process, err = f.supervisor.Start(process.Spec{Path: f.workload.Program, Args: args, Env: env, Dir: dir, Output: output})
	if err != nil {
		return c, fmt.Errorf("starting client %s (%s): %w", name, strings.Join(args, " "), err)
	}
	return c, nil
}

func (f *processFleet) Ready(context.Context) (int32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := int32(0)
	for i, c := range f.clients {
		if ended(c.process) {
			log := filepath.Join(f.dir, fmt.Sprintf("%s-%d", f.workload.Name, i), "output.log")
			return 0, &PartError{Part: f.String(), Err: fmt.Errorf("a client ended with exit status %d", c.process.State().ExitCode), Log: log}
		}
		if _, err := os.Stat(c.ready); err == nil {
			ready++
		}
	}
	return ready, nil
}

func (f *processFleet) Gone(context.Context) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ending {
		if !ended(p) {
			return false, nil
		}
	}
	return len(f.clients) == 0, nil
}

// Restarts counts clients that ended by themselves; none is started again.
func (f *processFleet) Restarts(context.Context) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.clients {
		if ended(c.process) {
			n++
		}
	}
	return n, nil
}

func ended(p *process.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}
