// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// scene drives a world to a stage, and then lets a test look at what the
// planner makes of a look that was tampered with.
type scene struct {
	*run
	*WithT
}

func newScene(t *testing.T, start, target int) *scene {
	w := model.New(epoch, 2, 2, start, 8)
	w.RouteAge, w.LongestDelay = 3*time.Second, 9*time.Second
	w.AddGroup("CG_POINTS", model.Classic, true)
	w.AddGroup("CG_AUDIT", model.Classic, true)
	w.AddProducer(true)
	s := &scene{WithT: NewWithT(t), run: &run{w: w, strict: true,
		spec: Spec{Topic: model.Topic, Generation: 1, Queues: start, LongestDelay: 9 * time.Second, Timings: brisk()}}}
	s.cycle()
	s.target(target)
	return s
}

// look makes a whole look now.
func (s *scene) look() snapshot.TopicLook {
	l := &model.Looker{}
	for !l.Next(s.w) {
	}
	return l.Look()
}

// peek decides on the present world without acting.
func (s *scene) peek() Decision { return s.with(func(*snapshot.TopicLook) {}) }

// with decides on a look of the present world, tampered with.
func (s *scene) with(tamper func(*snapshot.TopicLook)) Decision {
	s.w.Tick(time.Second)
	l := s.look()
	tamper(&l)
	d := plan(s.spec, s.saved, l, s.w.Now, s.skip)
	if d.Step.Changing() {
		s.Expect(d.Holds).To(BeEmpty(), "a step and holds at once")
	}
	return d
}

// accept approves what a decision waits for.
func (s *scene) accept(d Decision) {
	s.saved = d.Next
	s.spec.Approved, s.granted = d.Approval.ID, d.Approval.Step
}

// until runs the operator, with clients at work, until a decision has the
// stage; the decision is not acted on.
func (s *scene) until(stage Stage) Decision {
	for range 200 {
		clients(s.w)
		if d := s.peek(); d.Stage == stage {
			return d
		}
		s.cycle()
		s.Expect(s.bad).To(BeEmpty())
	}
	s.Fail("stage " + string(stage) + " was not reached")
	return Decision{}
}

// Fail ends the test.
func (s *scene) Fail(why string) { s.Expect(why).To(BeEmpty()) }

// onBroker tampers with one broker's part of a look.
func onBroker(name string, do func(*snapshot.TopicOnBroker)) func(*snapshot.TopicLook) {
	return func(l *snapshot.TopicLook) {
		l.Brokers = maps.Clone(l.Brokers)
		b := l.Brokers[name]
		do(&b)
		l.Brokers[name] = b
	}
}

// onGroup tampers with one group's part of a look.
func onGroup(name string, do func(*snapshot.GroupOnTopic)) func(*snapshot.TopicLook) {
	return func(l *snapshot.TopicLook) {
		all, _ := l.Groups.Get()
		all = maps.Clone(all)
		g := all[name]
		g.Name = name
		do(&g)
		all[name] = g
		l.Groups = snapshot.Known(all, l.Groups.Origin())
	}
}

// same makes a fact of the same origin with another value.
func same[T any](f snapshot.Fact[T], v T) snapshot.Fact[T] { return snapshot.Known(v, f.Origin()) }

func reasons(holds []Hold) []Reason {
	var out []Reason
	for _, h := range holds {
		out = append(out, h.Reason)
	}
	return out
}
