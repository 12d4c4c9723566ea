// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	// DefaultMaxFrame is the largest frame in bytes that servers accept and
	// that ReadCommand takes unless told otherwise (rocketmq.md 1.1).
	DefaultMaxFrame = 16 << 20
	// MaxFrameCeiling is the largest limit that ReadCommand takes. Above it a
	// length could no longer be told from the first bytes of another protocol.
	MaxFrameCeiling = 128 << 20

	// maxHeader is what fits the 24 bits of the header length.
	maxHeader = 1<<24 - 1
	// readStep is how much is allocated on a peer's word alone; beyond it the
	// buffer grows only as bytes really arrive.
	readStep = 64 << 10
)

// FrameTooLargeError says that a peer announced a frame beyond the limit. What
// the frame would have said is unknown.
type FrameTooLargeError struct {
	// Length and Limit are in bytes.
	Length, Limit int

	// header is the frame without its body when that much could be read; rest
	// is how many bytes of body then remain in the stream.
	header *Command
	rest   int
}

// Error implements error.
func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is over the limit of %d", e.Length, e.Limit)
}

// AppendCommand appends the frame of c to dst. On an error dst is returned
// unchanged.
func AppendCommand(dst []byte, c *Command) ([]byte, error) {
	start := len(dst)
	out := append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	var err error
	switch c.Encoding {
	case JSON:
		out, err = appendJSONHeader(out, c)
	case Binary:
		out, err = appendBinaryHeader(out, c)
	default:
		err = fmt.Errorf("serialize type %d is unknown", c.Encoding)
	}
	if err != nil {
		return dst, &Error{Code: c.Code, Kind: Malformed, Err: err}
	}
	header := len(out) - start - 8
	if header > maxHeader {
		return dst, &Error{Code: c.Code, Kind: TooLarge, Err: fmt.Errorf("header of %d bytes is over the limit of %d", header, maxHeader)}
	}
	total := 4 + header + len(c.Body)
	if total > math.MaxInt32 {
		return dst, &Error{Code: c.Code, Kind: TooLarge, Err: &FrameTooLargeError{Length: total, Limit: math.MaxInt32}}
	}
	out = append(out, c.Body...)
	binary.BigEndian.PutUint32(out[start:], uint32(total))
	binary.BigEndian.PutUint32(out[start+4:], uint32(c.Encoding)<<24|uint32(header))
	return out, nil
}

// ReadCommand reads one frame. maxFrame limits the length that the frame
// announces, in bytes; 0 means DefaultMaxFrame, and more than MaxFrameCeiling
// means MaxFrameCeiling. The length is judged before anything is allocated.
//
// A peer that closed between frames gives io.EOF; one that closed inside a
// frame gives an error that is io.ErrUnexpectedEOF. Anything else is an *Error
// of kind WrongEndpoint (the peer speaks HTTP, HTTP/2 or TLS), TooLarge or
// Malformed, and the stream cannot be read further. Failures of r are returned
// as they are.
func ReadCommand(r io.Reader, maxFrame int) (*Command, error) {
	if maxFrame <= 0 {
		maxFrame = DefaultMaxFrame
	}
	maxFrame = min(maxFrame, MaxFrameCeiling)
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:4]); err != nil {
		return nil, err
	}
	if p := foreignByLength([4]byte(prefix[:4])); p != "" {
		return nil, wrongEndpoint(p)
	}
	total := int64(binary.BigEndian.Uint32(prefix[:4]))
	if total < 4 {
		return nil, malformed("frame length %d is below 4", total)
	}
	if _, err := io.ReadFull(r, prefix[4:]); err != nil {
		return nil, noEOF(err)
	}
	if p := foreignByPrefix(prefix); p != "" {
		return nil, wrongEndpoint(p)
	}
	encoding, header := Encoding(prefix[4]), int64(binary.BigEndian.Uint32(prefix[4:])&maxHeader)
	if header > total-4 {
		return nil, malformed("header length %d is over the frame length %d", header, total)
	}
	body := int(total - 4 - header)
	if total > int64(maxFrame) {
		large := &FrameTooLargeError{Length: int(total), Limit: maxFrame}
		if header <= readStep {
			if c, err := readHeader(r, encoding, int(header)); err == nil {
				large.header, large.rest = c, body
			}
		}
		return nil, &Error{Kind: TooLarge, Err: large}
	}
	c, err := readHeader(r, encoding, int(header))
	if err != nil {
		return nil, err
	}
	if body > 0 {
		if c.Body, err = readN(r, body); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readHeader(r io.Reader, encoding Encoding, n int) (*Command, error) {
	data, err := readN(r, n)
	if err != nil {
		return nil, err
	}
	var c *Command
	switch encoding {
	case JSON:
		c, err = parseJSONHeader(data)
	case Binary:
		c, err = parseBinaryHeader(data)
	default:
		err = fmt.Errorf("serialize type %d is unknown", encoding)
	}
	if err != nil {
		return nil, &Error{Kind: Malformed, Err: err}
	}
	return c, nil
}

// readN reads exactly n bytes, trusting the announced n for no more than
// readStep bytes ahead of what has arrived.
func readN(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, min(n, readStep))
	have := 0
	for {
		m, err := io.ReadFull(r, buf[have:])
		if err != nil {
			return nil, noEOF(err)
		}
		if have += m; have == n {
			return buf, nil
		}
		next := make([]byte, min(n, 2*len(buf)))
		copy(next, buf)
		buf = next
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func malformed(format string, args ...any) *Error {
	return &Error{Kind: Malformed, Err: fmt.Errorf(format, args...)}
}
