// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// archiveTimeout bounds the writing of one archive.
const archiveTimeout = time.Minute

// archives are class data archives: what a JVM loaded at its start, in a form
// that the next one maps into memory. They halve the processor time of a start
// (5.5.0 broker: 7 s to 3 s). They are written when a cluster stops, once for a
// version, kind and JVM, and only ever speed things up: a JVM that does not like
// its archive starts without it.
type archives struct {
	dir string
	jvm string
}

// newArchives keeps archives beside the jars that they belong to.
func newArchives(lib, java string) (*archives, error) {
	// The path has the JVM's version in it, the time its build.
	real, err := filepath.EvalSymlinks(java)
	if err != nil {
		return nil, fmt.Errorf("looking at java: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("looking at java: %w", err)
	}
	sum := sha256.Sum256(fmt.Append(nil, real, info.ModTime().UnixNano()))
	return &archives{dir: filepath.Join(filepath.Dir(lib), "archives"), jvm: hex.EncodeToString(sum[:4])}, nil
}

func (a *archives) file(kind Kind) string {
	return filepath.Join(a.dir, string(kind)+"-"+a.jvm+".jsa")
}

func (a *archives) has(kind Kind) bool {
	_, err := os.Stat(a.file(kind))
	return err == nil
}

// flags make a JVM use the archive, or be able to write it.
func (a *archives) flags(kind Kind) []string {
	if a.has(kind) {
		return []string{"-XX:SharedArchiveFile=" + a.file(kind)}
	}
	return []string{"-XX:+RecordDynamicDumpInfo"}
}

// save writes what is missing from servers that serve. Nothing depends on it,
// so a failure is only reported to the log.
func (a *archives) save(c *Cluster) {
	for _, s := range c.Servers() {
		if a.has(s.Kind) || !s.Serving() {
			continue
		}
		if err := a.write(s); err != nil {
			c.logf("no class data archive for %s: %v", s.Kind, err)
			return
		}
	}
}

func (a *archives) write(s *Server) error {
	if err := os.MkdirAll(a.dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(a.file(s.Kind)+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil // another rig is writing it
		}
		return err
	}
	jcmd := filepath.Join(filepath.Dir(s.cluster.java), "jcmd")
	ctx, cancel := context.WithTimeout(context.Background(), archiveTimeout)
	defer cancel()
	temp := filepath.Join(s.Dir, "archive.jsa")
	out, err := exec.CommandContext(ctx, jcmd, strconv.Itoa(s.PID()), "VM.cds", "dynamic_dump", temp).CombinedOutput()
	if err != nil {
		return fmt.Errorf("jcmd: %w: %s", err, lastLines(out, 5))
	}
	return moveFile(temp, a.file(s.Kind))
}

// moveFile makes the file appear under its name at once, also from another file
// system.
func moveFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	temp := to + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, to)
}
