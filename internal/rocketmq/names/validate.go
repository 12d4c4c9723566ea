// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"errors"
	"fmt"
)

const (
	// MaxTopic is the longest topic name in characters that request 17 and all
	// Java clients take (rocketmq.md 11.3).
	MaxTopic = 127
	// MaxGroup is the longest group name in characters for which the group's
	// retry topic can exist on every supported version: MaxTopic without
	// RetryPrefix. Brokers from 5.4.0 enforce the same number (rocketmq-live.md 2).
	MaxGroup = MaxTopic - len(RetryPrefix)
)

// ErrEmpty says that a name has no characters.
var ErrEmpty = errors.New("the name is empty")

// ValidateTopic says why name cannot be a topic's name; nil if it can be.
// It does not judge whose the name is: see ReservedTopic.
func ValidateTopic(name string) error { return validate("topic", name, MaxTopic) }

// ValidateGroup says why name cannot be a consumer group's name; nil if it can
// be. Brokers before 5.4.0 store any name and fail later, so the rule is kept
// here (rocketmq.md 11.3). It does not judge whose the name is: see
// ReservedGroup.
func ValidateGroup(name string) error { return validate("group", name, MaxGroup) }

func validate(kind, name string, most int) error {
	if name == "" {
		return fmt.Errorf("%s: %w", kind, ErrEmpty)
	}
	for i := range len(name) {
		if !allowed(name[i]) {
			return fmt.Errorf("%s name %.150q: the character at position %d is not allowed; "+
				"use letters, digits, '%%', '|', '_' and '-'", kind, name, i)
		}
	}
	if len(name) > most {
		return fmt.Errorf("%s name %.150q has %d characters, at most %d are allowed", kind, name, len(name), most)
	}
	return nil
}

// allowed is the class [%|a-zA-Z0-9_-] of rocketmq.md 11.3.
func allowed(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '%', c == '|', c == '_', c == '-':
		return true
	}
	return false
}
