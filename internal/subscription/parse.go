// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Remark is something about a declared filter that is worth saying and is no
// fault: order, blanks and duplicates change nothing (case S10).
type Remark string

// Parse reads a declared filter. An error says, in one sentence, what RocketMQ
// would refuse or read differently than it looks (case S12); nothing else is
// an error. Remarks are worth showing.
func Parse(kind Type, expression string) (Filter, []Remark, error) {
	switch kind {
	case Tag, "":
		return parseTags(expression)
	case SQL92:
		report := CheckSQL(expression)
		switch {
		case report.Refused != "":
			return Filter{}, nil, errors.New("brokers would refuse the SQL92 expression: " + report.Refused)
		case report.Ignored != "":
			return Filter{}, nil, fmt.Errorf("brokers would stop reading the SQL92 expression before %q and ignore the rest; remove it, or join it with AND or OR", shorten(report.Ignored))
		}
		var notes []Remark
		if len(report.Since5) > 0 {
			notes = append(notes, Remark("the expression needs RocketMQ 5 or later for "+strings.Join(report.Since5, ", ")+"; 4.9 brokers refuse it or stop reading there"))
		}
		return Filter{Type: SQL92, SQL: expression}, notes, nil
	}
	return Filter{}, nil, fmt.Errorf("filter type %q is not known; RocketMQ has TAG and SQL92, and class filters need a filter server that no supported version has", kind)
}

func parseTags(expression string) (Filter, []Remark, error) {
	f := readTags(expression)
	switch {
	case f.All:
		return f, nil, nil
	case len(f.Tags) == 0:
		return Filter{}, nil, fmt.Errorf("expression %q has no tag: it would match no message at all; use * alone for every message", shorten(expression))
	case slices.Equal(f.Tags, []string{"*"}):
		return Filter{}, nil, fmt.Errorf("expression %q does not match everything: only * without blanks does; here * is a tag of its own", shorten(expression))
	case slices.Contains(f.Tags, "*"):
		return Filter{}, nil, fmt.Errorf("expression %q does not match everything: inside a list * is a tag of its own; use * alone", shorten(expression))
	}
	var notes []Remark
	var parts []string
	empty := false
	for part := range strings.SplitSeq(expression, "||") {
		if strings.Trim(part, " ") != trim(part) {
			return Filter{}, nil, fmt.Errorf("expression %q has a tab, line break or other control character beside a tag, which Java clients trim and Go clients keep; use blanks only", shorten(expression))
		}
		if part = trim(part); part == "" {
			empty = true
			continue
		}
		if strings.Contains(part, "|") {
			return Filter{}, nil, fmt.Errorf("tag %q contains a single |: tags are separated by ||, so it would be one tag with that text", shorten(part))
		}
		parts = append(parts, part)
	}
	if empty {
		return Filter{}, nil, fmt.Errorf("expression %q has an empty part, which clients drop; remove the spare ||", shorten(expression))
	}
	if len(parts) != len(f.Tags) {
		notes = append(notes, "the expression names a tag twice; once is enough")
	}
	return f, notes, nil
}
