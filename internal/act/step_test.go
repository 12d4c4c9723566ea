// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestStep_EachKindDoesWhatItSays(t *testing.T) {
	perm4 := func(s resize.Shown) resize.Shown { s.Perm = snapshot.PermRead; return s }
	for kind, tc := range map[resize.StepKind]struct {
		read, write int
		want        func(resize.Shown) resize.Shown
		shows       [3]int
	}{
		resize.StepRepairReads:   {2, 8, counts(8, 8), [3]int{8, 8, 6}},
		resize.StepWidenReads:    {4, 4, counts(8, 4), [3]int{8, 4, 6}},
		resize.StepReopenReads:   {4, 4, counts(8, 4), [3]int{8, 4, 6}},
		resize.StepWidenWrites:   {8, 4, counts(8, 8), [3]int{8, 8, 6}},
		resize.StepNarrowWrites:  {8, 8, counts(8, 4), [3]int{8, 4, 6}},
		resize.StepNarrowReads:   {8, 4, counts(4, 4), [3]int{4, 4, 6}},
		resize.StepSetPermission: {4, 4, perm4, [3]int{4, 4, 4}},
	} {
		t.Run(string(kind), func(t *testing.T) {
			forEachVersion(t, func(t *testing.T, v brokertest.Version) {
				r, look := withTopic(t, brokertest.Options{Version: v}, tc.read, tc.write)
				o := order(kind, look, tc.want)
				o.Intent = r.clock.Now()
				out := r.do(o)
				r.g.Expect(out.Err()).NotTo(HaveOccurred())
				r.g.Expect(out.Sent()).To(BeTrue())
				r.g.Expect(out.Brokers).To(HaveLen(2))
				for broker, result := range out.Brokers {
					r.g.Expect(r.has(broker)).To(Equal(tc.shows))
					stored, _ := result.Shown.Get()
					r.g.Expect(shown(stored)).To(Equal(resize.Shown{Present: true, Read: tc.shows[0], Write: tc.shows[1], Perm: snapshot.Perm(tc.shows[2])}))
					r.g.Expect(result.Shown.Origin().From.Name).To(Equal(broker))
				}
				r.g.Expect(out.Routes).To(HaveLen(2))
				for _, fact := range out.Routes {
					route, known := fact.Get()
					r.g.Expect(known).To(BeTrue())
					r.g.Expect(route.Queues["broker-b"].Read).To(Equal(tc.shows[0]))
				}
				r.Recorder().RequireChangingCalls(t, 2)
				r.Recorder().RequireNoForbiddenCalls(t)
				if tc.read >= tc.write {
					r.RequireInvariants(t)
				}
			})
		})
	}
}

func TestStep_CreateTopic(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r := start(t, brokertest.Options{Version: v})
		look := r.look()
		o := order(resize.StepCreateTopic, look, counts(8, 8))
		o.New = snapshot.TopicConfig{FilterType: rocketmq.SingleTag, Attributes: map[string]string{"message.type": "FIFO"}, Order: true}
		out := r.do(o)
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		for _, b := range r.BrokerNames() {
			config, there := r.Broker(b).Topic(topic)
			r.g.Expect(there).To(BeTrue())
			r.g.Expect(config.Read).To(Equal(8))
			if v != brokertest.V497 {
				r.g.Expect(config.Attributes).To(Equal(map[string]string{"message.type": "FIFO"}))
				r.g.Expect(config.Order).To(BeTrue())
			}
		}
	})
}

// The read, the write and the read-back are one chain, and the read is not the
// look's.
func TestR17_TheConfigIsReadInTheSameChain(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	r.g.Expect(r.do(order(resize.StepNarrowWrites, look, counts(8, 4))).Err()).NotTo(HaveOccurred())
	var codes []int
	for _, c := range r.Recorder().Calls(brokertest.To("broker-a")) {
		codes = append(codes, c.Code)
	}
	at := slices.Index(codes, 17)
	r.g.Expect(codes[:at]).To(ContainElements(26, 28, 351))
	r.g.Expect(codes[at-1]).To(Equal(351))
	r.g.Expect(codes[at+1:]).To(Equal([]int{351}))
}

func TestR17_OneWriterAtATime(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	held := r.Inject(brokertest.Fault{Code: 17, Times: 1, Do: brokertest.Delay()})
	results := make(chan Outcome, 2)
	act := func(want func(resize.Shown) resize.Shown) {
		out, err := r.Do(awaited(t), order(resize.StepNarrowWrites, look, want))
		if err == nil {
			results <- out
		}
	}
	go act(counts(8, 4))
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	before := r.Recorder().Count(brokertest.To("broker-a"))
	go act(counts(8, 6))
	r.g.Eventually(func() int {
		r.writers.mu.Lock()
		defer r.writers.mu.Unlock()
		return r.writers.slots[place{"broker-a", topic}].users
	}).WithTimeout(within).Should(Equal(2))
	r.g.Expect(r.Recorder().Count(brokertest.To("broker-a"))).To(Equal(before), "the second has asked nothing yet")
	held.Release()

	var errs []error
	for range 2 {
		var out Outcome
		r.g.Eventually(results).WithTimeout(within).Should(Receive(&out))
		errs = append(errs, out.Err())
	}
	// The second reads what the first wrote, and that is not what it expected.
	r.g.Expect(errs).To(ConsistOf(BeNil(), BeAssignableToTypeOf(errors.Join(errors.New("")))))
	r.g.Expect(r.has("broker-a")).To(Equal([3]int{8, 4, 6}))
	r.Recorder().RequireChangingCalls(t, 1)
	r.g.Expect(r.writers.slots).To(BeEmpty())
}

func TestR18_AForeignChangeIsRefused(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 8, 8)
		r.Broker("broker-b").PutTopic(brokertest.TopicConfig{Name: topic, Read: 8, Write: 6, Perm: 6})
		out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
		var foreign *ForeignChangeError
		r.g.Expect(errors.As(out.Brokers["broker-b"].Err, &foreign)).To(BeTrue())
		r.g.Expect(foreign.Expect).To(Equal("read 8, write 8, permission 6"))
		r.g.Expect(foreign.Found).To(HavePrefix("read 8, write 6, permission 6"))
		r.g.Expect(out.Brokers["broker-b"].Sent).To(BeFalse())
		r.g.Expect(r.has("broker-b")).To(Equal([3]int{8, 6, 6}))
		r.g.Expect(out.Brokers["broker-a"].Err).NotTo(HaveOccurred())
		r.Recorder().RequireChangingCalls(t, 1)
	})
}

func TestR18_ATopicThatVanishedIsAForeignChange(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	r.Broker("broker-a").DropTopic(topic)
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("found absent")))
	r.Recorder().RequireNoChangingCalls(t)
}

// A step whose answer was lost, or that another life of this operator sent, is
// done already: nothing is sent, and it is no foreign change.
func TestR18_WhatIsDoneAlreadyIsNotSentAgain(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 8, 8)
		o := order(resize.StepNarrowWrites, look, counts(8, 4))
		r.g.Expect(r.do(o).Err()).NotTo(HaveOccurred())
		r.Recorder().Reset()
		before := r.Broker("broker-a").TopicDataVersion()
		out := r.do(o)
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		r.g.Expect(out.Sent()).To(BeFalse())
		r.g.Expect(out.Brokers["broker-a"].Shown.IsKnown()).To(BeTrue())
		r.Recorder().RequireNoChangingCalls(t)
		r.g.Expect(r.Broker("broker-a").TopicDataVersion()).To(Equal(before))
	})
}

func TestR03_AnotherBrokerIsNotWrittenTo(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 3}, 8, 8)
	r.Broker("broker-a").Impersonate(r.Broker("broker-c"))
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	var identity *rocketmq.IdentityError
	r.g.Expect(errors.As(out.Brokers["broker-a"].Err, &identity)).To(BeTrue())
	r.g.Expect(r.has("broker-a")).To(Equal([3]int{8, 8, 6}))
	r.g.Expect(r.Recorder().Count(brokertest.To("broker-a"), brokertest.OfKind(brokertest.Changing))).To(BeZero())
}

func TestR03_AProcessThatStartedAgainIsNotWrittenTo(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 8, 8)
	old := r.Broker("broker-b").Save()
	r.clock.Step(time.Second)
	r.Broker("broker-b").RestartWith(old)
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	var process *ProcessError
	r.g.Expect(errors.As(out.Brokers["broker-b"].Err, &process)).To(BeTrue())
	r.g.Expect(process).To(MatchError(ContainSubstring("broker-b was started again at")))
	r.g.Expect(out.Brokers["broker-a"].Err).NotTo(HaveOccurred())
	r.g.Expect(r.has("broker-b")).To(Equal([3]int{8, 8, 6}))
	r.Recorder().RequireChangingCalls(t, 1)
}

// A leader that was frozen must not cut on waking: whatever it was doing when it
// froze, the cut is not sent.
func TestR02_AFrozenLeaderDoesNotCut(t *testing.T) {
	for name, code := range map[string]int{"while it asked who answers": 28, "while it proved the peer": 26, "while it read the config": 351} {
		t.Run(name, func(t *testing.T) {
			r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 4)
			o := order(resize.StepNarrowReads, look, counts(4, 4))
			o.Intent = r.clock.Now()
			o.Step.NotAfter = r.clock.Now().Add(10 * time.Second)
			held := r.Inject(brokertest.Fault{Node: "broker-a", Code: code, Times: 1, Do: brokertest.Delay()})
			done := make(chan Outcome, 1)
			go func() {
				out, _ := r.Do(awaited(t), o)
				done <- out
			}()
			r.g.Expect(held.Await(awaited(t))).To(Succeed())
			r.clock.Step(time.Hour)
			held.Release()
			var out Outcome
			r.g.Eventually(done).WithTimeout(within).Should(Receive(&out))
			var late *TooLateError
			r.g.Expect(errors.As(out.Err(), &late)).To(BeTrue(), "%v", out.Err())
			r.g.Expect(late.What).To(Equal("look"))
			r.Recorder().RequireNoChangingCalls(t)
			r.g.Expect(r.has("broker-a")).To(Equal([3]int{8, 4, 6}))
		})
	}
}

func TestK11_ACutNeedsALiveIntent(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 4)
	o := order(resize.StepNarrowReads, look, counts(4, 4))
	_, err := r.Do(t.Context(), o)
	r.g.Expect(err).To(BeAssignableToTypeOf(&NoIntentError{}))

	o.Intent = r.clock.Now()
	r.clock.Step(IntentAge + time.Millisecond)
	_, err = r.Do(t.Context(), o)
	r.g.Expect(err).To(MatchError(&TooLateError{What: "intent", By: time.Millisecond}))
	r.Recorder().RequireNoCalls(t)

	o.Intent = r.clock.Now()
	r.clock.Step(IntentAge)
	r.g.Expect(r.do(o).Err()).NotTo(HaveOccurred())
	r.g.Expect(r.has("broker-a")).To(Equal([3]int{4, 4, 6}))
}

func TestR02_ALookThatIsTooOldIsNotActedOn(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	o := order(resize.StepNarrowWrites, look, counts(8, 4))
	o.Step.NotAfter = r.clock.Now()
	r.clock.Step(time.Second)
	_, err := r.Do(t.Context(), o)
	r.g.Expect(err).To(MatchError(&TooLateError{What: "look", By: time.Second}))
	r.Recorder().RequireNoCalls(t)
}

// However the sending ends, what counts is what the broker shows afterwards.
func TestStep_TheReadBackDecides(t *testing.T) {
	for name, fault := range broken() {
		t.Run(name, func(t *testing.T) {
			r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
			r.writeTimeout = 200 * time.Millisecond
			r.Inject(brokertest.Fault{Code: 17, Do: fault.do})
			out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
			result := out.Brokers["broker-a"]
			r.g.Expect(result.Sent).To(BeTrue())
			stored, known := result.Shown.Get()
			r.g.Expect(known).To(BeTrue())
			if fault.applied {
				r.g.Expect(result.Err).NotTo(HaveOccurred())
				r.g.Expect(stored.Config.WriteQueues).To(Equal(4))
				return
			}
			var lost *NotStoredError
			r.g.Expect(errors.As(result.Err, &lost)).To(BeTrue(), "%v", result.Err)
			r.g.Expect(stored.Config.WriteQueues).To(Equal(8))
			r.g.Expect(len(lost.Error())).To(BeNumerically("<", 1000))
			r.g.Expect(strings.ContainsAny(lost.Error(), "\x00\x1b\r\n")).To(BeFalse())
		})
	}
}

func TestStep_WhatCannotBeReadBackIsUnconfirmed(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	r.Inject(brokertest.Fault{Code: 351, Skip: 1, Do: brokertest.HalfBody()})
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	r.g.Expect(out.Sent()).To(BeTrue())
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("is not known: reading it back failed")))
	r.g.Expect(out.Brokers["broker-a"].Shown.IsKnown()).To(BeFalse())
	var unconfirmed *UnconfirmedError
	r.g.Expect(errors.As(out.Err(), &unconfirmed)).To(BeTrue())
	r.g.Expect(errors.Is(out.Err(), remoting.Malformed)).To(BeTrue())
}

func TestO26_ABrokerThatFailsTakesNothingFromTheOthers(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 3}, 8, 8)
	r.Broker("broker-b").Stop()
	o := order(resize.StepNarrowWrites, look, counts(8, 4))
	// A name server that lost its broker is not complete for it; the step is for
	// all three, so nothing at all is sent.
	_, err := r.Do(t.Context(), o)
	r.g.Expect(err).To(BeAssignableToTypeOf(&observe.IncompleteError{}))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestO27_ACallThatFailsDoesNotAbortTheRest(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 3}, 8, 8)
	r.Inject(brokertest.Fault{Node: "broker-a", Code: 26, Do: brokertest.Answer(2, "busy")})
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	r.g.Expect(out.Brokers["broker-a"].Err).To(MatchError(remoting.Busy))
	r.g.Expect(out.Brokers["broker-a"].Shown.Why()).To(ContainSubstring("nothing was sent"))
	r.g.Expect(out.Brokers["broker-b"].Err).NotTo(HaveOccurred())
	r.g.Expect(out.Brokers["broker-c"].Err).NotTo(HaveOccurred())
	r.g.Expect(out.Err()).To(MatchError(ContainSubstring("broker-a")))
	r.g.Expect(r.has("broker-a")).To(Equal([3]int{8, 8, 6}))

	// The same step again sends only what is missing.
	r.ClearFaults()
	r.Recorder().Reset()
	r.g.Expect(r.do(order(resize.StepNarrowWrites, look, counts(8, 4))).Err()).NotTo(HaveOccurred())
	r.Recorder().RequireChangingCalls(t, 1)
}

func TestO25_NothingIsWrittenWhileANameServerWarmsUp(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 8, 8)
		r.g.Expect(r.NameServer(0).Restart()).To(Succeed())
		_, err := r.Do(t.Context(), order(resize.StepNarrowWrites, look, counts(8, 4)))
		var incomplete *observe.IncompleteError
		r.g.Expect(errors.As(err, &incomplete)).To(BeTrue(), "%v", err)
		r.g.Expect(incomplete.NameServer).To(Equal(r.NameServerAddrs()[0]))
		r.Recorder().RequireNoChangingCalls(t)

		r.Advance(30 * time.Second) // all brokers have registered again
		r.g.Expect(r.do(order(resize.StepNarrowWrites, look, counts(8, 4))).Err()).NotTo(HaveOccurred())
	})
}

func TestO19_NothingIsWrittenWhileANameServerIsSilent(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 8, 8)
	r.NameServer(1).Stop()
	_, err := r.Do(t.Context(), order(resize.StepNarrowWrites, look, counts(8, 4)))
	r.g.Expect(err).To(MatchError(ContainSubstring(r.NameServerAddrs()[1])))
	r.Recorder().RequireNoChangingCalls(t)
}

// The routes of the outcome are what the name servers show, also when one of
// them missed the registration.
func TestStep_AStaleRouteIsShown(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 8, 8)
	r.NameServer(1).MissRegistrations(true)
	out := r.do(order(resize.StepNarrowWrites, look, counts(8, 4)))
	r.g.Expect(out.Err()).NotTo(HaveOccurred())
	fresh, _ := out.Routes[r.NameServerAddrs()[0]].Get()
	stale, _ := out.Routes[r.NameServerAddrs()[1]].Get()
	r.g.Expect(fresh.Queues["broker-a"].Write).To(Equal(4))
	r.g.Expect(stale.Queues["broker-a"].Write).To(Equal(8))
}

// This is the last door before a broker that checks nothing itself.
func TestStep_AChangeThatItsKindMayNotMakeIsRefused(t *testing.T) {
	s := func(read, write int) resize.Shown {
		return resize.Shown{Present: true, Read: read, Write: write, Perm: 6}
	}
	closed := resize.Shown{Present: true, Read: 8, Write: 8, Perm: 4}
	for name, tc := range map[string]struct {
		kind         resize.StepKind
		expect, want resize.Shown
	}{
		"read below write":              {resize.StepNarrowReads, s(8, 6), s(4, 6)},
		"no write queue":                {resize.StepNarrowWrites, s(8, 8), s(8, 0)},
		"narrowing reads widens":        {resize.StepNarrowReads, s(8, 4), s(9, 4)},
		"narrowing reads moves writes":  {resize.StepNarrowReads, s(8, 4), s(6, 3)},
		"narrowing writes moves reads":  {resize.StepNarrowWrites, s(8, 8), s(4, 4)},
		"narrowing writes widens":       {resize.StepNarrowWrites, s(8, 4), s(8, 6)},
		"widening reads narrows":        {resize.StepWidenReads, s(8, 4), s(6, 4)},
		"widening reads moves writes":   {resize.StepWidenReads, s(8, 4), s(9, 9)},
		"reopening narrows":             {resize.StepReopenReads, s(8, 4), s(6, 4)},
		"repairing moves writes":        {resize.StepRepairReads, s(2, 8), s(8, 4)},
		"widening writes narrows":       {resize.StepWidenWrites, s(8, 8), s(8, 4)},
		"widening writes moves reads":   {resize.StepWidenWrites, s(8, 4), s(9, 8)},
		"counts with the permission":    {resize.StepSetPermission, s(8, 8), resize.Shown{Present: true, Read: 4, Write: 4, Perm: 4}},
		"permission with the counts":    {resize.StepNarrowWrites, s(8, 8), closed},
		"creation of what is there":     {resize.StepCreateTopic, s(8, 8), s(8, 8)},
		"creation of nothing":           {resize.StepCreateTopic, resize.Shown{}, resize.Shown{}},
		"a change of what is not there": {resize.StepWidenReads, resize.Shown{}, s(8, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			r, look := withTopic(t, brokertest.Options{Brokers: 1}, tc.expect.Read, tc.expect.Write)
			o := Order{Topic: topic, Look: look, Intent: r.clock.Now(), Step: resize.Step{Kind: tc.kind,
				Changes: []resize.BrokerChange{{Broker: "broker-a", Expect: tc.expect, Want: tc.want}}}}
			_, err := r.Do(t.Context(), o)
			r.g.Expect(err).To(BeAssignableToTypeOf(&StepError{}))
			r.Recorder().RequireNoCalls(t)
		})
	}
}

func TestStep_WhatIsNoStepIsRefused(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	for _, step := range []resize.Step{
		{}, {Kind: resize.StepFreshLook}, {Kind: "Guess"}, {Kind: resize.StepNarrowWrites},
		{Kind: resize.StepSetOffsets}, {Kind: resize.StepSetOrderConfig}, {Kind: resize.StepDeleteFromBroker},
	} {
		_, err := r.Do(t.Context(), Order{Step: step, Topic: topic, Look: look, Intent: r.clock.Now()})
		r.g.Expect(err).To(BeAssignableToTypeOf(&StepError{}), "%v", step.Kind)
	}
	o := order(resize.StepNarrowWrites, look, counts(8, 4))
	o.Step.Changes[0].Broker = "broker-z"
	_, err := r.Do(t.Context(), o)
	r.g.Expect(err).To(MatchError(ContainSubstring("the look did not see it")))
	o = order(resize.StepNarrowWrites, look, counts(8, 4))
	b := look.Brokers["broker-a"]
	b.Master = snapshot.Unknown[string]("name servers differ")
	look.Brokers["broker-a"] = b
	_, err = r.Do(t.Context(), o)
	r.g.Expect(err).To(MatchError(ContainSubstring("name servers differ")))
	r.Recorder().RequireNoCalls(t)
}

func TestWire_AChangingCallWithoutACheckIsRefused(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{Brokers: 1}, 8, 8)
	err := r.client.DeleteTopic(t.Context(), r.master("broker-a"), topic)
	r.g.Expect(err).To(MatchError(errUnchecked))
	r.Recorder().RequireNoChangingCalls(t)
}
