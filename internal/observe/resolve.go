// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Resolver turns a host name into addresses; *net.Resolver is one.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// addressMemory is how long an address that a name no longer leads to is
// missed. Name servers that are replaced one by one come back within it, and
// until then the list is a partial one that nobody may act on (case O19); a
// name server that was taken away for good is forgotten after it (case O20).
const addressMemory = 2 * time.Minute

// addressBook resolves the name servers of a config at every use. What it
// remembers only serves to notice that a name leads to fewer addresses than a
// moment ago.
type addressBook struct {
	resolver Resolver
	now      func() time.Time
	entries  map[string]*entryMemory
}

type entryMemory struct {
	// seen is when each address was last resolved.
	seen map[string]time.Time
	// peak is the largest number of addresses at one time, seen last at peakAt.
	peak   int
	peakAt time.Time
}

func newAddressBook(r Resolver, now func() time.Time) *addressBook {
	return &addressBook{resolver: r, now: now, entries: map[string]*entryMemory{}}
}

// serverAddress is one address of one entry.
type serverAddress struct {
	entry, address string
	// missing says why it cannot be asked; nil when it can.
	missing error
	// unresolved says that the name led nowhere at all.
	unresolved bool
}

// unresolvedError says that a host name leads to no address.
type unresolvedError struct {
	host string
	err  error
}

func (e *unresolvedError) Error() string {
	return fmt.Sprintf("the host name %s leads to no address; check its spelling and that the DNS of this cluster knows it", e.host)
}

func (e *unresolvedError) Unwrap() error { return e.err }

// resolve returns every address that the entries lead to now, and after them
// those of the same entry that are missed.
func (b *addressBook) resolve(ctx context.Context, entries []string) []serverAddress {
	var out []serverAddress
	have := map[string]struct{}{}
	for _, entry := range entries {
		for _, s := range b.resolveEntry(ctx, entry) {
			if _, twice := have[s.address]; twice {
				continue
			}
			have[s.address] = struct{}{}
			out = append(out, s)
		}
	}
	return out
}

func (b *addressBook) resolveEntry(ctx context.Context, entry string) []serverAddress {
	addresses, err := lookup(ctx, b.resolver, entry)
	if err != nil {
		return []serverAddress{{entry: entry, address: entry, missing: err, unresolved: true}}
	}
	m := b.entries[entry]
	if m == nil {
		m = &entryMemory{seen: map[string]time.Time{}}
		b.entries[entry] = m
	}
	gone := m.update(addresses, b.now())
	var out []serverAddress
	for _, a := range addresses {
		out = append(out, serverAddress{entry: entry, address: a})
	}
	// Replaced one for one, nothing is missing: the old pod's address is simply
	// gone (case O20).
	for i := 0; i < len(gone) && len(out) < m.peak; i++ {
		out = append(out, serverAddress{entry: entry, address: gone[i], missing: fmt.Errorf(
			"%s leads to %d addresses, a moment ago to %d, %s among them; name servers are probably being replaced",
			entry, len(addresses), m.peak, gone[i])})
	}
	return out
}

// update takes in what the name leads to now and returns the addresses that it
// led to within addressMemory and does no longer, sorted.
func (m *entryMemory) update(addresses []string, now time.Time) (gone []string) {
	if len(addresses) >= m.peak || now.Sub(m.peakAt) > addressMemory {
		m.peak, m.peakAt = len(addresses), now
	}
	for _, a := range addresses {
		m.seen[a] = now
	}
	for a, last := range m.seen {
		switch {
		case slices.Contains(addresses, a):
		case now.Sub(last) > addressMemory:
			delete(m.seen, a)
		default:
			gone = append(gone, a)
		}
	}
	slices.Sort(gone)
	return gone
}

// lookup resolves host:port to sorted ip:port. Where a name has addresses of
// both families every server would be there twice, so only IPv4 is taken, which
// RocketMQ itself registers.
func lookup(ctx context.Context, r Resolver, entry string) ([]string, error) {
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		return nil, fmt.Errorf("%s is not host:port: %w", entry, err)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{entry}, nil
	}
	found, err := r.LookupHost(ctx, host)
	if err != nil || len(found) == 0 {
		return nil, &unresolvedError{host: host, err: err}
	}
	var v4, v6 []string
	for _, f := range found {
		ip, err := netip.ParseAddr(f)
		if err != nil {
			continue
		}
		joined := net.JoinHostPort(f, port)
		if ip.Unmap().Is4() {
			v4 = append(v4, joined)
		} else {
			v6 = append(v6, joined)
		}
	}
	if len(v4) == 0 {
		v4 = v6
	}
	if len(v4) == 0 {
		return nil, &unresolvedError{host: host}
	}
	slices.Sort(v4)
	return slices.Compact(v4), nil
}
