// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"fmt"
	"strconv"
	"strings"
)

// table reads typed values from a table of text and keeps the first error, so
// that a missing or unreadable value is an error and never zero. Errors name
// the key and not the value: a broker's settings hold passwords.
type table struct {
	values map[string]string
	err    error
}

func (t *table) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// text returns a value that must be there.
func (t *table) text(key string) string {
	v, ok := t.values[key]
	if !ok {
		t.fail(fmt.Errorf("it has no %s", key))
	}
	return v
}

// number returns a whole number that must be there.
func (t *table) number(key string) int64 { return t.parse(key, t.text(key)) }

// optional returns a whole number, or zero when this version has no such key.
func (t *table) optional(key string) int64 {
	if v, ok := t.values[key]; ok {
		return t.parse(key, v)
	}
	return 0
}

func (t *table) parse(key, text string) int64 {
	if t.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.fail(fmt.Errorf("%s is not a whole number", key))
	}
	return n
}

// flag returns a switch that must be there.
func (t *table) flag(key string) bool { return t.parseFlag(key, t.text(key)) }

// optionalFlag returns a switch, or false when this version has no such key.
func (t *table) optionalFlag(key string) bool {
	if v, ok := t.values[key]; ok {
		return t.parseFlag(key, v)
	}
	return false
}

func (t *table) parseFlag(key, text string) bool {
	switch {
	case strings.EqualFold(text, "true"):
		return true
	case strings.EqualFold(text, "false"):
		return false
	}
	t.fail(fmt.Errorf("%s is neither true nor false", key))
	return false
}
