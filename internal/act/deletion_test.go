// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func (r *rig) deletion(look snapshot.TopicLook) Deletion {
	return Deletion{Topic: topic, Look: look, Intent: r.clock.Now(), NotAfter: r.clock.Now().Add(10 * time.Second)}
}

func (r *rig) delete(d Deletion) DeletionOutcome {
	r.t.Helper()
	out, err := r.Delete(r.t.Context(), d)
	r.g.Expect(err).NotTo(HaveOccurred())
	return out
}

func TestO35_ADeletedTopicIsGoneFromBrokersAndRoutes(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 4, 4)
		r.CreateTopic("TOPIC_OTHER", 4, 4)
		r.NameServer(1).SetKV(rocketmq.OrderNamespace, topic, four)
		out := r.delete(r.deletion(look))
		r.g.Expect(out.Left).To(BeEmpty())
		r.g.Expect(out.Gone()).To(BeTrue())
		for _, b := range r.BrokerNames() {
			_, there := r.Broker(b).Topic(topic)
			r.g.Expect(there).To(BeFalse())
			_, there = r.Broker(b).Topic("TOPIC_OTHER")
			r.g.Expect(there).To(BeTrue())
		}
		for i := range 2 {
			r.g.Expect(r.NameServer(i).Route(topic)).To(BeEmpty())
			r.g.Expect(r.NameServer(i).Route("TOPIC_OTHER")).To(HaveLen(2))
		}
		r.g.Expect(r.orderOn(1)).To(BeEmpty())
		r.g.Expect(r.Recorder().Count(brokertest.WithCode(215))).To(Equal(2))
		r.g.Expect(r.Recorder().Count(brokertest.WithCode(216))).To(Equal(2))

		// Once more there is nothing to do.
		r.Recorder().Reset()
		r.g.Expect(r.delete(r.deletion(r.look())).Gone()).To(BeTrue())
		r.Recorder().RequireNoChangingCalls(t)
	})
}

func TestP14_NobodyAsksForOffsetsOfWhatIsDeleted(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	r.g.Expect(r.delete(r.deletion(look)).Gone()).To(BeTrue())
	r.look()
	r.g.Expect(r.Recorder().Count(brokertest.WithArg("topic", topic), brokertest.WithCode(30, 31, 202, 321))).To(BeZero())
}

func TestO35_RoutesStayUntilEveryBrokerHasLetGo(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	r.Inject(brokertest.Fault{Node: "broker-b", Code: 215, Times: 1, Do: brokertest.Answer(1, "broken")})
	out := r.delete(r.deletion(look))
	r.g.Expect(out.Gone()).To(BeFalse())
	r.g.Expect(out.Left).To(HaveKey("broker-b"))
	r.g.Expect(out.Left).To(HaveLen(1))
	r.g.Expect(out.Routes).To(BeNil())
	r.g.Expect(r.NameServer(0).Route(topic)).To(HaveKey("broker-b"))
	r.g.Expect(r.Recorder().Count(brokertest.WithCode(216))).To(BeZero())

	// What is left is deleted by the next attempt.
	r.g.Expect(r.delete(r.deletion(r.look())).Gone()).To(BeTrue())
	r.g.Expect(r.NameServer(0).Route(topic)).To(BeEmpty())
}

func TestO35_ARouteThatComesBackIsSaid(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	r.Inject(brokertest.Fault{Node: "ns-1", Code: 216, Do: brokertest.Lose()})
	out := r.delete(r.deletion(look))
	r.g.Expect(out.Left).To(Equal(map[string]string{r.NameServerAddrs()[1]: "it still routes the topic to broker-a, broker-b"}))

	r.ClearFaults()
	r.Inject(brokertest.Fault{Node: "ns-1", Code: 105, Do: brokertest.HalfBody()})
	out = r.delete(r.deletion(r.look()))
	r.g.Expect(out.Left).To(HaveKey(r.NameServerAddrs()[1]))
	r.ClearFaults()
	r.g.Expect(r.delete(r.deletion(r.look())).Gone()).To(BeTrue())
}

func TestA17_RoutesOfAnotherClusterStay(t *testing.T) {
	r, _ := withTopic(t, brokertest.Options{}, 4, 4)
	foreign, err := r.AddForeignBroker("broker-x", "other")
	r.g.Expect(err).NotTo(HaveOccurred())
	foreign.PutTopic(brokertest.TopicConfig{Name: topic, Read: 2, Write: 2, Perm: 6})
	out := r.delete(r.deletion(r.look()))
	r.g.Expect(out.Gone()).To(BeTrue())
	r.g.Expect(r.NameServer(0).Route(topic)).To(HaveLen(1))
	_, there := foreign.Topic(topic)
	r.g.Expect(there).To(BeTrue())
	r.g.Expect(r.Recorder().Count(brokertest.To("broker-x"))).To(BeZero())
}

func TestK11_ADeletionNeedsAFreshLookAndALiveIntent(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	d := r.deletion(look)
	d.Intent = time.Time{}
	_, err := r.Delete(t.Context(), d)
	r.g.Expect(err).To(BeAssignableToTypeOf(&NoIntentError{}))
	d = r.deletion(look)
	d.NotAfter = time.Time{}
	_, err = r.Delete(t.Context(), d)
	r.g.Expect(err).To(BeAssignableToTypeOf(&NoIntentError{}))
	d = r.deletion(look)
	r.clock.Step(IntentAge + time.Second)
	_, err = r.Delete(t.Context(), d)
	r.g.Expect(err).To(MatchError(&TooLateError{What: "intent", By: time.Second}))
	r.Recorder().RequireNoCalls(t)
}

func TestR02_AFrozenLeaderDoesNotDelete(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	held := r.Inject(brokertest.Fault{Node: "broker-a", Code: 351, Times: 1, Do: brokertest.Delay()})
	done := make(chan DeletionOutcome, 1)
	d := r.deletion(look)
	go func() {
		out, _ := r.Delete(awaited(t), d)
		done <- out
	}()
	r.g.Expect(held.Await(awaited(t))).To(Succeed())
	r.clock.Step(time.Hour)
	held.Release()
	var out DeletionOutcome
	r.g.Eventually(done).WithTimeout(within).Should(Receive(&out))
	r.g.Expect(out.Left["broker-a"]).To(ContainSubstring("too old"))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestO22_ADeletionWithAnUnknownBrokerIsRefused(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{}, 4, 4)
	b := look.Brokers["broker-b"]
	b.Config = snapshot.Unknown[snapshot.StoredTopic]("no answer")
	look.Brokers["broker-b"] = b
	_, err := r.Delete(t.Context(), r.deletion(look))
	r.g.Expect(err).To(MatchError(ContainSubstring("no answer")))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestR18_ADeletionOfWhatChangedSinceIsRefused(t *testing.T) {
	r, look := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
	r.CreateTopic(topic, 8, 8)
	out := r.delete(r.deletion(look))
	r.g.Expect(out.Left["broker-a"]).To(ContainSubstring("changed by somebody else"))
	r.Recorder().RequireNoChangingCalls(t)
}

func TestDeletion_TheReadBackDecides(t *testing.T) {
	for name, fault := range broken() {
		t.Run(name, func(t *testing.T) {
			r, look := withTopic(t, brokertest.Options{Brokers: 1}, 4, 4)
			r.writeTimeout = 200 * time.Millisecond
			r.Inject(brokertest.Fault{Code: 215, Do: fault.do})
			out := r.delete(r.deletion(look))
			r.g.Expect(out.Gone()).To(Equal(fault.applied), "%v", out.Left)
		})
	}
}

// Deleting from one broker leaves the others, and the route that is left is
// shown.
func TestO35_DeletingFromOneBrokerShowsTheStaleRoute(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v brokertest.Version) {
		r, look := withTopic(t, brokertest.Options{Version: v}, 4, 4)
		o := order(resize.StepDeleteFromBroker, look, func(resize.Shown) resize.Shown { return resize.Shown{} })
		o.Step.Changes = slices.DeleteFunc(o.Step.Changes, func(c resize.BrokerChange) bool { return c.Broker == "broker-a" })
		_, err := r.Do(t.Context(), o)
		r.g.Expect(err).To(BeAssignableToTypeOf(&NoIntentError{}))
		o.Intent = r.clock.Now()
		out := r.do(o)
		r.g.Expect(out.Err()).NotTo(HaveOccurred())
		_, there := r.Broker("broker-b").Topic(topic)
		r.g.Expect(there).To(BeFalse())
		r.g.Expect(r.has("broker-a")).To(Equal([3]int{4, 4, 6}))
		route, _ := out.Routes[r.NameServerAddrs()[0]].Get()
		r.g.Expect(route.Queues).To(HaveKey("broker-b"), "name servers keep routing it there")
		r.Recorder().RequireChangingCalls(t, 1)

		r.Broker("broker-a").PutTopic(brokertest.TopicConfig{Name: topic, Read: 9, Write: 9, Perm: 6})
		o = order(resize.StepDeleteFromBroker, look, func(resize.Shown) resize.Shown { return resize.Shown{} })
		o.Intent = r.clock.Now()
		var foreign *ForeignChangeError
		r.g.Expect(errors.As(r.do(o).Err(), &foreign)).To(BeTrue())
		r.g.Expect(foreign.Broker).To(Equal("broker-a"))
	})
}
