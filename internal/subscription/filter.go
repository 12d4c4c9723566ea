// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Type is how an expression is read.
type Type string

// Types as RocketMQ names them on the wire (rocketmq.md 5.1).
const (
	Tag   Type = "TAG"
	SQL92 Type = "SQL92"
)

// Filter is what a subscription to one topic accepts. The zero Filter is a TAG
// filter that accepts nothing.
type Filter struct {
	// Type is TAG or SQL92.
	Type Type `json:"type,omitempty"`
	// All says that a TAG filter accepts every message.
	All bool `json:"all,omitempty"`
	// Tags are what a TAG filter accepts otherwise: sorted, without duplicates.
	// No tags accept nothing.
	Tags []string `json:"tags,omitempty"`
	// SQL is the text of a SQL92 filter, as written.
	SQL string `json:"sql,omitempty"`
	// Class says that the filter is Java source run by a filter server, whose
	// text no broker shows; it equals nothing.
	Class bool `json:"class,omitempty"`
}

// Everything is the filter "*".
func Everything() Filter { return Filter{Type: Tag, All: true} }

// Of is the filter of some tags.
func Of(tags ...string) Filter {
	tags = slices.Clone(tags)
	slices.Sort(tags)
	return Filter{Type: Tag, Tags: slices.Compact(tags)}
}

// readTags reads a TAG expression as every Java client and proxy does: empty
// and "*" are everything; else the parts between "||", trimmed of everything
// up to a blank, without empty ones (rocketmq.md 5.4).
func readTags(expression string) Filter {
	if expression == "" || expression == "*" {
		return Everything()
	}
	var tags []string
	for part := range strings.SplitSeq(expression, "||") {
		if part = trim(part); part != "" {
			tags = append(tags, part)
		}
	}
	return Of(tags...)
}

// trim is Java's String.trim: everything up to U+0020, at both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// Observed reads a filter as a member, or a broker's table, has it. The tags
// that the other side lists are what it really filters by: some clients split
// an expression otherwise than Java does.
func Observed(s snapshot.Subscription) Filter {
	switch {
	case s.ClassFilter:
		return Filter{Type: Tag, Class: true, SQL: s.Expression}
	case s.ExpressionType == string(SQL92):
		return Filter{Type: SQL92, SQL: s.Expression}
	case s.ExpressionType != string(Tag) && s.ExpressionType != "":
		return Filter{Type: Type(s.ExpressionType), SQL: s.Expression}
	case s.Expression == "" || s.Expression == "*" || len(s.Tags) == 0:
		return readTags(s.Expression)
	}
	return Of(s.Tags...)
}

// Equal reports whether both accept the same messages. For TAG filters that is
// exact: they are equal if and only if no message tells them apart (case S10).
// SQL92 filters are equal when they are the same text but for blanks, comments
// and the case of reserved words; texts that differ may still mean the same,
// which is not decided. A TAG filter never equals a SQL92 filter (case S02).
func (f Filter) Equal(o Filter) bool {
	switch {
	case f.Class || o.Class || f.Type != o.Type:
		return false
	case f.Type == Tag:
		return f.All == o.All && (f.All || slices.Equal(f.Tags, o.Tags))
	}
	return canonical(f.SQL) == canonical(o.SQL)
}

// key is equal for filters that are Equal, and different for others.
func (f Filter) key() string {
	switch {
	case f.Class:
		return "class " + f.SQL
	case f.Type == SQL92:
		return "SQL92 " + canonical(f.SQL)
	case f.Type != Tag && f.Type != "":
		return string(f.Type) + " " + f.SQL
	case f.All:
		return "*"
	}
	return fmt.Sprintf("%q", f.Tags)
}

// String prints the filter as people write it.
func (f Filter) String() string {
	switch {
	case f.Class:
		return "a class filter"
	case f.Type == SQL92:
		return "SQL92 (" + shorten(f.SQL) + ")"
	case f.Type != Tag && f.Type != "":
		return string(f.Type) + " (" + shorten(f.SQL) + ")"
	case f.All:
		return "*"
	case len(f.Tags) == 0:
		return "no message"
	}
	return shorten(strings.Join(f.Tags, " || "))
}

// longest is how many bytes of a filter a sentence shows.
const longest = 120

func shorten(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest-3], "") + "..."
}
