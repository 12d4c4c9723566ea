// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the first line of this repository's go.mod.
const module = "module github.com/lockstep-dev/lockstep"

// repository is the folder of this repository that the working directory is in.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for from := dir; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the Lockstep repository: run the rig from there", from)
		}
	}
}

// Install resolves the released jars of a version when they are not there yet,
// and returns their folder. It runs hack/rocketmq.sh, whose messages go to log.
func Install(ctx context.Context, version string, log io.Writer) (string, error) {
	out, err := runScript(ctx, log, "hack/rocketmq.sh", version)
	if err != nil {
		return "", err
	}
	lines := strings.Fields(out)
	return lines[len(lines)-1], nil
}

// runScript runs a script of this repository and returns what it printed, which
// is never empty.
func runScript(ctx context.Context, log io.Writer, script string, args ...string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	var out, messages bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, script), args...)
	cmd.Dir = root
	cmd.Stdout = &out
	cmd.Stderr = io.MultiWriter(&messages, log)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", script, strings.Join(args, " "), err, lastLines(messages.Bytes(), 5))
	}
	if strings.TrimSpace(out.String()) == "" {
		return "", fmt.Errorf("%s %s printed nothing", script, strings.Join(args, " "))
	}
	return out.String(), nil
}

// javaPath is the java program of the PATH.
func javaPath() (string, error) {
	path, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("java is not in PATH: install a JDK of version 17")
	}
	return path, nil
}

// lastLines returns the end of a log for a message.
func lastLines(data []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
