// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxDepth bounds nesting, and hops over references. Bodies of RocketMQ nest
// below ten.
const maxDepth = 128

// rewriter turns fastjson text into compact standard JSON in one pass.
type rewriter struct {
	in  []byte
	pos int
	out []byte
	// refs reports that the text holds a reference.
	refs bool
	// inKey reports that an object used as a key is being read. Such a key in
	// another would double its escapes at every level; servers have none.
	inKey bool
}

func (w *rewriter) document() error {
	w.space()
	if w.pos == len(w.in) {
		return w.fail("it is empty")
	}
	if err := w.value(0); err != nil {
		return err
	}
	w.space()
	if w.pos < len(w.in) {
		return w.fail("something follows the document")
	}
	return nil
}

func (w *rewriter) value(depth int) error {
	if depth > maxDepth {
		return w.fail("it nests deeper than %d", maxDepth)
	}
	switch c := w.peek(); {
	case c == '{':
		return w.object(depth)
	case c == '[':
		return w.array(depth)
	case c == '"':
		return w.str()
	case c == '-' || isDigit(c):
		return w.number()
	default:
		return w.literal()
	}
}

func (w *rewriter) object(depth int) error {
	w.copyByte()
	start, members, ref := len(w.out), 0, false
	for w.space(); w.peek() != '}'; w.space() {
		if members > 0 {
			if err := w.expect(','); err != nil {
				return err
			}
			w.space()
		}
		keyAt := len(w.out)
		if err := w.key(depth); err != nil {
			return err
		}
		isRef := keyAt == start && string(w.out[keyAt:]) == `"$ref"`
		w.space()
		if err := w.expect(':'); err != nil {
			return err
		}
		w.space()
		ref = isRef && w.peek() == '"'
		if err := w.value(depth + 1); err != nil {
			return err
		}
		members++
	}
	w.copyByte()
	w.refs = w.refs || (ref && members == 1)
	return nil
}

// key rewrites a member's key to a string, whatever it was.
func (w *rewriter) key(depth int) error {
	start := len(w.out)
	switch c := w.peek(); {
	case c == '"':
		return w.str()
	case c == '{' || c == '[':
		if w.inKey {
			return w.fail("an object used as a key has such a key itself")
		}
		w.inKey = true
		err := w.value(depth + 1)
		w.inKey = false
		if err != nil {
			return err
		}
		var text []byte
		text, err = canonical(w.out[start:])
		if err != nil {
			return w.fail("an object used as a key cannot be decoded")
		}
		w.out = appendQuoted(w.out[:start], text)
		return nil
	case c == '-' || isDigit(c):
		w.out = append(w.out, '"')
		if err := w.integer(); err != nil {
			return err
		}
		w.out = append(w.out, '"')
		return nil
	case c == 't' || c == 'f' || c == 'n':
		w.out = append(w.out, '"')
		if err := w.literal(); err != nil {
			return err
		}
		w.out = append(w.out, '"')
		return nil
	default:
		return w.fail("a key was expected")
	}
}

func (w *rewriter) array(depth int) error {
	w.copyByte()
	elements := 0
	for w.space(); w.peek() != ']'; w.space() {
		if elements > 0 {
			if err := w.expect(','); err != nil {
				return err
			}
			w.space()
		}
		if err := w.value(depth + 1); err != nil {
			return err
		}
		elements++
	}
	w.copyByte()
	return nil
}

// peek returns the next byte, or 0 at the end; a 0 in the text is no valid
// start of anything either.
func (w *rewriter) peek() byte {
	if w.pos < len(w.in) {
		return w.in[w.pos]
	}
	return 0
}

func (w *rewriter) copyByte() {
	w.out = append(w.out, w.in[w.pos])
	w.pos++
}

func (w *rewriter) expect(c byte) error {
	if w.peek() != c {
		return w.fail("%q was expected", c)
	}
	w.copyByte()
	return nil
}

func (w *rewriter) space() {
	for w.pos < len(w.in) {
		switch w.in[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

func (w *rewriter) fail(format string, args ...any) error {
	return &Error{Offset: w.pos, Reason: fmt.Sprintf(format, args...)}
}

// canonical returns JSON text with the members of all objects in alphabetical
// order, so that equal keys have equal text.
func canonical(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return appendValue(nil, v)
}

// appendQuoted appends text as a JSON string.
func appendQuoted(dst, text []byte) []byte {
	quoted, err := appendValue(dst, string(text))
	if err != nil { // a string always encodes
		panic(err)
	}
	return quoted
}

// appendValue appends the JSON of v without escapes for HTML.
func appendValue(dst []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(dst, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...), nil
}
