// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// guardScript keeps the set of process groups it is told about and kills those
// that are left when its standard input ends. "del" is sent before the number
// can be given to another group, so nothing foreign is ever killed.
const guardScript = `
groups=' '
while read -r op group; do
  case $op in
  add) groups="$groups$group " ;;
  del) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`

// guard is the shell that survives a crash of the rig long enough to clean up.
type guard struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

func startGuard() (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "lockstep-rig-guard")
	// A group of its own: a Ctrl-C in the terminal must not end the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making the guard's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard /bin/sh: %w", err)
	}
	return &guard{cmd: cmd, stdin: stdin}, nil
}

func (g *guard) add(group int) error { return g.send("add", group) }
func (g *guard) del(group int) error { return g.send("del", group) }

func (g *guard) send(op string, group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := fmt.Fprintf(g.stdin, "%s %d\n", op, group); err != nil {
		return fmt.Errorf("telling the guard %q for process group %d: %w", op, group, err)
	}
	return nil
}

// close ends the guard, which kills what it was not told to forget.
func (g *guard) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.stdin.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("waiting for the guard: %w", err)
	}
	return nil
}
