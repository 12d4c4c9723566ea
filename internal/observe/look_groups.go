// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// groupPass is what one pass finds out about groups. Every server is asked for
// every group: a member may be known to one broker only (case A14), and gRPC
// members only to proxies.
type groupPass struct {
	*pass
	// why says why the union of all groups could not be made; empty when it was
	// or nobody asked for it.
	why string
	// servers are the brokers and proxies, by broker name or proxy address.
	servers []groupServer
	// modes are the request modes by server, topic and group.
	modes map[string]snapshot.Fact[map[string]map[string]string]
	// members are by group and server.
	members map[string]map[string]snapshot.Fact[snapshot.Membership]
	// reports are by group and client id.
	reports map[string]map[string]snapshot.Fact[snapshot.MemberReport]
}

// groupServer is a server that lists members of groups.
type groupServer struct {
	name, address string
	from          snapshot.Process
	client        *rocketmq.Client
	proxy         bool
	// why says why it cannot be asked.
	why string
}

func (p *pass) groups() *groupPass {
	g := &groupPass{
		pass:    p,
		modes:   map[string]snapshot.Fact[map[string]map[string]string]{},
		members: map[string]map[string]snapshot.Fact[snapshot.Membership]{},
		reports: map[string]map[string]snapshot.Fact[snapshot.MemberReport]{},
	}
	for _, b := range p.brokers {
		g.servers = append(g.servers, groupServer{name: b.broker.Name, address: b.address, from: b.process, client: b.at, why: b.why})
	}
	for _, address := range p.cfg.Proxies {
		from := snapshot.Process{Address: address, BrokerID: -1}
		g.servers = append(g.servers, groupServer{name: address, address: address, from: from, client: p.client, proxy: true})
	}
	wanted := g.wanted()
	if len(wanted) == 0 {
		return g
	}
	g.askModes()
	g.askMembers(wanted)
	g.askReports()
	return g
}

// wanted are the groups to ask for, over all topics of the pass.
func (g *groupPass) wanted() []string {
	groups := map[string]struct{}{}
	all := false
	for topic, opts := range g.topics {
		if opts.Groups == NoGroups {
			continue
		}
		all = all || opts.Groups == AllGroups
		maps.Copy(groups, g.linked(topic))
	}
	if all {
		maps.Copy(groups, g.everyGroup())
	}
	return slices.Sorted(maps.Keys(groups))
}

// linked are the groups that have an entry on the topic or are declared for it.
func (g *groupPass) linked(topic string) map[string]struct{} {
	groups := map[string]struct{}{}
	for _, d := range g.topics[topic].Declared {
		groups[d.Name] = struct{}{}
	}
	for _, b := range g.brokers {
		all, _ := b.committed.Get()
		for group := range usersOf(all.Committed[topic], g.scope()) {
			groups[group] = struct{}{}
		}
		for group := range usersOf(all.Broadcast[topic], g.scope()) {
			groups[group] = struct{}{}
		}
		maps.Copy(groups, pulledOnly(all, topic, g.scope()))
	}
	return groups
}

// everyGroup is every user's group that any broker knows (call 201). One broker
// that does not tell makes the union unknown: a listing that failed is not an
// empty one (case O22).
func (g *groupPass) everyGroup() map[string]struct{} {
	lists := make([]snapshot.Fact[rocketmq.GroupTable], len(g.servers))
	forEach(maxServers, g.servers, func(i int, s groupServer) {
		switch {
		case s.proxy:
		case s.why != "":
			lists[i] = snapshot.Unknown[rocketmq.GroupTable](s.why)
		default:
			lists[i] = fact(g.pass, s.address, s.from, s.client.AllGroups)
		}
	})
	groups := map[string]struct{}{}
	for i, s := range g.servers {
		if s.proxy {
			continue
		}
		table, known := lists[i].Get()
		if !known && g.why == "" {
			g.why = "the groups of " + s.name + " are not known: " + lists[i].Why()
		}
		for group := range usersOf(table.Groups, g.scope()) {
			groups[group] = struct{}{}
		}
	}
	return groups
}

func (g *groupPass) askModes() {
	facts := make([]snapshot.Fact[map[string]map[string]string], len(g.servers))
	forEach(maxServers, g.servers, func(i int, s groupServer) {
		switch {
		case s.proxy:
		case s.why != "":
			facts[i] = snapshot.Unknown[map[string]map[string]string](s.why)
		default:
			facts[i] = fact(g.pass, s.address, s.from, s.client.MessageRequestModes)
		}
	})
	for i, s := range g.servers {
		if !s.proxy {
			g.modes[s.name] = facts[i]
		}
	}
}

func (g *groupPass) askMembers(groups []string) {
	for _, group := range groups {
		g.members[group] = map[string]snapshot.Fact[snapshot.Membership]{}
	}
	answers := make([][]snapshot.Fact[snapshot.Membership], len(g.servers))
	forEach(maxServers, g.servers, func(i int, s groupServer) {
		answers[i] = make([]snapshot.Fact[snapshot.Membership], len(groups))
		forEach(maxPerBroker, groups, func(j int, group string) {
			if s.why != "" {
				answers[i][j] = snapshot.Unknown[snapshot.Membership](s.why)
				return
			}
			answers[i][j] = fact(g.pass, s.address, s.from, func(ctx context.Context, addr string) (snapshot.Membership, error) {
				return s.client.Members(ctx, addr, group)
			})
		})
	})
	for i, s := range g.servers {
		for j, group := range groups {
			g.members[group][s.name] = answers[i][j]
		}
	}
}
