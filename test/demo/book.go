// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/test/ledger"
)

// book follows the ledgers of clients while they write.
type book struct {
	dir string
	// read is how far each file was read.
	read map[string]int64
	// sent are the messages that brokers confirmed; retiring are those of them
	// in queues that are about to go.
	sent, retiring map[string]bool
	// consumed are the messages of each group.
	consumed map[string]map[string]bool
}

func newBook(dir string) *book {
	return &book{dir: dir, read: map[string]int64{}, sent: map[string]bool{}, retiring: map[string]bool{}, consumed: map[string]map[string]bool{}}
}

// update reads what was written since.
func (b *book) update() error {
	files, err := filepath.Glob(filepath.Join(b.dir, "*.ledger"))
	if err != nil {
		return fmt.Errorf("finding ledgers: %w", err)
	}
	for _, file := range files {
		if err := b.updateFile(file); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return nil
}

func (b *book) updateFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(b.read[path], io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	// A line that is still being written waits for the next time.
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	b.read[path] += int64(len(data))
	var news ledger.Ledger
	if err := news.Add(bytes.NewReader(data)); err != nil {
		return err
	}
	for _, entry := range news.Entries {
		b.note(entry)
	}
	return nil
}

func (b *book) note(entry ledger.Entry) {
	switch {
	case entry.Topic != topicName:
	case entry.Event == ledger.SentOK:
		b.sent[entry.Key] = true
		if entry.Queue >= narrow {
			b.retiring[entry.Key] = true
		}
	case entry.Event == ledger.Consumed:
		if b.consumed[entry.Group] == nil {
			b.consumed[entry.Group] = map[string]bool{}
		}
		b.consumed[entry.Group][entry.Key] = true
	}
}

// left is how many messages of retiring queues a group has not consumed, of how
// many.
func (b *book) left(group string) (left, of int) {
	for key := range b.retiring {
		if !b.consumed[group][key] {
			left++
		}
	}
	return left, len(b.retiring)
}
