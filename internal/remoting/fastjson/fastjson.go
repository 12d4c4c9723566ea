// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fastjson decodes the bodies that RocketMQ servers write with
// fastjson. They are not JSON: integer map keys are bare ({0:"a"}), objects are
// map keys ({{"queueId":0}:{}}), and an object that occurs twice is written
// once and then referred to ({"$ref":"$.a.b"}) (rocketmq.md 1.7).
//
// The decoder is strict where a wrong guess would be taken for an empty
// cluster: text that is not understood, a body that is empty or null, and a
// member that its type declares required and that is missing are errors.
package fastjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Error says why a body could not be decoded. It shows no part of the body but
// the path of a reference.
type Error struct {
	// Offset is where in the body the trouble is, in bytes, or -1.
	Offset int
	// Reason is what is wrong there.
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return "body cannot be decoded: " + e.Reason
	}
	return fmt.Sprintf("body cannot be decoded at byte %d: %s", e.Offset, e.Reason)
}

func failf(format string, args ...any) *Error {
	return &Error{Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// Unmarshal decodes a body into v, a pointer to a Go value with json tags.
//
// A bare integer key becomes the same key as text, so it fits map[int]T and
// map[string]T. An object key becomes its JSON text, compact and with members
// in alphabetical order; [ObjectMap] decodes such keys. A reference is replaced
// by what it refers to.
//
// Members that v does not know are ignored, and members that the body leaves
// out keep their value, as in encoding/json, with one addition: a pointer, map
// or slice field with the tag fastjson:"required" must be there and not null.
//
// Every failure is an *Error, except one of v itself not being a pointer.
func Unmarshal(data []byte, v any) error {
	if p := reflect.ValueOf(v); p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("fastjson: cannot decode into %T, it is no pointer", v)
	}
	text, err := ToJSON(data)
	if err != nil {
		return err
	}
	if string(text) == "null" {
		return failf("it is null")
	}
	if err := json.Unmarshal(text, v); err != nil {
		return shapeError(err)
	}
	return checkRequired(reflect.ValueOf(v).Elem(), "")
}

// ToJSON rewrites a body to standard JSON as described at [Unmarshal].
func ToJSON(data []byte) ([]byte, error) {
	w := &rewriter{in: data, out: make([]byte, 0, len(data)+len(data)/8)}
	if err := w.document(); err != nil {
		return nil, err
	}
	if !w.refs {
		return w.out, nil
	}
	return expand(w.out)
}

// shapeError turns an error of encoding/json into one that does not repeat the
// number or key it stumbled over.
func shapeError(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return failf("member %q is not of the form expected (%s)", t.Field, t.Type)
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return failf("%s", s.Error())
	}
	return failf("a value is not of the form expected")
}
