// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import "strings"

// expand replaces $(NAME) by the value that lookup returns, as Kubernetes does
// in command, args and env: an unknown name stays as it is written, and $$ is a
// dollar sign that starts no reference.
func expand(text string, lookup func(name string) (string, bool)) string {
	var out strings.Builder
	for {
		dollar := strings.IndexByte(text, '$')
		if dollar < 0 || dollar == len(text)-1 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:dollar])
		text = text[dollar:]
		closing := -1
		if text[1] == '(' {
			closing = strings.IndexByte(text, ')')
		}
		switch {
		case text[1] == '$':
			out.WriteByte('$')
			text = text[2:]
		case closing < 0: // "$x" or "$(x": not a reference
			out.WriteString(text[:2])
			text = text[2:]
		default:
			if value, known := lookup(text[2:closing]); known {
				out.WriteString(value)
			} else {
				out.WriteString(text[:closing+1])
			}
			text = text[closing+1:]
		}
	}
}
