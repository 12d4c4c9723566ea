// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"fmt"
	"time"
)

// set turns a list of names into a set. An entry that is null or empty makes
// the whole list unreadable.
func set(list []*string, member string) (map[string]struct{}, error) {
	names := make(map[string]struct{}, len(list))
	for _, name := range list {
		if name == nil || *name == "" {
			return nil, fmt.Errorf("%s holds nothing where a name was expected", member)
		}
		names[*name] = struct{}{}
	}
	return names, nil
}

// millis is a time from RocketMQ's milliseconds; zero and less mean never.
func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// missing is the error of a reply that lacks something.
func missing(what string) error { return fmt.Errorf("the reply lacks %s", what) }
