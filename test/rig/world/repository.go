// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the first line of this repository's go.mod.
const module = "module github.com/lockstep-dev/lockstep"

// Root is the folder of this repository that the working directory is in.
func Root() (string, error) {
	from, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for dir := from; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the Lockstep repository: run this from there", from)
		}
	}
}

// command runs a program in the repository and returns what it printed on
// standard output; what it says on standard error goes to log.
func command(ctx context.Context, log io.Writer, name string, args ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, io.MultiWriter(&said, log)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w:\n%s", name, strings.Join(args, " "), err, LastLines(said.Bytes(), 10))
	}
	return out.String(), nil
}

// BuildManager builds the operator from cmd/manager into the file given.
func BuildManager(ctx context.Context, file string, log io.Writer) error {
	if _, err := command(ctx, log, "go", "build", "-o", file, "./cmd/manager"); err != nil {
		return fmt.Errorf("building the operator: %w", err)
	}
	return nil
}

// ControlPlane builds the programs of the control plane when they are not there
// yet, and returns their folder.
func ControlPlane(ctx context.Context, log io.Writer) (string, error) {
	out, err := command(ctx, log, filepath.Join("hack", "control-plane.sh"))
	if err != nil {
		return "", err
	}
	lines := strings.Fields(out)
	if len(lines) == 0 {
		return "", fmt.Errorf("hack/control-plane.sh printed no folder")
	}
	return lines[len(lines)-1], nil
}

// LastLines returns the end of a log.
func LastLines(data []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
