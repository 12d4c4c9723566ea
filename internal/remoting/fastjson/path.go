// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package fastjson

import "strings"

// step is one step of a reference's path.
type step struct {
	// name is the member's name, unescaped, or the digits of an index.
	name string
	// index reports that it was written as [n]: an element of a list, or a
	// member with a bare integer key.
	index bool
}

// parsePath splits a path such as $.a.b[0]. In names every character that is
// not a letter or a digit is preceded by a backslash.
func parsePath(path string) ([]step, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil, false
	}
	var steps []step
	for rest != "" {
		var s step
		switch rest[0] {
		case '.':
			s.name, rest = cutName(rest[1:])
			ok = s.name != ""
		case '[':
			s.name, rest, ok = strings.Cut(rest[1:], "]")
			s.index = true
			ok = ok && s.name != "" && strings.Trim(s.name, "0123456789") == ""
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
		steps = append(steps, s)
	}
	return steps, true
}

// cutName takes a name off the front of s, up to a dot or a bracket that has no
// backslash before it.
func cutName(s string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '.' || c == '[':
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
