// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func brokerWith(topics ...string) snapshot.Broker {
	m := map[string]snapshot.TopicConfig{}
	for _, t := range topics {
		m[t] = snapshot.TopicConfig{Name: t}
	}
	return snapshot.Broker{Topics: snapshot.Known(m, snapshot.Origin{})}
}

func serverWith(masters []string, topics ...string) *snapshot.NameServer {
	m, l := map[string]string{}, map[string]struct{}{}
	for _, b := range masters {
		m[b] = b + ":10911"
	}
	for _, t := range topics {
		l[t] = struct{}{}
	}
	return &snapshot.NameServer{Address: "ns:9876",
		Masters: snapshot.Known(m, snapshot.Origin{}), Topics: snapshot.Known(l, snapshot.Origin{})}
}

func TestO25_AFreshNameServerIsNoticed(t *testing.T) {
	brokers := map[string]snapshot.Broker{
		"broker-a": brokerWith("broker-a", "A", "B"),
		"broker-b": brokerWith("broker-b", "A", "B"),
	}
	both := []string{"broker-a", "broker-b"}
	for name, tc := range map[string]struct {
		server *snapshot.NameServer
		want   string
	}{
		"complete":                        {serverWith(both, "broker-a", "broker-b", "A", "B"), ""},
		"more than the brokers have":      {serverWith(both, "broker-a", "broker-b", "A", "B", "C"), ""},
		"only the one that was written":   {serverWith([]string{"broker-a"}, "A"), "it lists 1 of the 3 topics of broker-a"},
		"shared topics hide the second":   {serverWith(both, "broker-a", "A", "B"), "it lists 2 of the 3 topics of broker-b"},
		"a broker it does not know yet":   {serverWith([]string{"broker-a"}, "broker-a", "A", "B"), ""},
		"a broker whose topics are gone?": {serverWith([]string{"broker-c"}, "A"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWarmUps((&manualClock{time.Unix(0, 0)}).now)
			unrouted := w.judge(tc.server, brokers)
			g.Expect(unrouted).To(BeEmpty())
			if tc.want == "" {
				g.Expect(tc.server.WarmUp).To(BeEmpty())
			} else {
				g.Expect(tc.server.WarmUp).To(ContainSubstring(tc.want))
			}
		})
	}
}

func TestO25_AnUnknownListingIsNoFullListing(t *testing.T) {
	g := NewWithT(t)
	ns := serverWith([]string{"broker-a"})
	ns.Topics = snapshot.Unknown[map[string]struct{}]("no answer within 5s")
	newWarmUps(time.Now).judge(ns, nil)
	g.Expect(ns.WarmUp).To(Equal("it is not known which topics it lists: no answer within 5s"))
}

func TestO25_WarmUpEndsWithTheFullRegistration(t *testing.T) {
	g := NewWithT(t)
	clock := &manualClock{time.Unix(0, 0)}
	w := newWarmUps(clock.now)
	brokers := map[string]snapshot.Broker{"broker-a": brokerWith("broker-a", "A", "B")}
	fresh := serverWith([]string{"broker-a"}, "A")
	w.judge(fresh, brokers)
	g.Expect(fresh.WarmUp).NotTo(BeEmpty())
	clock.at = clock.at.Add(30 * time.Second)
	full := serverWith([]string{"broker-a"}, "broker-a", "A", "B")
	w.judge(full, brokers)
	g.Expect(full.WarmUp).To(BeEmpty())
}

// A topic whose route somebody deleted must not stop every write for ever, and
// must not hide a later restart either.
func TestO25_WhatIsMissingForLongIsUnroutedAndNotWarmUp(t *testing.T) {
	g := NewWithT(t)
	clock := &manualClock{time.Unix(0, 0)}
	w := newWarmUps(clock.now)
	brokers := map[string]snapshot.Broker{"broker-a": brokerWith("broker-a", "A", "B")}
	withoutB := func() *snapshot.NameServer { return serverWith([]string{"broker-a"}, "broker-a", "A") }

	ns := withoutB()
	g.Expect(w.judge(ns, brokers)).To(BeEmpty())
	g.Expect(ns.WarmUp).NotTo(BeEmpty())
	clock.at = clock.at.Add(warmUpMemory)
	ns = withoutB()
	w.judge(ns, brokers)
	g.Expect(ns.WarmUp).NotTo(BeEmpty(), "two periods are not over yet")
	clock.at = clock.at.Add(time.Second)
	ns = withoutB()
	g.Expect(w.judge(ns, brokers)).To(Equal(map[string]int{"broker-a": 1}))
	g.Expect(ns.WarmUp).To(BeEmpty())

	restarted := serverWith([]string{"broker-a"})
	w.judge(restarted, brokers)
	g.Expect(restarted.WarmUp).To(ContainSubstring("it lists 0 of the 3 topics"))
}

func TestO25_NameServersThatAreNotAskedAreForgotten(t *testing.T) {
	g := NewWithT(t)
	w := newWarmUps(time.Now)
	w.judge(serverWith([]string{"broker-a"}), map[string]snapshot.Broker{"broker-a": brokerWith("A")})
	g.Expect(w.since).To(HaveLen(1))
	w.keep(nil)
	g.Expect(w.since).To(BeEmpty())
}
