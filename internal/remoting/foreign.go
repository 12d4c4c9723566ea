// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"fmt"
	"slices"
)

// ForeignProtocolError says that the other end of the connection speaks
// another protocol than RocketMQ remoting. It names the protocol and shows
// nothing of what was received.
type ForeignProtocolError struct {
	// Protocol is one of "HTTP/2", "HTTP/1", "TLS" and "text".
	Protocol string
}

// Error implements error.
func (e *ForeignProtocolError) Error() string {
	switch e.Protocol {
	case protoHTTP2:
		return "this port speaks gRPC (HTTP/2), not RocketMQ remoting; name servers listen on 9876 and brokers on 10911 unless configured otherwise, 8081 is a proxy's gRPC port"
	case protoHTTP1:
		return "this port speaks HTTP, not RocketMQ remoting"
	case protoTLS:
		return "this port answers with TLS while the connection is plain"
	default:
		return fmt.Sprintf("this port speaks a %s protocol, not RocketMQ remoting", e.Protocol)
	}
}

const (
	protoHTTP2 = "HTTP/2"
	protoHTTP1 = "HTTP/1"
	protoTLS   = "TLS"
	protoText  = "text"
)

func wrongEndpoint(protocol string) *Error {
	return &Error{Kind: WrongEndpoint, Err: &ForeignProtocolError{Protocol: protocol}}
}

// foreignByLength recognises protocols by the four bytes in which a frame has
// its length. Frames below 16 MiB begin with a zero byte; read as a length, each
// of these would be a frame of more than 128 MiB.
func foreignByLength(b [4]byte) string {
	switch {
	case string(b[:]) == "PRI ":
		return protoHTTP2
	case string(b[:]) == "HTTP", slices.Contains([]string{"GET ", "POST", "PUT ", "HEAD", "OPTI", "DELE", "PATC", "CONN"}, string(b[:])):
		return protoHTTP1
	case b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4:
		return protoTLS
	}
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\r' && c != '\n' && c != '\t' {
			return ""
		}
	}
	return protoText
}

// foreignByPrefix recognises an HTTP/2 server by its first frame: SETTINGS or
// GOAWAY on stream 0. Read as remoting it announces a header of no bytes (the
// flags and the first three bytes of the stream id), which no peer sends.
func foreignByPrefix(b [8]byte) string {
	const settings, goAway = 0x4, 0x7
	if b[0] == 0 && (b[3] == settings || b[3] == goAway) && [4]byte(b[4:]) == [4]byte{} {
		return protoHTTP2
	}
	return ""
}
