// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import "testing"

// TestMutations_EachProofIsNeeded is the test of the tests: with one proof
// left out, the same walks must find what goes wrong.
func TestMutations_EachProofIsNeeded(t *testing.T) {
	all := events()
	for name, c := range map[string]struct {
		skip skips
		from uint64 // a walk shortly before the first that finds it
	}{
		"R30_otherFilters":  {skips{other: true}, 1},
		"R31_stillness":     {skips{still: true}, 750},
		"P12_silentMembers": {skips{silent: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for n := c.from; n < c.from+300; n++ {
				d := walkOf(n)
				r := randomRun(d, c.skip)
				if bad, _ := stroll(r, d, all, 120); bad != "" {
					t.Logf("found in walk %d: %s", n, bad)
					return
				}
			}
			t.Error("leaving out the proof went unnoticed")
		})
	}
}
