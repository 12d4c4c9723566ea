// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"pgregory.net/rapid"
)

var _ = model.Topic

// TestMutations_EachProofIsNeeded is the test of the tests: a planner that
// leaves out one proof must make the model find what goes wrong.
func TestMutations_EachProofIsNeeded(t *testing.T) {
	for name, skip := range map[string]skips{
		"R01 moments":            {moments: true},
		"R02 fresh look":         {fresh: true},
		"routes":                 {routes: true},
		"route age":              {age: true},
		"stillness":              {still: true},
		"R15 pending":            {pending: true},
		"drain":                  {drain: true},
		"offline groups":         {offline: true},
		"R04 dispatch":           {dispatch: true},
		"R12 seeds of growth":    {seeds: true},
		"R12 seeds of reopening": {lateSeeds: true},
		"R11 watch":              {watch: true},
		"R11 base":               {base: true},
		"R01 process":            {process: true},
		"R20 waivers":            {waivers: true},
		"R10 closed":             {closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			found, tries := "", 0
			for i := 0; i < 300 && found == ""; i++ {
				tries++
				rapidExample(i, func(t *rapid.T) { _, found = wander(t, skip, 300) })
			}
			t.Logf("found after %d runs: %.200s", tries, found)
			if found == "" {
				t.Errorf("leaving out a proof went unnoticed in %d runs", tries)
			}
		})
	}
}

// rapidExample makes one run from a fixed seed.
func rapidExample(seed int, do func(*rapid.T)) {
	rapid.Custom(func(t *rapid.T) int { do(t); return 0 }).Example(seed)
}
