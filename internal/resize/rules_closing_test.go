// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// A deletion at any stage begins nothing, takes nothing away, and ends.
func TestR23_DeletionStopsAtEveryStage(t *testing.T) {
	for _, c := range []struct {
		stage         Stage
		start, target int
		read, write   int
	}{
		{StageNarrowingWrites, 8, 4, 8, 8},
		{StageSettling, 8, 4, 8, 4},
		{StageProvingAgain, 8, 4, 8, 4},
		{StageNarrowingReads, 8, 4, 8, 4},
		{StageSeeding, 4, 8, 4, 4},
		{StageAwaitingReaders, 4, 8, 8, 4},
	} {
		t.Run(string(c.stage), func(t *testing.T) {
			s := newScene(t, c.start, c.target)
			s.until(c.stage)
			if c.stage == StageNarrowingReads { // noted, and then never sent
				d := s.peek()
				s.saved = d.Next
				s.crash()
			}
			s.spec.Closing = true
			for range 20 {
				d := s.peek()
				s.Expect(d.Step.Changing()).To(BeFalse(), "%v", d.Step)
				s.saved = d.Next
				if !d.Open {
					break
				}
			}
			s.Expect(s.peek().Open).To(BeFalse())
			s.Expect(s.w.Brokers[0].Counts).To(Equal(model.Counts{Present: true, Read: c.read, Write: c.write, Perm: 6}))
		})
	}
}

func TestR23_DeletionDuringTheWatchKeepsWatching(t *testing.T) {
	s := newScene(t, 4, 2)
	for g := range s.w.Groups {
		s.w.Groups[g].Committed[0][3] = model.None
	}
	s.until(StageWatching)
	s.spec.Closing = true
	s.Expect(s.peek().Open).To(BeTrue())
	s.w.Brokers[0].Queues[3] = model.Queue{Messages: make([]model.Message, 1), Shown: 1}
	kinds := map[StepKind]bool{}
	for range 60 {
		clients(s.w)
		d := s.peek()
		kinds[d.Step.Kind] = true
		if !d.Open {
			break
		}
		s.cycle()
	}
	s.Expect(kinds).To(HaveKey(StepReopenReads))
	s.Expect(kinds).NotTo(HaveKey(StepNarrowReads), "what was opened again stays open")
	s.Expect(s.peek().Open).To(BeFalse())
	s.Expect(s.w.Brokers[0].Read).To(Equal(4))
}

func TestR23_DeletionKeepsTheInvariantAndLeavesAClosedBrokerAsItIs(t *testing.T) {
	s := leavingScene(t)
	s.cycle()
	s.Expect(s.w.Brokers[1].Perm).To(Equal(snapshot.PermRead))
	s.spec.Closing = true
	d := s.peek()
	s.Expect(d.Step.Changing()).To(BeFalse())
	s.Expect(d.Open).To(BeFalse())
	s.w.Brokers[0].Read = 2
	s.Expect(s.peek().Step.Kind).To(Equal(StepRepairReads))
}

func TestEstimate_WhereOneIsKnowable(t *testing.T) {
	for name, c := range map[string]struct {
		make  func(*testing.T) (*scene, Decision)
		least time.Duration
	}{
		"old routes": {func(t *testing.T) (*scene, Decision) { s := newScene(t, 4, 2); return s, s.until(StageSettling) }, 4 * time.Second},
		"late window of a broker that leaves": {func(t *testing.T) (*scene, Decision) {
			s := leavingScene(t)
			for range 12 {
				clients(s.w)
				s.w.Tick(time.Second)
				s.cycle()
			}
			return s, s.peek()
		}, time.Second},
		"retired queues watched": {func(t *testing.T) (*scene, Decision) {
			s := newScene(t, 4, 2)
			s.until(StageWatching)
			s.cycle()
			return s, s.peek()
		}, time.Second},
		"seen pending": {func(t *testing.T) (*scene, Decision) {
			s := newScene(t, 4, 2)
			s.spec.LongestDelay = 40 * time.Second
			s.until(StageProvingAgain)
			return s, s.with(onBroker("broker-a", func(b *snapshot.TopicOnBroker) {
				b.Pending = same(b.Pending, snapshot.Pending{Timers: 3})
			}))
		}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := c.make(t)
			s.Expect(d.Remaining).To(BeNumerically(">=", c.least), "%v %v", d.Stage, d.Holds)
			s.Expect(d.Remaining).To(BeNumerically("<=", time.Minute))
		})
	}
}
