// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Message is a message as a broker stores it.
type Message struct {
	Topic string
	// Queue and Offset are where it is in its topic; Position is where it is
	// in the commit log, in bytes.
	Queue    int
	Offset   int64
	Position int64
	// Born is by the sender's clock, Stored by the broker's.
	Born, Stored time.Time
	// BornHost is the sender's socket.
	BornHost netip.AddrPort
	// Flags are RocketMQ's sysFlag bits.
	Flags      int
	Retries    int
	Properties map[string]string
	// Body is as stored; it is compressed when Compressed says so.
	Body []byte
}

// Properties of a message that waits in one of RocketMQ's own topics: the topic
// and queue it will be delivered to (rocketmq.md 4.4).
const (
	PropertyRealTopic = "REAL_TOPIC"
	PropertyRealQueue = "REAL_QID"
)

// Compressed reports whether Body is compressed.
func (m Message) Compressed() bool { return m.Flags&flagCompressed != 0 }

const (
	flagCompressed   = 1 << 0
	flagBornHostIPv6 = 1 << 4
	flagStoreIPv6    = 1 << 5

	// Magic numbers of stored messages: in version 1 the topic's length is one
	// byte, in version 2 two.
	magicV1 = 0xdaa320a7
	magicV2 = 0xdaa320ab

	// Separators of the properties text: name and value, pair and pair.
	nameEnd, pairEnd = "\x01", "\x02"
)

// decodeMessages splits the body of a pull into messages. A body that does not
// end with a message's end is unreadable as a whole.
func decodeMessages(body []byte) ([]Message, error) {
	var all []Message
	for len(body) > 0 {
		if len(body) < 4 {
			return nil, errors.New("a message has no length")
		}
		size := int64(binary.BigEndian.Uint32(body))
		if size < 4 || size > int64(len(body)) {
			return nil, fmt.Errorf("message %d of the body is cut off", len(all)+1)
		}
		m, err := decodeMessage(body[4:size])
		if err != nil {
			return nil, fmt.Errorf("message %d of the body: %w", len(all)+1, err)
		}
		all = append(all, m)
		body = body[size:]
	}
	return all, nil
}

// decodeMessage reads what follows a message's length.
func decodeMessage(data []byte) (Message, error) {
	r := reader{data: data}
	magic := r.uint32()
	if r.err == nil && magic != magicV1 && magic != magicV2 {
		return Message{}, errors.New("it does not begin with the mark of a message")
	}
	r.uint32() // the body's checksum: TCP has one of its own
	var m Message
	m.Queue = int(int32(r.uint32()))
	r.uint32() // the sender's flag
	m.Offset = r.int64()
	m.Position = r.int64()
	m.Flags = int(int32(r.uint32()))
	m.Born = millis(r.int64())
	m.BornHost = r.host(m.Flags&flagBornHostIPv6 != 0)
	m.Stored = millis(r.int64())
	r.host(m.Flags&flagStoreIPv6 != 0)
	m.Retries = int(int32(r.uint32()))
	r.int64() // the half message's position
	m.Body = r.bytes(int64(int32(r.uint32())))
	length := int64(r.byte())
	if magic == magicV2 {
		length = length<<8 | int64(r.byte())
	}
	m.Topic = string(r.bytes(length))
	properties := r.bytes(int64(int16(r.uint16())))
	switch {
	case r.err != nil:
		return Message{}, r.err
	case len(r.data) > 0:
		return Message{}, errors.New("it is longer than what it holds")
	case m.Topic == "":
		return Message{}, errors.New("it has no topic")
	}
	var err error
	m.Properties, err = decodeProperties(string(properties))
	return m, err
}

// decodeProperties splits name, 0x01, value, 0x02 …; the last 0x02 may be
// missing.
func decodeProperties(text string) (map[string]string, error) {
	properties := map[string]string{}
	for pair := range strings.SplitSeq(text, pairEnd) {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, nameEnd)
		if !ok {
			return nil, errors.New("a property has no value")
		}
		properties[name] = value
	}
	return properties, nil
}

// reader takes big-endian fields off the front of data and keeps the first
// error.
type reader struct {
	data []byte
	err  error
}

func (r *reader) bytes(n int64) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > int64(len(r.data)) {
		r.err = errors.New("it ends before all of its fields")
		return nil
	}
	taken := r.data[:n:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// host reads an address of 4 or 16 bytes and a port of 4.
func (r *reader) host(v6 bool) netip.AddrPort {
	n := int64(4)
	if v6 {
		n = 16
	}
	addr, _ := netip.AddrFromSlice(r.bytes(n))
	port := r.uint32()
	if r.err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, uint16(port))
}
