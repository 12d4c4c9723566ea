// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// Process is the server process that gave an answer. Two samples prove that
// something stood still only when the same process gave both (rule R01).
type Process struct {
	// Address is the host:port that was dialled.
	Address string
	// Name is the broker name the process proved (calls 26 and 28, rule R03);
	// empty for a name server.
	Name string
	// Cluster is the cluster name the process proved; empty for a name server.
	Cluster string
	// BrokerID is 0 for a master. It is -1 for a name server.
	BrokerID int64
	// Booted is when the process says it started; zero for a name server.
	Booted time.Time
	// Connection counts the dials to Address; a new one is proven anew.
	Connection uint64
}

// Same reports whether both are the same process: address, identity and boot.
// A new connection to the same process is still the same process.
func (p Process) Same(o Process) bool {
	return p.Address == o.Address && p.Name == o.Name && p.Cluster == o.Cluster &&
		p.BrokerID == o.BrokerID && p.Booted.Equal(o.Booted)
}

// Origin says where a fact comes from.
type Origin struct {
	// Sent is when the request was sent, not when the reply came: what the
	// fact shows was true at some moment after it (rule R01).
	Sent time.Time
	// From is who answered.
	From Process
}

// Fact is a value that is known, or unknown with a reason. The zero Fact is
// unknown. A failed, partial or undecodable answer is an unknown Fact, never a
// zero value (design, rules of truth).
type Fact[T any] struct {
	value  T
	origin Origin
	why    string
	known  bool
}

// Known makes a known fact.
func Known[T any](value T, origin Origin) Fact[T] {
	return Fact[T]{value: value, origin: origin, known: true}
}

// Unknown makes an unknown fact. The reason is a phrase a person can act on,
// such as "broker-b did not answer call 43 within 5s".
func Unknown[T any](why string) Fact[T] {
	return Fact[T]{why: why}
}

// Get returns the value and whether it is known. The value of an unknown fact
// is the zero value and means nothing.
func (f Fact[T]) Get() (T, bool) { return f.value, f.known }

// IsKnown reports whether the value is known.
func (f Fact[T]) IsKnown() bool { return f.known }

// Origin is when a known fact was asked for and who answered; zero if unknown.
func (f Fact[T]) Origin() Origin { return f.origin }

// Why is the reason an unknown fact is unknown; empty if it is known.
func (f Fact[T]) Why() string {
	if f.known {
		return ""
	}
	if f.why == "" {
		return "not asked yet"
	}
	return f.why
}

// SentAfter reports whether the fact is known and its request was sent after t.
// A proof uses only such facts (rule R01).
func (f Fact[T]) SentAfter(t time.Time) bool { return f.known && f.origin.Sent.After(t) }

// Map derives a fact from another and keeps its origin or its reason.
func Map[T, U any](f Fact[T], fn func(T) U) Fact[U] {
	if !f.known {
		return Unknown[U](f.Why())
	}
	return Known(fn(f.value), f.origin)
}
