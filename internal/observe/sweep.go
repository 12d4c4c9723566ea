// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// sweep asks everybody once, publishes what it saw, and wakes those whose part
// changed. Per name server it sends 106, 206 and the checks of routesPerSweep
// routes; per broker 26, 28 and 21; per proxy one 203: numbers that do not
// depend on how many topics or objects there are.
func (o *Observer) sweep(ctx context.Context) {
	o.seq++
	c := &snapshot.Cluster{Name: o.cfg.ClusterName, Seq: o.seq, Started: o.clock.Now()}
	d := o.discover(ctx)
	c.NameServers, c.Brokers, c.Problems = d.servers, d.brokers, d.problems

	// The brokers' tables come before the name servers' listings: a topic that
	// is created in between is then listed and not missed (see warmUps).
	found := o.sweepBrokers(ctx, c.Brokers)
	c.Problems = append(c.Problems, found...)
	o.listTopics(ctx, c)
	c.Problems = append(c.Problems, o.sweepProxies(ctx, c)...)
	c.Routes = o.audit.check(ctx, o, c)
	c.Problems = sortProblems(append(c.Problems, o.undeclared(ctx, c)...))
	c.Finished = o.clock.Now()

	if ctx.Err() != nil {
		return // a sweep that was cut off has seen nothing
	}
	before := o.current.Swap(c)
	o.hub.wake(o.id, diff(before, c))
}

// sweepBrokers fills in what each broker says of itself.
func (o *Observer) sweepBrokers(ctx context.Context, brokers map[string]snapshot.Broker) []snapshot.Problem {
	order := slices.Sorted(maps.Keys(brokers))
	asked := make([]snapshot.Broker, len(order))
	problems := make([]*snapshot.Problem, len(order))
	forEach(maxServers, order, func(i int, name string) {
		asked[i], problems[i] = o.sweepBroker(ctx, brokers[name])
	})
	var out []snapshot.Problem
	for i, name := range order {
		brokers[name] = asked[i]
		if problems[i] != nil {
			out = append(out, *problems[i])
		}
	}
	return out
}

func (o *Observer) sweepBroker(ctx context.Context, b snapshot.Broker) (snapshot.Broker, *snapshot.Problem) {
	address, ok := b.Master.Get()
	if !ok {
		return withoutAnswers(b, b.Master.Why()), nil
	}
	who, origin, err := o.identify(ctx, b.Name, address)
	if err != nil {
		p := brokerFailed(b.Name, address, err)
		return withoutAnswers(b, p.Sentence), &p
	}
	b.Settings = snapshot.Known(who.Settings, origin)
	b.Runtime = snapshot.Known(who.Runtime, origin)
	origin = o.origin(who.Process)
	table, err := call(ctx, o, address, o.client.On(who.Process).AllTopicConfigs)
	if err != nil {
		p := brokerFailed(b.Name, address, err)
		b.Topics = snapshot.Unknown[map[string]snapshot.TopicConfig](p.Sentence)
		return b, &p
	}
	b.Topics = snapshot.Known(table.Topics, origin)
	return b, nil
}

func withoutAnswers(b snapshot.Broker, why string) snapshot.Broker {
	b.Settings = snapshot.Unknown[snapshot.Settings](why)
	b.Runtime = snapshot.Unknown[snapshot.Runtime](why)
	b.Topics = snapshot.Unknown[map[string]snapshot.TopicConfig](why)
	return b
}

// identify asks the peer who it is and for its running state, and refuses any
// but the master of the broker name in this cluster.
func (o *Observer) identify(ctx context.Context, name, address string) (rocketmq.Identity, snapshot.Origin, error) {
	sent := o.clock.Now()
	who, err := call(ctx, o, address, o.client.Identify)
	if err == nil {
		err = o.expect(name, who.Process)
	}
	return who, snapshot.Origin{Sent: sent, From: who.Process}, err
}

// meet asks the peer who it is, by its settings only, and refuses any but the
// master of the broker name in this cluster.
func (o *Observer) meet(ctx context.Context, name, address string) (process snapshot.Process, settings snapshot.Settings, err error) {
	process, err = call(ctx, o, address, func(ctx context.Context, addr string) (p snapshot.Process, err error) {
		p, settings, err = o.client.Meet(ctx, addr)
		return p, err
	})
	if err == nil {
		err = o.expect(name, process)
	}
	return process, settings, err
}

// expect is an error unless the process is the master of the broker name in this
// cluster: an address can have passed to another broker, and an old master may
// still be routed (rule R03).
func (o *Observer) expect(name string, p snapshot.Process) error {
	if p.Name == name && p.Cluster == o.cfg.ClusterName && p.BrokerID == 0 {
		return nil
	}
	return &rocketmq.IdentityError{Want: rocketmq.Master{Addr: p.Address, Name: name, Cluster: o.cfg.ClusterName}, Got: p}
}

// listTopics asks each name server for its topics and judges whether it is
// still warming up.
func (o *Observer) listTopics(ctx context.Context, c *snapshot.Cluster) {
	forEach(maxServers, c.NameServers, func(i int, ns snapshot.NameServer) {
		if !ns.Masters.IsKnown() {
			c.NameServers[i].Topics = snapshot.Unknown[map[string]struct{}](ns.Masters.Why())
			return
		}
		origin := o.origin(snapshot.Process{Address: ns.Address, BrokerID: -1})
		topics, err := call(ctx, o, ns.Address, o.client.TopicList)
		if err != nil {
			c.NameServers[i].Topics = snapshot.Unknown[map[string]struct{}](said(err))
			return
		}
		c.NameServers[i].Topics = snapshot.Known(topics, origin)
	})
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.unrouted = o.warm.long(c.Brokers)
	}()
	o.warm.keep(c.NameServers)
	for i := range c.NameServers {
		ns := &c.NameServers[i]
		unrouted := o.warm.judge(ns, c.Brokers)
		if ns.WarmUp != "" && ns.Masters.IsKnown() {
			c.Problems = append(c.Problems, problem(snapshot.NameServerWarmUp, ns.Address,
				"name server %s may not be complete: %s", ns.Address, ns.WarmUp))
		}
		for _, broker := range slices.Sorted(maps.Keys(unrouted)) {
			c.Problems = append(c.Problems, problem(snapshot.TopicsUnrouted, ns.Address+"/"+broker,
				"name server %s has lacked %d topics that %s holds for more than %s, and clients that ask it do not find them there; restart it, and change no topic in the minute after",
				ns.Address, unrouted[broker], broker, warmUpMemory))
		}
	}
}

// sweepProxies asks each proxy for something cheap that only a remoting port of
// a proxy or broker answers: the members of a group of its own.
func (o *Observer) sweepProxies(ctx context.Context, c *snapshot.Cluster) []snapshot.Problem {
	c.Proxies = make([]snapshot.Proxy, len(o.cfg.Proxies))
	problems := make([]*snapshot.Problem, len(o.cfg.Proxies))
	forEach(maxServers, o.cfg.Proxies, func(i int, address string) {
		c.Proxies[i].Address = address
		origin := o.origin(snapshot.Process{Address: address, BrokerID: -1})
		_, err := call(ctx, o, address, func(ctx context.Context, addr string) (snapshot.Membership, error) {
			return o.client.Members(ctx, addr, o.heartbeatGroup())
		})
		if err != nil {
			p := problem(troubleOf(err, snapshot.ProxyUnreachable), address, "proxy %v", err)
			c.Proxies[i].Reachable = snapshot.Unknown[bool](p.Sentence)
			problems[i] = &p
			return
		}
		c.Proxies[i].Reachable = snapshot.Known(true, origin)
	})
	var out []snapshot.Problem
	for _, p := range problems {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// undeclared names the name servers that brokers register with and the config
// lacks (rule R03): their routes lead clients and are not seen here.
func (o *Observer) undeclared(ctx context.Context, c *snapshot.Cluster) []snapshot.Problem {
	declared := map[string]struct{}{}
	for _, ns := range c.NameServers {
		declared[ns.Address], declared[ns.Entry] = struct{}{}, struct{}{}
	}
	brokers := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Brokers)) {
		s, _ := c.Brokers[name].Settings.Get()
		for _, server := range s.NameServers {
			brokers[server] = append(brokers[server], name)
		}
	}
	var out []snapshot.Problem
	for _, server := range slices.Sorted(maps.Keys(brokers)) {
		if _, ok := declared[server]; ok {
			continue
		}
		if o.leadsTo(ctx, server, declared) {
			continue
		}
		out = append(out, notDeclared(server, brokers[server]))
	}
	return out
}

// leadsTo reports whether an entry of a broker's own list leads to one of the
// addresses. A name that only brokers can resolve is not known to.
func (o *Observer) leadsTo(ctx context.Context, server string, declared map[string]struct{}) bool {
	ctx, cancel := o.reading(ctx)
	defer cancel()
	addresses, err := lookup(ctx, o.resolver, server)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(addresses, func(a string) bool {
		_, ok := declared[a]
		return !ok
	})
}

func (o *Observer) heartbeatGroup() string {
	return names.HeartbeatGroup(cmp.Or(o.cfg.HeartbeatTopic, names.DefaultHeartbeatTopic))
}
