// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// discovery is what the name servers show: who they are, and the brokers of the
// cluster. It is the beginning of every sweep and every look.
type discovery struct {
	servers  []snapshot.NameServer
	brokers  map[string]snapshot.Broker
	problems []snapshot.Problem
}

// reachable are the addresses of the name servers that answered.
func (d *discovery) reachable() []string {
	var out []string
	for _, s := range d.servers {
		if s.Masters.IsKnown() {
			out = append(out, s.Address)
		}
	}
	return out
}

// discover resolves the name servers and asks each for the brokers of the
// cluster (call 106), in parallel and each on its own.
func (o *Observer) discover(ctx context.Context) *discovery {
	addresses := o.resolve(ctx)
	d := &discovery{servers: make([]snapshot.NameServer, len(addresses))}
	entries := make([]map[string]rocketmq.BrokerEntry, len(addresses))
	problems := make([]*snapshot.Problem, len(addresses))
	forEach(maxServers, addresses, func(i int, a serverAddress) {
		ns := &d.servers[i]
		ns.Address, ns.Entry = a.address, a.entry
		if a.missing != nil {
			ns.Masters = snapshot.Unknown[map[string]string](a.missing.Error())
			ns.Topics = snapshot.Unknown[map[string]struct{}](a.missing.Error())
			problems[i] = missingAddress(a)
			return
		}
		origin := o.origin(snapshot.Process{Address: a.address, BrokerID: -1})
		info, err := call(ctx, o, a.address, o.client.ClusterInfo)
		if err != nil {
			ns.Masters = snapshot.Unknown[map[string]string](said(err))
			problems[i] = nameServerFailed(a, err)
			return
		}
		entries[i] = info.Of(o.cfg.ClusterName)
		masters := map[string]string{}
		for name, b := range entries[i] {
			masters[name], _ = b.Master()
		}
		ns.Masters = snapshot.Known(masters, origin)
	})
	for _, p := range problems {
		if p != nil {
			d.problems = append(d.problems, *p)
		}
	}
	o.agree(d, entries)
	return d
}

// agree builds the brokers from what the name servers show, and says where they
// differ. A name server that does not answer takes part in no agreement: what
// depends on all of them sees that it is unknown.
func (o *Observer) agree(d *discovery, entries []map[string]rocketmq.BrokerEntry) {
	d.brokers = map[string]snapshot.Broker{}
	answered := d.reachable()
	for _, shown := range entries {
		for name := range shown {
			d.brokers[name] = snapshot.Broker{Name: name}
		}
	}
	if len(answered) > 0 && len(d.brokers) == 0 {
		d.problems = append(d.problems, clusterNotFound(o.cfg.ClusterName, answered))
	}
	known := o.remember(slices.Collect(maps.Keys(d.brokers)))
	for _, name := range slices.Sorted(maps.Keys(d.brokers)) {
		b := d.brokers[name]
		b.Replicas = map[int64]string{}
		// where is who shows which master, "" for none.
		where := map[string][]string{}
		for i, shown := range entries {
			if !d.servers[i].Masters.IsKnown() {
				continue
			}
			entry := shown[name]
			maps.Copy(b.Replicas, entry.Replicas)
			master, _ := entry.Master()
			where[master] = append(where[master], d.servers[i].Address)
		}
		var p *snapshot.Problem
		if b.Master, p = o.agreed(name, where); p != nil {
			d.problems = append(d.problems, *p)
		}
		d.brokers[name] = b
	}
	for _, name := range known {
		if _, shown := d.brokers[name]; shown {
			continue
		}
		why := fmt.Sprintf("no name server that answers shows %s, which was seen before", name)
		d.brokers[name] = snapshot.Broker{Name: name, Master: snapshot.Unknown[string](why)}
		if len(answered) == len(d.servers) {
			d.problems = append(d.problems, brokerGone(name))
		}
	}
}

// agreed is the master on which all name servers that answered agree.
func (o *Observer) agreed(name string, where map[string][]string) (snapshot.Fact[string], *snapshot.Problem) {
	if len(where) == 1 {
		for master := range where {
			if master != "" {
				return snapshot.Known(master, o.origin(snapshot.Process{})), nil
			}
		}
		p := brokerWithoutMaster(name)
		return snapshot.Unknown[string](p.Sentence), &p
	}
	var views []string
	for _, master := range slices.Sorted(maps.Keys(where)) {
		servers := strings.Join(where[master], ", ")
		if master == "" {
			master = "no master"
		}
		views = append(views, fmt.Sprintf("%s (%s)", master, servers))
	}
	p := nameServersDisagree(name, views)
	return snapshot.Unknown[string](p.Sentence), &p
}
