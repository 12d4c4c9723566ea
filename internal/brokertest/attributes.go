// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// attributeRule is one attribute that a table of attributes knows.
type attributeRule struct {
	changeable bool
	check      func(string) error
}

type attributeRules map[string]attributeRule

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("value is not in set: %v", values)
	}
}

func inRange(low, high int64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return javaError(fmt.Sprintf("For input string: %q", v))
		}
		if n < low || n > high {
			return fmt.Errorf("value is not in range(%d, %d)", low, high)
		}
		return nil
	}
}

// topicAttributes are the topic attributes a release knows (rocketmq.md 3.4,
// rocketmq-live.md 3).
func (v Version) topicAttributes() attributeRules {
	types := []string{"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"}
	if v.since540() {
		types = append(types, "PRIORITY")
	}
	if v >= V550 {
		types = append(types, "LITE")
	}
	rules := attributeRules{
		"message.type":   {changeable: true, check: oneOf(types...)},
		"queue.type":     {check: oneOf("BatchCQ", "SimpleCQ")},
		"cleanup.policy": {check: oneOf("DELETE", "COMPACTION")},
		"reserve.time":   {changeable: true, check: inRange(-1, 1<<62)},
	}
	if v >= V550 {
		rules["lite.topic.expiration"] = attributeRule{changeable: true, check: inRange(-1, 43200)}
	}
	return rules
}

// groupAttributes are the group attributes a release knows.
func (v Version) groupAttributes() attributeRules {
	rules := attributeRules{}
	if v.since540() {
		rules["priority.factor"] = attributeRule{changeable: true, check: inRange(0, 100)}
	}
	if v >= V550 {
		anything := func(string) error { return nil }
		rules["lite.bind.topic"] = attributeRule{changeable: true, check: anything}
		rules["lite.sub.model"] = attributeRule{changeable: true, check: oneOf("Shared", "Exclusive")}
		rules["lite.sub.client.quota"] = attributeRule{changeable: true, check: inRange(-1, 1<<62)}
	}
	return rules
}

// parseAttributes reads "+k=v,-k" as the broker does.
func parseAttributes(text string) (map[string]string, error) {
	signed := map[string]string{}
	if text == "" {
		return signed, nil
	}
	for _, kv := range strings.Split(text, ",") {
		key, value, hasValue := strings.Cut(kv, "=")
		switch {
		case hasValue && !strings.Contains(key, "+"):
			return nil, errors.New("add/alter attribute format is wrong: " + key)
		case !hasValue && !strings.Contains(key, "-"):
			return nil, errors.New("delete attribute format is wrong: " + key)
		}
		if _, twice := signed[key]; twice {
			return nil, errors.New("key duplication: " + key)
		}
		value, _, _ = strings.Cut(value, "=")
		signed[key] = value
	}
	return signed, nil
}

// javaError is an error in Java's own words, full stop included.
type javaError string

func (e javaError) Error() string { return string(e) }

// errBadAttribute is the broker's answer to a key without a name.
const errBadAttribute = javaError("kv string format wrong.")

// alter applies signed attributes to the current ones.
func (rules attributeRules) alter(create bool, current, signed map[string]string) (map[string]string, error) {
	out := map[string]string{}
	maps.Copy(out, current)
	for _, key := range slices.Sorted(maps.Keys(signed)) {
		if key == "" {
			return nil, errBadAttribute
		}
		sign, name := key[0], key[1:]
		_, has := current[name]
		switch {
		case name == "" || strings.ContainsAny(name, "+-"):
			return nil, errBadAttribute
		case create && sign != '+':
			return nil, errors.New("only add attribute is supported while creating topic. key: " + name)
		case sign != '+' && sign != '-':
			return nil, errors.New("wrong format key: " + name)
		case sign == '-' && !has:
			return nil, errors.New("attempt to delete a nonexistent key: " + name)
		}
		rule, known := rules[name]
		switch {
		case !known:
			return nil, errors.New("unsupported key: " + name)
		case !create && !rule.changeable:
			return nil, errors.New("attempt to update an unchangeable attribute. key: " + name)
		}
		if sign == '-' {
			delete(out, name)
			continue
		}
		if err := rule.check(signed[key]); err != nil {
			return nil, err
		}
		out[name] = signed[key]
	}
	return out, nil
}
