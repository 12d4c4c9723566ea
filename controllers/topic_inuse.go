// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// inUse says why deleting the topic would hurt somebody, or why that cannot be
// told; empty when nobody reads it and nothing is unread (rule K01).
func inUse(look snapshot.TopicLook) string {
	groups, known := look.Groups.Get()
	if !known {
		return "who reads the topic is not known: " + look.Groups.Why()
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		group := groups[name]
		members, known := group.Members.Get()
		if !known {
			return fmt.Sprintf("whether group %s has members is not known: %s", name, group.Members.Why())
		}
		reads, known := group.Reads.Get()
		if members > 0 && (reads || !known) {
			return fmt.Sprintf("group %s reads the topic with %s", name, plural(members, "member"))
		}
	}
	for _, broker := range slices.Sorted(maps.Keys(look.Brokers)) {
		if why := unreadOn(look.Brokers[broker], groups); why != "" {
			return why
		}
	}
	return ""
}

func unreadOn(on snapshot.TopicOnBroker, groups map[string]snapshot.GroupOnTopic) string {
	stored, known := on.Config.Get()
	if !known {
		return fmt.Sprintf("whether %s has the topic is not known: %s", on.Broker, on.Config.Why())
	}
	if !stored.Present {
		return ""
	}
	queues, known := on.Queues.Get()
	if !known {
		return fmt.Sprintf("what is stored on %s is not known: %s", on.Broker, on.Queues.Why())
	}
	committed, known := on.Committed.Get()
	if !known {
		return fmt.Sprintf("what was read on %s is not known: %s", on.Broker, on.Committed.Why())
	}
	for _, group := range slices.Sorted(maps.Keys(committed)) {
		if _, counts := groups[group]; !counts {
			continue // built-in and tool groups (rule R07)
		}
		for id, at := range committed[group] {
			q := queues[id]
			if unread := q.Max - max(at, q.Min); unread > 0 {
				return fmt.Sprintf("group %s has unread messages on %s (queue %d: %d)", group, on.Broker, id, unread)
			}
		}
	}
	return ""
}
