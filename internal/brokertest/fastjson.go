// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The shapes of fastjson documents. Objects are written with their members in
// alphabetical order and without those that are nil.
type (
	jObject map[string]any
	// jInts is a map with integer keys, which fastjson does not quote.
	jInts map[int64]any
	// jPairs is a map with objects as keys.
	jPairs []jPair
	jPair  struct{ Key, Value any }
	jList  []any
	// jRaw is a document that was taken in as text.
	jRaw string
)

// jDialect is how a document is written.
type jDialect struct {
	// standard quotes integer keys and escapes what is not ASCII, as name
	// servers do in call 105 for callers of 4.9.4 and later (rocketmq.md 1.7).
	standard bool
}

func fastjson(v any) []byte { return jDialect{}.append(nil, v) }

func standardJSON(v any) []byte { return jDialect{standard: true}.append(nil, v) }

func (d jDialect) append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
		if v == float64(int64(v)) {
			b = append(b, ".0"...)
		}
		return b
	case string:
		return d.appendString(b, v)
	case jRaw:
		return append(b, v...)
	case jObject:
		return d.appendObject(b, v)
	case jInts:
		b = append(b, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			b = comma(b, i)
			key := strconv.FormatInt(k, 10)
			if d.standard {
				key = `"` + key + `"`
			}
			b = append(append(b, key...), ':')
			b = d.append(b, v[k])
		}
		return append(b, '}')
	case jPairs:
		b = append(b, '{')
		for i, p := range v {
			b = comma(b, i)
			b = append(d.append(b, p.Key), ':')
			b = d.append(b, p.Value)
		}
		return append(b, '}')
	case jList:
		b = append(b, '[')
		for i, e := range v {
			b = d.append(comma(b, i), e)
		}
		return append(b, ']')
	case []string:
		b = append(b, '[')
		for i, e := range v {
			b = d.appendString(comma(b, i), e)
		}
		return append(b, ']')
	default:
		panic("brokertest: no JSON form for this type")
	}
}

func (d jDialect) appendObject(b []byte, o jObject) []byte {
	b = append(b, '{')
	n := 0
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if o[k] == nil {
			continue
		}
		b = comma(b, n)
		n++
		b = append(d.appendString(b, k), ':')
		b = d.append(b, o[k])
	}
	return append(b, '}')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

func (d jDialect) appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20 || d.standard && r >= 0x7f && r < 0x10000:
			b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		case d.standard && r >= 0x10000:
			r -= 0x10000
			for _, u := range []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff} {
				b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			}
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return append(b, '"')
}
