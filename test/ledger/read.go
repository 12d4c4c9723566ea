// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Ledger is what a set of clients noted.
type Ledger struct {
	// Entries of one file are in the order of their events; files follow each other.
	Entries []Entry
	// Torn counts lines that are not whole, see the package comment. What they
	// would have said is unknown, so a message that only they know counts as
	// neither sent nor consumed.
	Torn int
}

// ReadDir reads every file in the folder whose name ends with ".ledger". Clients
// may still be writing.
func ReadDir(dir string) (*Ledger, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing ledgers: %w", err)
	}
	var paths []string
	for _, file := range files {
		if filepath.Ext(file.Name()) == ".ledger" {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return ReadFiles(paths...)
}

// ReadFiles reads ledger files. A file that does not exist is an error: its
// client has not told anything, which is not the same as nothing.
func ReadFiles(paths ...string) (*Ledger, error) {
	l := &Ledger{}
	for _, path := range paths {
		if err := l.addFile(path); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Ledger) addFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening a ledger: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := l.Add(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Add reads entries until the end of r. An error names the line.
func (l *Ledger) Add(r io.Reader) error {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err != nil { // the last line, without its end
			if line != "" {
				l.Torn++
			}
			return nil
		}
		line = line[:len(line)-1]
		if line == "" {
			continue
		}
		entry, err := parse(line)
		if errors.Is(err, errTorn) {
			l.Torn++
			continue
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		l.Entries = append(l.Entries, entry)
	}
}
