// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Member is one member of the group, over all servers that list it. Its key is
// the client id with the host it connects from: the same id from another host
// is another member (rule R40).
type Member struct {
	ClientID string
	// Addresses are its connections, as servers see them; Servers are the
	// brokers and proxies that list it.
	Addresses, Servers []string
	// GRPC says that it speaks gRPC; Pop that it takes messages, not queues.
	GRPC, Pop bool
	// Language and SDK are as it says; Version is the ordinal of a classic
	// client, which rocketmq-client-go does not tell (rocketmq.md 1.5).
	Language, SDK string
	Version       int
	// Broadcast and Ordered are as the member says, where it does.
	Broadcast, Ordered bool
	// Reads is what it subscribes to.
	Reads snapshot.Fact[Set]
	// Queues are the queues it pulls now, without those it is giving up; unknown
	// for members that take messages.
	Queues snapshot.Fact[[]snapshot.Queue]
	// Pod is the pod it runs in; nil when none was found.
	Pod *Pod
	// Ghost says that its pod is gone and servers have not noticed yet, until
	// about Expires.
	Ghost   bool
	Expires time.Time
	// Duplicate says that its client id is in use at more than one address.
	Duplicate bool
	// Joining says that it is new and has not answered yet.
	Joining bool
}

// key is what makes it the same member in the next look.
func (m Member) key() string { return m.ClientID + " " + host(m.Addresses[0]) }

// host is the address without its port.
func host(address string) string {
	if ap, err := netip.ParseAddrPort(address); err == nil {
		return ap.Addr().Unmap().String()
	}
	if i := strings.LastIndexByte(address, ':'); i > 0 {
		return address[:i]
	}
	return address
}

// grpcID reports whether a client id has the form that gRPC members have:
// hostname@pid@index@time (rocketmq.md 5.5).
func grpcID(id string) bool { return strings.Count(id, "@") >= 3 }

// gather lists the members that any broker or proxy shows.
func (e *examination) gather() {
	members := map[string]*Member{}
	per := map[string]map[string]map[string]bool{} // by id and server, its addresses
	at := func(server, id, address string) *Member {
		if per[id] == nil {
			per[id] = map[string]map[string]bool{}
		}
		if per[id][server] == nil {
			per[id][server] = map[string]bool{}
		}
		per[id][server][address] = true
		k := id + " " + host(address)
		if members[k] == nil {
			members[k] = &Member{ClientID: id, GRPC: grpcID(id), Pop: grpcID(id)}
		}
		m := members[k]
		m.Addresses = append(m.Addresses, address)
		m.Servers = append(m.Servers, server)
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		b := e.ask.Look.Brokers[name]
		listed, _ := b.Members.Get()
		for _, c := range listed.Members {
			m := at(name, c.ClientID, c.Address)
			m.Language, m.Version = c.Language, c.Version
		}
	}
	for _, address := range slices.Sorted(maps.Keys(e.ask.Look.Proxies)) {
		listed, _ := e.ask.Look.Proxies[address].Get()
		for _, c := range listed.Members {
			m := at(address, c.ClientID, c.Address)
			m.Language = cmp.Or(m.Language, c.Language)
		}
	}
	beats, _ := e.ask.Look.Heartbeats.Get()
	for i := range beats.Members {
		p := &beats.Members[i]
		if p.Left || p.Age > e.t.Expiry {
			if m := members[p.ClientID+" "+host(p.Address)]; m == nil || p.Left {
				continue
			}
		}
		m := at("proxy "+p.Proxy, p.ClientID, p.Address)
		e.beat(m, p)
	}
	for _, k := range slices.Sorted(maps.Keys(members)) {
		m := members[k]
		slices.Sort(m.Addresses)
		m.Addresses = slices.Compact(m.Addresses)
		slices.Sort(m.Servers)
		m.Servers = slices.Compact(m.Servers)
		e.identify(m)
		e.members = append(e.members, m)
	}
	e.duplicates(per)
	for _, m := range e.members {
		e.read(m)
	}
}

// beat takes in what a proxy's heartbeat record says of a member.
func (e *examination) beat(m *Member, p *snapshot.ProxyMember) {
	m.GRPC, m.Pop = p.GRPC, p.GRPC
	m.Language, m.SDK = cmp.Or(p.Language, m.Language), cmp.Or(p.SDK, m.SDK)
	m.Broadcast, m.Ordered = m.Broadcast || p.MessageModel == "BROADCASTING", m.Ordered || p.FIFO
	fresh := e.t.Fresh
	if !p.GRPC {
		fresh = e.t.FreshRemoting
	}
	if p.HostName != "" {
		e.hostNames[m] = p.HostName
	}
	if p.Age > fresh {
		if !m.Reads.IsKnown() {
			m.Reads = snapshot.Unknown[Set](fmt.Sprintf("has sent no heartbeat for about %d s", int(p.Age.Seconds())))
		}
		return
	}
	m.Reads = snapshot.Known(ObservedSet(e.ask.Group, p.Subscriptions), e.ask.Look.Heartbeats.Origin())
}

// duplicates marks the ids that are in use at more than one address: from two
// hosts, or twice on one server.
func (e *examination) duplicates(per map[string]map[string]map[string]bool) {
	hosts := map[string]int{}
	for _, m := range e.members {
		if !m.Ghost {
			hosts[m.ClientID]++
		}
	}
	for _, m := range e.members {
		m.Duplicate = hosts[m.ClientID] > 1 && !m.Ghost
		for _, addresses := range per[m.ClientID] {
			same := 0
			for a := range addresses {
				if host(a) == host(m.Addresses[0]) {
					same++
				}
			}
			m.Duplicate = m.Duplicate || same > 1
		}
	}
}

// read finds out what a classic member says of itself.
func (e *examination) read(m *Member) {
	if m.Duplicate {
		// Members with one id work out the same queues, so those that either
		// answers are both's.
		defer func() {
			m.Reads = snapshot.Unknown[Set]("shares its client id, so which of the two answered is not known")
		}()
	}
	if m.GRPC {
		m.Queues = snapshot.Unknown[[]snapshot.Queue]("takes messages, not queues")
		if !m.Reads.IsKnown() && m.Reads.Why() == "not asked yet" {
			m.Reads = snapshot.Unknown[Set]("speaks gRPC, and no heartbeat of it was read from the proxies' topic")
		}
		return
	}
	why := "was not asked"
	var queues []snapshot.Queue
	for _, name := range slices.Sorted(maps.Keys(e.ask.Look.Brokers)) {
		fact, asked := e.ask.Look.Brokers[name].Reports[m.ClientID]
		if !asked {
			continue
		}
		r, known := fact.Get()
		if !known {
			why = fact.Why()
			continue
		}
		said := snapshot.Known(ObservedSet(e.ask.Group, r.Subscriptions), fact.Origin())
		set, _ := said.Get()
		switch before, had := m.Reads.Get(); {
		case len(set) == 0:
			why = "does not say what it subscribes to"
			e.unreported[m] = true
			continue
		case had && !before.Equal(set):
			m.Reads = snapshot.Unknown[Set]("answered differently through two brokers")
			return
		}
		m.Reads = said
		m.Pop = m.Pop || len(r.PopQueues) > 0
		m.Broadcast = m.Broadcast || r.Properties["messageModel"] == "BROADCASTING"
		m.Ordered = m.Ordered || r.Properties["PROP_CONSUMEORDERLY"] == "true"
		for q, work := range r.Queues {
			if !work.Dropped {
				queues = append(queues, q)
			}
		}
	}
	if !m.Reads.IsKnown() {
		if m.Reads.Why() == "not asked yet" {
			m.Reads = snapshot.Unknown[Set](why)
		}
		m.Queues = snapshot.Unknown[[]snapshot.Queue](m.Reads.Why())
		return
	}
	if m.Pop {
		m.Queues = snapshot.Unknown[[]snapshot.Queue]("takes messages, not queues")
		return
	}
	slices.SortFunc(queues, func(a, b snapshot.Queue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
	})
	m.Queues = snapshot.Known(slices.Compact(queues), m.Reads.Origin())
}
