// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// of is what all groups have to do with a topic. It is unknown when one broker's
// offsets or groups are not known: a group that only that broker knows would be
// missed.
func (g *groupPass) of(topic string, look snapshot.TopicLook) snapshot.Fact[map[string]snapshot.GroupOnTopic] {
	type groups = map[string]snapshot.GroupOnTopic
	opts := g.topics[topic]
	if opts.Groups == NoGroups {
		return snapshot.Unknown[groups]("groups were not asked for in this look")
	}
	if opts.Groups == AllGroups && g.why != "" {
		return snapshot.Unknown[groups](g.why)
	}
	var origin snapshot.Origin
	for _, b := range g.brokers {
		c := look.Brokers[b.broker.Name].Committed
		if !c.IsKnown() {
			return snapshot.Unknown[groups]("the offsets of " + b.broker.Name + " are not known: " + c.Why())
		}
		origin = earlier(origin, c.Origin())
	}
	linked := g.linked(topic)
	out := groups{}
	for group := range g.members {
		seen := g.group(group, topic)
		if _, is := linked[group]; is || mayRead(seen) {
			out[group] = seen
		}
	}
	g.movement.note(topic, look, out)
	return snapshot.Known(out, origin)
}

// mayRead reports whether a group without an entry and without a declaration
// has to do with the topic: a member reads it, or that is not known.
func mayRead(g snapshot.GroupOnTopic) bool {
	reads, known := g.Reads.Get()
	return reads || !known
}

// view is a group as all servers together show it.
type view struct {
	origin snapshot.Origin
	// why names the first server that did not tell.
	why string
	// classic are client ids that brokers list, other those of proxies and of
	// gRPC members.
	classic, other map[string]struct{}
	reads          bool
	broadcast      bool
	pops           bool
	// lists are the classic members by broker.
	lists map[string]map[string]struct{}
}

func (g *groupPass) view(group, topic string) view {
	v := view{classic: map[string]struct{}{}, other: map[string]struct{}{}, lists: map[string]map[string]struct{}{}}
	for _, s := range g.servers {
		f := g.members[group][s.name]
		m, known := f.Get()
		if !known {
			if v.why == "" {
				v.why = "its members on " + s.name + " are not known: " + f.Why()
			}
			continue
		}
		v.origin = earlier(v.origin, f.Origin())
		if !s.proxy && g.hosts(s.name, topic) {
			v.lists[s.name] = map[string]struct{}{}
		}
		for _, member := range m.Members {
			if s.proxy || rocketmq.IsGRPC(member.ClientID) {
				v.other[member.ClientID] = struct{}{}
			} else {
				v.classic[member.ClientID] = struct{}{}
				if list := v.lists[s.name]; list != nil {
					list[member.ClientID] = struct{}{}
				}
			}
		}
		_, reads := m.Table[topic]
		v.reads = v.reads || reads && m.Online()
		v.broadcast = v.broadcast || m.Online() && m.Broadcast()
		v.pops = v.pops || m.Online() && m.ConsumeType == consumePop
	}
	return v
}

// hosts reports whether a broker is known to have the topic; members tell of
// themselves only where their topics are.
func (g *groupPass) hosts(broker, topic string) bool {
	for _, b := range g.brokers {
		if part := b.parts[topic]; b.broker.Name == broker && part != nil {
			stored, _ := part.config.Get()
			return stored.Present
		}
	}
	return false
}

// split names the brokers that do not list every classic member, with one of
// those that they lack: such members share the queues out by different lists
// (case A14).
func (v view) split() string {
	var parts []string
	for _, broker := range slices.Sorted(maps.Keys(v.lists)) {
		for _, client := range slices.Sorted(maps.Keys(v.classic)) {
			if _, listed := v.lists[broker][client]; !listed {
				parts = append(parts, fmt.Sprintf("%s lists %d of %d members and lacks %s", broker, len(v.lists[broker]), len(v.classic), client))
				break
			}
		}
	}
	return strings.Join(parts, "; ")
}

// consumePop is the consume type of members that pop by themselves.
const consumePop = "CONSUME_POP"

func (g *groupPass) group(group, topic string) snapshot.GroupOnTopic {
	v := g.view(group, topic)
	out := snapshot.GroupOnTopic{
		Name:      group,
		Members:   known(v, false, len(union(v.classic, v.other))),
		Reads:     known(v, v.reads, v.reads),
		Broadcast: known(v, v.broadcast, v.broadcast),
		Protocol:  g.protocol(group, topic, v),
		Positions: g.positions(group, topic, v),
		Split:     v.split(),
	}
	for _, d := range g.topics[topic].Declared {
		if d.Name == group {
			out.Declared, out.DeclaredBroadcast = true, d.Broadcast
		}
	}
	return out
}

// known is a fact over all servers. It is unknown when one did not tell, unless
// what the others told settles it.
func known[T any](v view, settled bool, value T) snapshot.Fact[T] {
	if v.why != "" && !settled {
		return snapshot.Unknown[T](v.why)
	}
	return snapshot.Known(value, v.origin)
}

// protocol judges how members consume: by where they connect, by the request
// mode that was set, and by what they say themselves (rule R07). POP if any
// member may be.
func (g *groupPass) protocol(group, topic string, v view) snapshot.Fact[snapshot.Protocol] {
	pops := v.pops || len(v.other) > 0
	why := v.why
	for _, server := range slices.Sorted(maps.Keys(g.modes)) {
		modes, known := g.modes[server].Get()
		if !known && why == "" {
			why = "the request modes of " + server + " are not known: " + g.modes[server].Why()
		}
		pops = pops || modes[topic][group] == rocketmq.ModePop
	}
	if pops {
		return snapshot.Known(snapshot.ProtocolPOP, v.origin)
	}
	if why != "" {
		return snapshot.Unknown[snapshot.Protocol](why)
	}
	if len(v.classic) == 0 && !g.canPop() {
		return snapshot.Known(snapshot.ProtocolClassic, v.origin)
	}
	if len(v.classic) == 0 {
		return snapshot.Unknown[snapshot.Protocol]("no member is connected that could show it")
	}
	reports, _, why := g.reported(group, v.classic)
	if why != "" {
		return snapshot.Unknown[snapshot.Protocol](why)
	}
	for _, r := range reports {
		if slices.ContainsFunc(r.PopQueues, func(q snapshot.Queue) bool { return q.Topic == topic }) {
			return snapshot.Known(snapshot.ProtocolPOP, v.origin)
		}
	}
	return snapshot.Known(snapshot.ProtocolClassic, v.origin)
}

// canPop reports whether some broker of this look is of a version that has POP,
// or did not tell: before 5.0 nothing was ever handed out to be taken back.
func (g *groupPass) canPop() bool {
	return slices.ContainsFunc(g.brokers, func(b *brokerPass) bool {
		return b.why != "" || rocketmq.CapabilityOf(b.runtime.Version).POP
	})
}

// positions are the lowest positions of a broadcast group's live members (rule
// R21). A queue on which one member has no position yet is left out.
func (g *groupPass) positions(group, topic string, v view) snapshot.Fact[map[string]map[int]int64] {
	type positions = map[string]map[int]int64
	switch {
	case !v.broadcast:
		return snapshot.Unknown[positions]("it is not a broadcast group")
	case v.why != "":
		return snapshot.Unknown[positions](v.why)
	case len(v.other) > 0:
		return snapshot.Unknown[positions]("members behind proxies cannot be asked")
	}
	reports, origin, why := g.reported(group, v.classic)
	if why != "" {
		return snapshot.Unknown[positions](why)
	}
	lowest, told := positions{}, map[snapshot.Queue]int{}
	for _, r := range reports {
		for q, work := range r.Queues {
			if q.Topic != topic || work.Committed < 0 {
				continue
			}
			if lowest[q.Broker] == nil {
				lowest[q.Broker] = map[int]int64{}
			}
			if at, has := lowest[q.Broker][q.ID]; !has || work.Committed < at {
				lowest[q.Broker][q.ID] = work.Committed
			}
			told[q]++
		}
	}
	for q, n := range told {
		if n < len(reports) {
			delete(lowest[q.Broker], q.ID)
		}
	}
	return snapshot.Known(lowest, origin)
}

func union(a, b map[string]struct{}) map[string]struct{} {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
