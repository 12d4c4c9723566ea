// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

const (
	// expandFactor and expandFloor bound how much text references may unfold
	// to, relative to the body and in bytes: references to references grow
	// without end otherwise.
	expandFactor = 16
	expandFloor  = 1 << 20
)

// expand replaces every reference in standard JSON text by what it refers to.
func expand(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, failf("it holds references and is not readable without them")
	}
	x := &expander{root: root, names: map[uintptr]map[string]string{}, limit: max(expandFactor*len(text), expandFloor)}
	if err := x.value(root, 0); err != nil {
		return nil, err
	}
	return x.out, nil
}

type expander struct {
	root any
	// names holds, for maps that paths lead through, the keys that are objects
	// by the text that a path has for them.
	names map[uintptr]map[string]string
	out   []byte
	limit int
}

func (x *expander) value(v any, depth int) error {
	if depth > maxDepth {
		return failf("its references form a loop, or it nests deeper than %d", maxDepth)
	}
	if len(x.out) > x.limit {
		return failf("its references unfold to more than %d bytes", x.limit)
	}
	switch v := v.(type) {
	case map[string]any:
		if path, ok := v["$ref"].(string); ok && len(v) == 1 {
			target, err := x.find(path)
			if err != nil {
				return err
			}
			return x.value(target, depth+1)
		}
		return x.object(v, depth)
	case []any:
		x.out = append(x.out, '[')
		for i, e := range v {
			if i > 0 {
				x.out = append(x.out, ',')
			}
			if err := x.value(e, depth+1); err != nil {
				return err
			}
		}
		x.out = append(x.out, ']')
		return nil
	default:
		return x.scalar(v)
	}
}

func (x *expander) object(v map[string]any, depth int) error {
	x.out = append(x.out, '{')
	for i, k := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		if err := x.scalar(k); err != nil {
			return err
		}
		x.out = append(x.out, ':')
		if err := x.value(v[k], depth+1); err != nil {
			return err
		}
	}
	x.out = append(x.out, '}')
	return nil
}

func (x *expander) scalar(v any) error {
	out, err := appendValue(x.out, v)
	if err != nil {
		return failf("a value cannot be written again")
	}
	x.out = out
	return nil
}

// find returns what a reference refers to.
func (x *expander) find(path string) (any, error) {
	if path == "$" || path == "@" || path == ".." {
		return nil, failf("reference %q forms a loop", path)
	}
	steps, ok := parsePath(path)
	if !ok {
		return nil, failf("reference %.120q is not understood", path)
	}
	v := x.root
	for _, s := range steps {
		if v, ok = x.follow(s, v); !ok {
			return nil, failf("reference %.120q leads nowhere", path)
		}
	}
	return v, nil
}

// follow returns the member or element of v that the step names.
func (x *expander) follow(s step, v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		if e, ok := v[s.name]; ok {
			return e, true
		}
		if k, ok := x.objectKeys(v)[s.name]; ok {
			return v[k], true
		}
	case []any:
		if i, err := strconv.Atoi(s.name); err == nil && s.index && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

func (x *expander) objectKeys(m map[string]any) map[string]string {
	id := reflect.ValueOf(m).Pointer()
	names, ok := x.names[id]
	if !ok {
		names = map[string]string{}
		for k := range m {
			if text, ok := javaText(k); ok {
				names[text] = k
			}
		}
		x.names[id] = names
	}
	return names
}

// javaText returns the text by which a path names an object that is a map key:
// its toString in Java. MessageQueue is the only class used so.
func javaText(key string) (string, bool) {
	if len(key) == 0 || key[0] != '{' {
		return "", false
	}
	var q struct {
		Topic      *string `json:"topic"`
		BrokerName *string `json:"brokerName"`
		QueueID    *int    `json:"queueId"`
	}
	if json.Unmarshal([]byte(key), &q) != nil || q.Topic == nil || q.BrokerName == nil || q.QueueID == nil {
		return "", false
	}
	return fmt.Sprintf("MessageQueue [topic=%s, brokerName=%s, queueId=%d]", *q.Topic, *q.BrokerName, *q.QueueID), true
}
