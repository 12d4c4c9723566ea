// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// journal is the run's log: each event with its time, on the screen and in a
// file. Its methods may be called from any goroutine.
type journal struct {
	mu    sync.Mutex
	out   io.Writer
	file  *os.File
	began time.Time
}

func newJournal(out io.Writer, path string) (*journal, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("opening the run's log: %w", err)
	}
	return &journal{out: out, file: file, began: time.Now()}, nil
}

// event notes what happened to what.
func (j *journal) event(what, format string, args ...any) {
	now := time.Now()
	j.print("%s %+7.1fs  %-12s %s", now.UTC().Format("15:04:05.000"), now.Sub(j.began).Seconds(), what, fmt.Sprintf(format, args...))
}

// print writes a line as it is.
func (j *journal) print(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	// The screen may be gone; the file is what is read later.
	_, _ = io.WriteString(j.out, line)
	_, _ = j.file.WriteString(line)
}

func (j *journal) close() { _ = j.file.Close() }
