// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Message is one stored message. Its fields do not change once it is returned.
type Message struct {
	// ID names the message in the ledger: "m-17".
	ID     string
	Topic  string
	Broker string
	// Queue and Offset are where it is stored.
	Queue  int
	Offset int64
	Key    string
	Tag    string
	Body   string
	// Properties are RocketMQ's message properties, KEYS and TAGS included.
	Properties map[string]string
	// Stored is when it was put into this queue.
	Stored time.Time
	// Reconsumed counts deliveries that failed before.
	Reconsumed int

	physical int64
	// delivered counts deliveries by group; filtered marks groups whose filter
	// passed over it. Guarded by the cluster's mu.
	delivered map[string]int
	filtered  map[string]bool
	// carried is, by group, the copy that brings the message back after a
	// failed or unacknowledged delivery; nil while it is still in flight.
	carried map[string]*Message
}

// String names the message and where it is.
func (m *Message) String() string {
	return fmt.Sprintf("%s (%s %s queue %d offset %d)", m.ID, m.Topic, m.Broker, m.Queue, m.Offset)
}

// messageMagic begins every stored message.
const messageMagic = 0xdaa320a7

// encode is the message as brokers store and send it.
func (m *Message) encode(storeHost string) []byte {
	var props strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m.Properties)) {
		props.WriteString(k + "\x01" + m.Properties[k] + "\x02")
	}
	b := make([]byte, 4, 128+len(m.Body)+props.Len())
	put32 := func(v uint32) { b = binary.BigEndian.AppendUint32(b, v) }
	put64 := func(v int64) { b = binary.BigEndian.AppendUint64(b, uint64(v)) }
	host := hostBytes(storeHost)
	put32(messageMagic)
	put32(crc32.ChecksumIEEE([]byte(m.Body)) & 0x7fffffff)
	put32(uint32(m.Queue))
	put32(0) // flag
	put64(m.Offset)
	put64(m.physical)
	put32(0) // sysFlag
	put64(m.Stored.UnixMilli())
	b = append(b, host...)
	put64(m.Stored.UnixMilli())
	b = append(b, host...)
	put32(uint32(m.Reconsumed))
	put64(0) // prepared transaction offset
	put32(uint32(len(m.Body)))
	b = append(b, m.Body...)
	b = append(append(b, byte(len(m.Topic))), m.Topic...)
	b = binary.BigEndian.AppendUint16(b, uint16(props.Len()))
	b = append(b, props.String()...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// hostBytes is an IPv4 address and port in eight bytes.
func hostBytes(addr string) []byte {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return make([]byte, 8)
	}
	ip := ap.Addr().As4()
	return binary.BigEndian.AppendUint32(ip[:], uint32(ap.Port()))
}
