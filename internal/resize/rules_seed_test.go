// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestR12_PositionsOfAbsentGroupsAreWrittenDownBeforeWrites grows a topic that
// nobody reads now: a crash of a broker just after the writes went wide must not
// take the positions of the groups with it.
func TestR12_PositionsOfAbsentGroupsAreWrittenDownBeforeWrites(t *testing.T) {
	s := newScene(t, 4, 8)
	s.spec.Timings.Rebalance = time.Minute
	s.w.Leave(0)
	s.w.Leave(1)
	d := s.until(StageAwaitingReaders)
	s.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonReaders}))
	s.Expect(d.Holds[0].Why).To(ContainSubstring("10 s to write down the positions"))
	began := s.w.Now
	s.untilStep(StepWidenWrites, 0)
	s.Expect(s.w.Now.Sub(began)).To(And(BeNumerically(">=", persisted-2*time.Second), BeNumerically("<", time.Minute)))

	nobody := newScene(t, 4, 8)
	nobody.spec.Timings.Rebalance = time.Minute
	nobody.w.Groups = nil
	began = nobody.w.Now
	nobody.untilStep(StepWidenWrites, 0)
	nobody.Expect(nobody.w.Now.Sub(began)).To(BeNumerically("<", persisted), "no group, nothing to write down")
}
