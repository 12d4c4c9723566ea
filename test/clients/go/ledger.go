// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Events of a ledger; package test/ledger of the main module describes them.
const (
	eventSent     = "sent-ok"
	eventFailed   = "sent-fail"
	eventConsumed = "consumed"
	eventRefused  = "refused"
)

// entry is what is known of a message. A queue or offset below 0 is unknown.
type entry struct {
	key, topic, broker string
	queue              int
	offset             int64
	messageID, tag     string
	redelivered        int32
	orderKey, note     string
}

// ledger is a file with one line an event, each written with one call.
type ledger struct {
	file          *os.File
	client, group string
}

func openLedger(path, client, group string) (*ledger, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, client+".ledger")
	}
	torn, err := endsTorn(path)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	l := &ledger{file: file, client: client, group: group}
	if torn { // a killed client's last line must not swallow the next
		l.write("\n")
	}
	return l, nil
}

func endsTorn(path string) (bool, error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', err
}

func (l *ledger) note(event string, e entry) {
	fields := []string{
		fmt.Sprint(time.Now().UnixMilli()), event, e.key, e.topic, l.group, e.broker,
		fmt.Sprint(e.queue), fmt.Sprint(e.offset), e.messageID, e.tag,
		fmt.Sprint(e.redelivered), e.orderKey, l.client, e.note,
	}
	for i, field := range fields {
		fields[i] = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(field)
	}
	l.write(strings.Join(fields, "\t") + "\n")
}

// write ends the program when it fails: a run without its ledger proves nothing.
func (l *ledger) write(text string) {
	if _, err := l.file.WriteString(text); err != nil {
		fmt.Fprintln(os.Stderr, "cannot write the ledger:", err)
		os.Exit(3)
	}
}
