// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/test/rig/process"
)

const (
	// terminationMessageLimit and terminationTailLimit are those of the kubelet.
	terminationMessageLimit = 4096
	terminationTailLimit    = 2048
)

// program is what one start of a container runs.
type program struct {
	spec       process.Spec
	supervisor *process.Supervisor
	handler    handler
	// number counts the starts of the container, from 0.
	number int32
	// log takes the output; message is the file for last words.
	log, message string
}

// prepare reads what the container refers to and returns what to run.
func (c *container) prepare(ctx context.Context) (program, error) {
	w := c.pod
	volumes := w.volumes()
	if err := volumes.sync(ctx); err != nil {
		return program{}, err
	}
	env, err := volumes.env.of(c.spec)
	if err != nil {
		return program{}, err
	}
	line, err := commandLine(c.spec, env)
	if err != nil {
		return program{}, err
	}
	message := filepath.Join(w.dir, "termination-"+c.spec.Name)
	ms := containerMounts(c.spec, volumes.path, mount{hostsPath, w.hostsFile()},
		mount{filepath.Clean(c.spec.TerminationMessagePath), message})
	ms.rewriteEnv(env, volumes.env.base)
	if err := w.addKubeconfig(c.spec, volumes, env); err != nil {
		return program{}, err
	}
	p := program{supervisor: w.agent.supervisor, message: message, number: w.restarts(c.spec.Name)}
	p.log = w.agent.logFile(w.state.newest(), c.spec.Name, p.number)
	p.spec = process.Spec{Dir: w.workDir(), Env: envList(env)}
	if c.spec.WorkingDir != "" {
		p.spec.Dir = ms.rewrite(c.spec.WorkingDir)
	}
	if w.agent.hostnames && !w.spec.HostNetwork {
		p.spec.Hostname = hostname(w.state.newest())
	}
	p.setCommand(ms.rewriteAll(line), env["PATH"])
	p.handler = handler{podIP: volumes.env.who.podIP, container: c.spec,
		exec: func(ctx context.Context, command []string) (string, error) {
			return p.exec(ctx, ms.rewriteAll(command), env["PATH"])
		}}
	return p, nil
}

func (p *program) setCommand(line []string, path string) {
	p.spec.Path, p.spec.Args = lookPath(line[0], path), line[1:]
}

// lookPath finds a program in the PATH of the container, not of the rig. What is
// not found stays as it is, so that the start fails and names it.
func lookPath(name, path string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, name)
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return candidate
		}
	}
	return name
}

func envList(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// start starts the container's process, with its output in the log file.
func (p program) start() (*process.Process, error) {
	if err := os.MkdirAll(filepath.Dir(p.log), 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of logs: %w", err)
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor
	if err := os.WriteFile(p.message, nil, 0o666); err != nil {
		return nil, fmt.Errorf("making the file of the termination message: %w", err)
	}
	spec := p.spec
	spec.Output = log
	return p.supervisor.Start(spec)
}

// exec runs a command beside the container's process and returns its output.
func (p program) exec(ctx context.Context, command []string, path string) (string, error) {
	if len(command) == 0 {
		return "", errors.New("the command is empty")
	}
	var output bytes.Buffer
	p.setCommand(command, path)
	p.spec.Output = &output
	proc, err := p.supervisor.Start(p.spec)
	if err != nil {
		return "", err
	}
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Stop(0)
		return output.String(), ctx.Err()
	}
	if state := proc.State(); state.Err != nil || state.ExitCode != 0 {
		return output.String(), errors.Join(fmt.Errorf("exit code %d", state.ExitCode), state.Err)
	}
	return output.String(), nil
}

// terminationMessage returns the container's last words: what it wrote to its
// termination message file or, when it failed without, the end of its log. A
// kubelet does the second only on request; on the rig it always helps.
func (p program) terminationMessage(state process.State) string {
	if state.Err != nil {
		return state.Err.Error()
	}
	if message := tail(p.message, terminationMessageLimit); message != "" {
		return message
	}
	if state.ExitCode == 0 {
		return ""
	}
	return tail(p.log, terminationTailLimit)
}

// tail returns the last bytes of a file, or nothing when it cannot be read: it is
// only for messages.
func tail(path string, limit int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	content, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-limit), limit))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(content), "")
}
