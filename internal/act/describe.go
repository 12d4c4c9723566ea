// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// shown is what a planner's step says of a stored topic.
func shown(t snapshot.StoredTopic) resize.Shown {
	if !t.Present {
		return resize.Shown{}
	}
	return resize.Shown{Present: true, Read: t.Config.ReadQueues, Write: t.Config.WriteQueues, Perm: t.Config.Perm}
}

// describe is a stored topic as people write it, whole: one that differs in an
// attribute must look different.
func describe(t snapshot.StoredTopic) string {
	if !t.Present {
		return "absent"
	}
	c := t.Config
	var b strings.Builder
	b.WriteString(shown(t).String())
	if c.FilterType != "" && c.FilterType != "SINGLE_TAG" {
		fmt.Fprintf(&b, ", filter type %s", c.FilterType)
	}
	if c.SysFlag != 0 {
		fmt.Fprintf(&b, ", system flag %d", c.SysFlag)
	}
	if c.Order {
		b.WriteString(", ordered")
	}
	if c.Static {
		b.WriteString(", static")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Attributes)) {
		fmt.Fprintf(&b, ", %s=%s", key, c.Attributes[key])
	}
	return b.String()
}
