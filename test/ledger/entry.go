// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Event is what happened to a message.
type Event string

const (
	// SentOK: the server confirmed that it has the message. For a transaction the
	// commit has been sent as well.
	SentOK Event = "sent-ok"
	// SentFail: the send failed, or its end is unknown. The server may have the
	// message all the same.
	SentFail Event = "sent-fail"
	// Consumed: the handler is done with the message; the server is told after that.
	Consumed Event = "consumed"
	// Refused: the handler refused the message, which is to come again.
	Refused Event = "refused"
)

const columns = 14

// Unknown stands for a queue id or an offset that the client was not told.
const Unknown = -1

// Entry is one line of a ledger. The package comment describes the columns.
type Entry struct {
	Time        time.Time
	Event       Event
	Key         string
	Topic       string
	Group       string
	Broker      string
	Queue       int
	Offset      int64
	MessageID   string
	Tag         string
	Redelivered int
	OrderKey    string
	Client      string
	Note        string
}

// errTorn says that a line is not whole: its writer was killed, or is writing.
var errTorn = errors.New("the line is not whole")

// parse reads one line without its end. A line with too few columns is errTorn;
// anything else that is not an entry is an error of the client that wrote it.
func parse(line string) (Entry, error) {
	fields := strings.Split(line, "\t")
	if len(fields) < columns {
		return Entry{}, errTorn
	}
	if len(fields) > columns {
		return Entry{}, fmt.Errorf("%d columns instead of %d", len(fields), columns)
	}
	millis, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return Entry{}, fmt.Errorf("time: %w", err)
	}
	queue, err := strconv.Atoi(fields[6])
	if err != nil {
		return Entry{}, fmt.Errorf("queue: %w", err)
	}
	offset, err := strconv.ParseInt(fields[7], 10, 64)
	if err != nil {
		return Entry{}, fmt.Errorf("offset: %w", err)
	}
	redelivered, err := strconv.Atoi(fields[10])
	if err != nil {
		return Entry{}, fmt.Errorf("redelivered: %w", err)
	}
	e := Entry{
		Time: time.UnixMilli(millis), Event: Event(fields[1]), Key: fields[2], Topic: fields[3], Group: fields[4],
		Broker: fields[5], Queue: queue, Offset: offset, MessageID: fields[8], Tag: fields[9],
		Redelivered: redelivered, OrderKey: fields[11], Client: fields[12], Note: fields[13],
	}
	switch e.Event {
	case SentOK, SentFail, Consumed, Refused:
		return e, nil
	default:
		return Entry{}, fmt.Errorf("event %q is unknown", e.Event)
	}
}
