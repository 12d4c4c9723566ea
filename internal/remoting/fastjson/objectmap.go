// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"encoding/json"
	"reflect"
	"strings"
)

// ObjectMap is a map whose keys are objects on the wire, such as
// {{"brokerName":"a","queueId":0,"topic":"T"}:{...}}. K is a struct with json
// tags. A key that lacks one of K's members, or has it as null, is an error:
// without it a key would pass for queue 0. So is a second key that is equal to
// an earlier one.
type ObjectMap[K comparable, V any] map[K]V

// UnmarshalJSON implements json.Unmarshaler on text rewritten by this package.
func (m *ObjectMap[K, V]) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return failf("a map with objects as keys is not of that form")
	}
	if raw == nil {
		return nil
	}
	out := make(map[K]V, len(raw))
	for text, value := range raw {
		key, err := ParseKey[K](text)
		if err != nil {
			return err
		}
		if _, ok := out[key]; ok {
			return failf("two keys of a map are equal")
		}
		var v V
		if string(value) == "null" {
			return failf("a map with objects as keys has a value that is null")
		}
		if err := json.Unmarshal(value, &v); err != nil {
			return shapeError(err)
		}
		out[key] = v
	}
	*m = out
	return nil
}

// ParseKey decodes the text of an object used as a key into K, a struct with
// json tags, every one of whose members must be there.
func ParseKey[K comparable](text string) (K, error) {
	var key, zero K
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
		return zero, failf("a key of a map is not an object")
	}
	t := reflect.TypeFor[K]()
	if t.Kind() != reflect.Struct {
		return zero, failf("%s cannot hold an object used as a key", t)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if value, ok := members[name]; !ok || string(value) == "null" {
			return zero, failf("a key of a map has no member %q", name)
		}
	}
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		return zero, shapeError(err)
	}
	return key, nil
}
