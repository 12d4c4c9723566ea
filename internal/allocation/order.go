// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import "cmp"

// Compare orders two texts as Java's String.compareTo does: by UTF-16 code unit.
// Clients sort client ids, topics and broker names by it (rocketmq.md 6). It
// differs from Go's order of bytes only where a character beyond U+FFFF meets
// one of U+E000 to U+FFFF: the surrogates of the former are the smaller.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// From 0xEE on a byte begins a character. 0xEE and 0xEF begin those of
		// U+E000 to U+FFFF, 0xF0 and above those beyond U+FFFF.
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
