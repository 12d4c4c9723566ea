// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/brokertest"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// In as many sweeps as that takes every watched topic is checked, and none twice
// before all were once.
func TestRoutes_TheOldestAreCheckedFirst(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1, NameServers: 1})
	s := r.hub.Subscribe(func(Key) {})
	const rounds = 3
	for i := range rounds * routesPerSweep {
		name := fmt.Sprintf("TOPIC_%02d", i)
		r.CreateTopic(name, 4, 4)
		s.Watch(key(name), r.id, name)
	}
	for round := range rounds {
		r.step(DefaultSweep)
		r.g.Expect(r.swept().Routes).To(HaveLen((round + 1) * routesPerSweep))
	}
	r.step(DefaultSweep)
	first := r.Cluster.Clock().Now()
	fresh := 0
	for _, routes := range r.swept().Routes {
		for _, fact := range routes {
			if !fact.Origin().Sent.Before(first) {
				fresh++
			}
		}
	}
	r.g.Expect(fresh).To(Equal(routesPerSweep))
}

func TestRoutes_WhatIsNotWatchedOrNotThereIsNotChecked(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	s := r.hub.Subscribe(func(Key) {})
	s.Watch(key("a"), r.id, "TOPIC_A", "TOPIC_NOT_YET")
	r.g.Expect(r.swept().Routes).To(And(HaveLen(1), HaveKey("TOPIC_A")))
	s.Forget(key("a"))
	r.g.Expect(r.swept().Routes).To(BeEmpty())
}

// Case Q30: a name server that shows another permission than the broker.
func TestRoutes_ADriftedRouteWakesItsTopic(t *testing.T) {
	r := start(t, brokertest.Options{Brokers: 1})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.CreateTopic("TOPIC_B", 4, 4)
	in := &inbox{}
	s := r.hub.Subscribe(in.add)
	s.Watch(key("a"), r.id, "TOPIC_A")
	s.Watch(key("b"), r.id, "TOPIC_B")
	r.swept()
	r.swept()
	in.take()
	r.NameServer(1).SetRoute("TOPIC_A", "broker-a", &brokertest.RouteQueues{Read: 4, Write: 4, Perm: 4})
	c := r.swept()
	r.g.Expect(in.take()).To(Equal([]string{"a"}))
	r.g.Expect(must(c.Routes["TOPIC_A"][r.NameServerAddrs()[1]]).Queues["broker-a"].Perm).To(Equal(snapshot.PermRead))
	r.g.Expect(must(c.Routes["TOPIC_A"][r.NameServerAddrs()[0]]).Queues["broker-a"].Perm).To(Equal(snapshot.PermReadWrite))
}

func TestRoutes_NameServersThatAreGoneAreDropped(t *testing.T) {
	g := NewWithT(t)
	known := snapshot.Known(snapshot.Route{Present: true}, snapshot.Origin{})
	published := map[string]snapshot.Fact[snapshot.Route]{"old:1": known, "new:1": known}
	a := newRouteAudit()
	a.routes["TOPIC_A"] = published
	a.keep([]string{"new:1"})
	g.Expect(a.routes["TOPIC_A"]).To(And(HaveLen(1), HaveKey("new:1")))
	g.Expect(published).To(HaveLen(2), "what was published is not touched")
}

func TestRoutes_AreAskedOnEveryNameServer(t *testing.T) {
	r := start(t, brokertest.Options{})
	r.CreateTopic("TOPIC_A", 4, 4)
	r.NameServer(1).Stop()
	routes := r.Routes(t.Context(), "TOPIC_A")
	r.g.Expect(must(routes[r.NameServerAddrs()[0]]).Present).To(BeTrue())
	r.g.Expect(routes[r.NameServerAddrs()[1]].Why()).To(ContainSubstring(r.NameServerAddrs()[1]))
	r.g.Expect(must(r.Routes(t.Context(), "TOPIC_NONE")[r.NameServerAddrs()[0]]).Present).To(BeFalse())
}
