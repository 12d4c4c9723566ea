// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// binaryFixed is the length of a binary header without remark and fields:
// code 2, language 1, version 2, opaque 4, flag 4, two lengths of 4.
const binaryFixed = 21

var errBinaryShort = errors.New("the binary header is shorter than it says")

func appendBinaryHeader(dst []byte, c *Command) ([]byte, error) {
	if c.Code < math.MinInt16 || c.Code > math.MaxInt16 {
		return nil, fmt.Errorf("code %d does not fit the binary header; use JSON", c.Code)
	}
	if c.Version < math.MinInt16 || c.Version > math.MaxInt16 {
		return nil, fmt.Errorf("version %d does not fit the binary header", c.Version)
	}
	if len(c.Remark) > math.MaxInt32 {
		return nil, errors.New("the remark does not fit the binary header")
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(c.Code)))
	dst = append(dst, languageCode(c.language()))
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(c.Version)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Opaque))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Flag))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Remark)))
	dst = append(dst, c.Remark...)

	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	for _, k := range slices.Sorted(maps.Keys(c.ExtFields)) {
		v := c.ExtFields[k]
		if len(k) > math.MaxInt16 || len(v) > maxHeader {
			return nil, errors.New("a header field does not fit the binary header")
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(k)))
		dst = append(dst, k...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v)))
		dst = append(dst, v...)
	}
	ext := len(dst) - at - 4
	if ext > maxHeader {
		return nil, errors.New("the header fields do not fit the binary header")
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(ext))
	return dst, nil
}

func parseBinaryHeader(data []byte) (*Command, error) {
	if len(data) < binaryFixed {
		return nil, errBinaryShort
	}
	c := &Command{
		Code:     int(int16(binary.BigEndian.Uint16(data))),
		Language: languageName(data[2]),
		Version:  int(int16(binary.BigEndian.Uint16(data[3:]))),
		Opaque:   int32(binary.BigEndian.Uint32(data[5:])),
		Flag:     int32(binary.BigEndian.Uint32(data[9:])),
		Encoding: Binary,
	}
	remark, rest, ok := cutPrefixed32(data[13:])
	if !ok {
		return nil, errBinaryShort
	}
	c.Remark = string(remark)
	ext, rest, ok := cutPrefixed32(rest)
	if !ok {
		return nil, errBinaryShort
	}
	if len(rest) > 0 {
		return nil, errors.New("the binary header is longer than it says")
	}
	for len(ext) > 0 {
		if len(ext) < 2 {
			return nil, errBinaryShort
		}
		n := int(binary.BigEndian.Uint16(ext))
		if n > math.MaxInt16 || len(ext) < 2+n {
			return nil, errBinaryShort
		}
		key := string(ext[2 : 2+n])
		var value []byte
		if value, ext, ok = cutPrefixed32(ext[2+n:]); !ok {
			return nil, errBinaryShort
		}
		if c.ExtFields == nil {
			c.ExtFields = map[string]string{}
		}
		c.ExtFields[key] = string(value)
	}
	return c, nil
}

// cutPrefixed32 splits data after a block that is preceded by its own length.
func cutPrefixed32(data []byte) (block, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, false
	}
	return data[4 : 4+n], data[4+n:], true
}
