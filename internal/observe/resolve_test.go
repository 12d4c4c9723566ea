// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// dnsNames is a resolver that tests change as they go.
type dnsNames map[string][]string

var errNoSuchHost = errors.New("no such host")

func (n dnsNames) LookupHost(_ context.Context, host string) ([]string, error) {
	if a, ok := n[host]; ok {
		return a, nil
	}
	return nil, errNoSuchHost
}

type manualClock struct{ at time.Time }

func (c *manualClock) now() time.Time { return c.at }

func askable(servers []serverAddress) (ok, missing []string) {
	for _, s := range servers {
		if s.missing == nil {
			ok = append(ok, s.address)
		} else {
			missing = append(missing, s.address)
		}
	}
	return ok, missing
}

func TestO20_AddressesAreResolvedAtEveryUse(t *testing.T) {
	g := NewWithT(t)
	dns := dnsNames{"mq": {"10.0.0.2", "10.0.0.1"}, "solo": {"10.1.0.1"}}
	clock := &manualClock{time.Unix(1000, 0)}
	b := newAddressBook(dns, clock.now)

	ok, missing := askable(b.resolve(t.Context(), []string{"mq:9876", "solo:9876", "10.0.0.7:9876", "[::1]:9876"}))
	g.Expect(ok).To(Equal([]string{"10.0.0.1:9876", "10.0.0.2:9876", "10.1.0.1:9876", "10.0.0.7:9876", "[::1]:9876"}))
	g.Expect(missing).To(BeEmpty())

	// One pod was replaced by another: the new address is used at once, and the
	// old one is not missed, because as many answer as before.
	dns["mq"] = []string{"10.0.0.1", "10.0.0.3"}
	ok, missing = askable(b.resolve(t.Context(), []string{"mq:9876"}))
	g.Expect(ok).To(Equal([]string{"10.0.0.1:9876", "10.0.0.3:9876"}))
	g.Expect(missing).To(BeEmpty())
}

func TestO19_APartialAddressListIsNoticed(t *testing.T) {
	g := NewWithT(t)
	dns := dnsNames{"mq": {"10.0.0.1", "10.0.0.2"}}
	clock := &manualClock{time.Unix(1000, 0)}
	b := newAddressBook(dns, clock.now)
	b.resolve(t.Context(), []string{"mq:9876"})

	dns["mq"] = []string{"10.0.0.1"}
	for range 3 {
		clock.at = clock.at.Add(addressMemory / 4)
		servers := b.resolve(t.Context(), []string{"mq:9876"})
		ok, missing := askable(servers)
		g.Expect(ok).To(Equal([]string{"10.0.0.1:9876"}))
		g.Expect(missing).To(Equal([]string{"10.0.0.2:9876"}))
		g.Expect(servers[1].missing).To(MatchError(ContainSubstring("mq:9876 leads to 1 addresses, a moment ago to 2, 10.0.0.2:9876 among them")))
	}

	// It was taken away for good: after a while it is no longer missed.
	clock.at = clock.at.Add(addressMemory)
	ok, missing := askable(b.resolve(t.Context(), []string{"mq:9876"}))
	g.Expect(ok).To(Equal([]string{"10.0.0.1:9876"}))
	g.Expect(missing).To(BeEmpty())

	// And it is not missed later either, when the one left is replaced.
	dns["mq"] = []string{"10.0.0.9"}
	ok, missing = askable(b.resolve(t.Context(), []string{"mq:9876"}))
	g.Expect(ok).To(Equal([]string{"10.0.0.9:9876"}))
	g.Expect(missing).To(BeEmpty())
}

func TestO19_APartialListEndsWhenAsManyAreBack(t *testing.T) {
	g := NewWithT(t)
	dns := dnsNames{"mq": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}}
	clock := &manualClock{time.Unix(1000, 0)}
	b := newAddressBook(dns, clock.now)
	b.resolve(t.Context(), []string{"mq:9876"})
	clock.at = clock.at.Add(time.Second)
	dns["mq"] = []string{"10.0.0.1", "10.0.0.4"}
	_, missing := askable(b.resolve(t.Context(), []string{"mq:9876"}))
	g.Expect(missing).To(HaveLen(1), "one of three is missing, whichever of the two old ones it is")
	dns["mq"] = []string{"10.0.0.1", "10.0.0.4", "10.0.0.5"}
	_, missing = askable(b.resolve(t.Context(), []string{"mq:9876"}))
	g.Expect(missing).To(BeEmpty())
}

func TestResolve_NamesThatLeadNowhere(t *testing.T) {
	g := NewWithT(t)
	b := newAddressBook(dnsNames{"empty": {}, "odd": {"not-an-address"}}, time.Now)
	for _, entry := range []string{"nowhere:9876", "empty:9876", "odd:9876"} {
		servers := b.resolve(t.Context(), []string{entry})
		g.Expect(servers).To(HaveLen(1))
		g.Expect(servers[0].unresolved).To(BeTrue())
		g.Expect(servers[0].address).To(Equal(entry), "it still has a place in the snapshot")
		g.Expect(servers[0].missing).To(MatchError(ContainSubstring("leads to no address; check its spelling")))
	}
	servers := b.resolve(t.Context(), []string{"no-port"})
	g.Expect(servers[0].missing).To(MatchError(ContainSubstring("is not host:port")))
}

func TestResolve_OneAddressOfTwoEntriesAndTwoFamilies(t *testing.T) {
	g := NewWithT(t)
	b := newAddressBook(dnsNames{"both": {"fd00::1", "10.0.0.1"}, "six": {"fd00::2", "fd00::2"}}, time.Now)
	ok, _ := askable(b.resolve(t.Context(), []string{"10.0.0.1:9876", "both:9876", "six:9876"}))
	g.Expect(ok).To(Equal([]string{"10.0.0.1:9876", "[fd00::2]:9876"}))
}
