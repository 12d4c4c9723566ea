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

// retries is a scene of a group's retry topic: brokers pick queues below counts.
type retries struct {
	*scene
	counts []int
}

func newRetries(t *testing.T, start, target int) *retries {
	s := newScene(t, start, start)
	s.w.Groups = s.w.Groups[:1]
	s.spec.Queues = target
	s.saved = Progress{}
	return &retries{s, []int{start, start}}
}

func (r *retries) plan(tamper func(map[string]snapshot.Fact[int])) Decision {
	r.w.Tick(time.Second)
	look := r.look()
	look.Topic = "%RETRY%CG_POINTS"
	counts := map[string]snapshot.Fact[int]{}
	for i := range r.w.Brokers {
		name := r.w.Brokers[i].Name
		counts[name] = snapshot.Known(r.counts[i], look.Brokers[name].Config.Origin())
	}
	tamper(counts)
	return PlanRetry(RetrySpec{Group: "CG_POINTS", Spec: r.spec}, counts, r.saved, look, r.w.Now)
}

func allKnown(map[string]snapshot.Fact[int]) {}

// run goes to the end and returns the kinds of the changing steps, checking at
// each that the topic is never smaller than a count.
func (r *retries) run() []StepKind {
	var kinds []StepKind
	for range 300 {
		clients(r.w)
		d := r.plan(allKnown)
		r.saved = d.Next
		if d.Step.Changing() {
			kinds = append(kinds, d.Step.Kind)
			for _, c := range d.Step.Changes {
				r.w.Write(r.w.Index(c.Broker), model.Counts{Present: true, Read: c.Want.Read, Write: c.Want.Write, Perm: c.Want.Perm})
			}
			for _, seed := range d.Step.Seeds {
				r.w.SetOffset(seed.Group, r.w.Index(seed.Broker), seed.Queue, int(seed.Offset))
			}
			for _, c := range d.Step.Retry {
				r.Expect(r.counts[r.w.Index(c.Broker)]).To(Equal(c.Expect))
				r.counts[r.w.Index(c.Broker)] = c.Want
			}
			r.saved = r.saved.Acted(r.w.Now)
		}
		for i := range r.w.Brokers {
			r.Expect(r.w.Brokers[i].Read).To(BeNumerically(">=", r.counts[i]), "a retry would land where nobody reads")
			r.w.Send(0, i, r.counts[i]-1, false) // a failed message
		}
		if d.AsDeclared && !d.Open {
			return kinds
		}
	}
	r.Fail("the end was not reached")
	return nil
}

func TestQ17_TheRetryTopicGrowsBeforeTheGroupsCount(t *testing.T) {
	r := newRetries(t, 1, 3)
	r.Expect(r.run()).To(Equal([]StepKind{StepSetOffsets, StepWidenReads, StepWidenWrites, StepSetRetryQueues}))
	r.Expect(r.counts).To(Equal([]int{3, 3}))
}

func TestQ17_TheRetryTopicShrinksAfterTheGroupsCountAndADrain(t *testing.T) {
	r := newRetries(t, 4, 2)
	r.Expect(r.run()).To(Equal([]StepKind{StepSetRetryQueues, StepNarrowWrites, StepNarrowReads}))
	r.Expect(r.counts).To(Equal([]int{2, 2}))
}

func TestQ17_ACountThatIsNotKnownUnlocksNothing(t *testing.T) {
	for name, tamper := range map[string]func(map[string]snapshot.Fact[int]){
		"not asked":       func(c map[string]snapshot.Fact[int]) { delete(c, "broker-b") },
		"no answer":       func(c map[string]snapshot.Fact[int]) { c["broker-b"] = snapshot.Unknown[int]("timeout") },
		"carried over":    func(c map[string]snapshot.Fact[int]) { c["broker-b"] = moved(c["broker-b"], -time.Hour) },
		"another process": func(c map[string]snapshot.Fact[int]) { c["broker-b"] = rebooted(c["broker-b"]) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, target := range []int{2, 8} {
				r := newRetries(t, 4, target)
				d := r.plan(tamper)
				r.Expect(d.Step.Changing()).To(BeFalse())
				r.Expect(reasons(d.Holds)).To(Equal([]Reason{ReasonUnknown}))
				r.Expect(d.Holds[0].Long()).To(ContainSubstring("broker-b: group CG_POINTS: its number of retry queues is not known"))
			}
		})
	}
}

func TestQ17_ABrokerThatDoesNotKnowTheGroupAsksForNothing(t *testing.T) {
	r := newRetries(t, 4, 2)
	r.counts[1] = 0
	d := r.plan(allKnown)
	r.Expect(d.Step.Retry).To(HaveLen(1))
	r.Expect(d.Step.Retry[0].Broker).To(Equal("broker-a"))
}

func TestQ17_ABrokerWithoutTheTopicIsLeftToMakeIt(t *testing.T) {
	r := newRetries(t, 1, 3)
	r.gone(1)
	r.Expect(r.plan(allKnown).Step.Changes).To(BeEmpty())
	for range 300 {
		clients(r.w)
		d := r.plan(allKnown)
		r.saved = d.Next
		for _, c := range d.Step.Changes {
			r.Expect(c.Broker).To(Equal("broker-a"))
			r.w.Write(0, model.Counts{Present: true, Read: c.Want.Read, Write: c.Want.Write, Perm: c.Want.Perm})
		}
		for _, seed := range d.Step.Seeds {
			r.w.SetOffset(seed.Group, 0, seed.Queue, int(seed.Offset))
		}
		for _, c := range d.Step.Retry {
			r.counts[r.w.Index(c.Broker)] = c.Want
		}
	}
	r.Expect(r.counts).To(Equal([]int{3, 3}))
	r.Expect(r.w.Brokers[1].Present).To(BeFalse())
}

func TestQ17_WhereNobodyHasTheTopicOnlyTheCountIsSet(t *testing.T) {
	r := newRetries(t, 1, 3)
	r.gone(0)
	r.gone(1)
	d := r.plan(allKnown)
	r.Expect(d.Step.Retry).To(HaveLen(2))
	r.counts = []int{3, 3}
	d = r.plan(allKnown)
	r.Expect(d.Step.Changing()).To(BeFalse())
	r.Expect(d.AsDeclared).To(BeTrue())
}

func TestQ17_OnlyTheOwnRetryTopicIsNotRefused(t *testing.T) {
	s := newScene(t, 4, 2)
	s.spec.Topic = "%RETRY%CG_POINTS"
	look := s.look()
	look.Topic = s.spec.Topic
	s.Expect(reasons(Plan(s.spec, Progress{}, look, look.Finished).Holds)).To(Equal([]Reason{ReasonRefusedTopic}))
	r := newRetries(t, 4, 2)
	r.spec.Busy = map[string]string{"CG_POINTS": "its subscription is changing"}
	r.Expect(reasons(r.plan(allKnown).Holds)).To(Equal([]Reason{ReasonGroupBusy}))
}
