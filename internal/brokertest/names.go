// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strings"
)

const nameCharacters = "%|-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const nameRule = "allowing only ^[%|a-zA-Z0-9_-]+$"

// checkTopicName is the broker's rule for topic names; empty means good
// (rocketmq.md 11.3; the words differ by version).
func (v Version) checkTopicName(name string) string {
	limit := 127
	if v.since540() && (strings.HasPrefix(name, retryPrefix) || strings.HasPrefix(name, dlqPrefix)) {
		limit = 255
	}
	switch {
	case strings.TrimSpace(name) == "":
		return "The specified topic is blank."
	case strings.Trim(name, nameCharacters) != "" && v.since540():
		return fmt.Sprintf("The specified topic: %s, contains illegal characters, %s", name, nameRule)
	case strings.Trim(name, nameCharacters) != "":
		return "The specified topic contains illegal characters, " + nameRule
	case len(name) > limit && v.since540():
		return fmt.Sprintf("The specified topic: %s, is longer than topic max length: %d", name, limit)
	case len(name) > limit:
		return "The specified topic is longer than topic max length."
	}
	return ""
}

// checkGroupName is the broker's rule for group names in calls 200 and 225;
// only 5.4 and later have one.
func (v Version) checkGroupName(name string) string {
	switch {
	case !v.since540():
		return ""
	case strings.TrimSpace(name) == "":
		return "The specified group is blank."
	case strings.Trim(name, nameCharacters) != "":
		return fmt.Sprintf("The specified group: %s, contains illegal characters, %s", name, nameRule)
	case len(name) > 120:
		return fmt.Sprintf("The specified group: %s, is longer than group max length: 120", name)
	}
	return ""
}
