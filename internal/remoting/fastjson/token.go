// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"bytes"
	"fmt"
)

// str copies a string. fastjson leaves UTF-8 as it is; control characters that
// a writer left raw are escaped, since JSON has none.
func (w *rewriter) str() error {
	w.copyByte()
	for w.pos < len(w.in) {
		switch c := w.in[w.pos]; {
		case c == '"':
			w.copyByte()
			return nil
		case c == '\\':
			if err := w.escape(); err != nil {
				return err
			}
		case c < ' ':
			w.out = fmt.Appendf(w.out, "\\u%04x", c)
			w.pos++
		default:
			w.copyByte()
		}
	}
	return w.fail("a string does not end")
}

func (w *rewriter) escape() error {
	if w.pos+1 >= len(w.in) {
		return w.fail("a string does not end")
	}
	n := 2
	switch w.in[w.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		n = 6
		if w.pos+n > len(w.in) {
			return w.fail("a string does not end")
		}
		for _, c := range w.in[w.pos+2 : w.pos+n] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return w.fail("an escape in a string is not known")
			}
		}
	default:
		return w.fail("an escape in a string is not known")
	}
	w.out = append(w.out, w.in[w.pos:w.pos+n]...)
	w.pos += n
	return nil
}

// number copies a JSON number.
func (w *rewriter) number() error {
	if err := w.integer(); err != nil {
		return err
	}
	if w.peek() == '.' {
		w.copyByte()
		if err := w.digits(); err != nil {
			return err
		}
	}
	if c := w.peek(); c == 'e' || c == 'E' {
		w.copyByte()
		if c := w.peek(); c == '+' || c == '-' {
			w.copyByte()
		}
		return w.digits()
	}
	return nil
}

// integer copies an optional sign and digits without a leading zero.
func (w *rewriter) integer() error {
	if w.peek() == '-' {
		w.copyByte()
	}
	if w.peek() == '0' {
		w.copyByte()
		if isDigit(w.peek()) {
			return w.fail("a number begins with 0")
		}
		return nil
	}
	return w.digits()
}

func (w *rewriter) digits() error {
	if !isDigit(w.peek()) {
		return w.fail("a digit was expected")
	}
	for isDigit(w.peek()) {
		w.copyByte()
	}
	return nil
}

func (w *rewriter) literal() error {
	for _, l := range [3]string{"true", "false", "null"} {
		if bytes.HasPrefix(w.in[w.pos:], []byte(l)) {
			w.out = append(w.out, l...)
			w.pos += len(l)
			return nil
		}
	}
	return w.fail("a value was expected")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
