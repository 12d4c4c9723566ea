// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// share is what one group says of the workload.
type share struct {
	group    Group
	kind     Kind
	basis    basis
	capacity allocation.Capacity
	strategy allocation.Strategy
	// perPod is the members in a pod, used what the group's other workloads take.
	perPod, used int64
	useful       int64
	why          string
}

// shareOf computes how many replicas of the workload can have work for one group.
func shareOf(g Group) share {
	s := share{group: g, kind: UnknownMaximum, perPod: max(1, g.MembersPerPod), basis: basisOf(g)}
	switch s.basis.takes {
	case takesAnything:
		s.kind, s.why = Unbounded, s.basis.why
		return s
	case takesUnknown:
		s.why = s.basis.why
		return s
	}
	topics, why := queuesOf(g)
	if why != "" {
		s.why = why
		return s
	}
	if s.strategy, why = strategyOf(g, s.basis); why != "" {
		s.why = why
		return s
	}
	var err error
	if s.capacity, err = allocation.CapacityOf(s.strategy, topics); err != nil {
		s.why = err.Error()
		return s
	}
	if s.capacity.Certainty == allocation.Unknown {
		s.why = s.capacity.Why
		return s
	}
	for _, o := range g.Others {
		n, known := o.Replicas.Get()
		if !known {
			s.why = fmt.Sprintf("the replicas of %s, which shares it, are not known: %s", o.Ref, o.Replicas.Why())
			return s
		}
		s.used = plus(s.used, times(max(0, n), max(1, o.MembersPerPod)))
	}
	s.kind, s.useful = Bounded, s.replicasFor(s.capacity.Members)
	return s
}

// replicasFor is K22's share of so many members, never below 1.
func (s share) replicasFor(members int64) int64 {
	return max(1, max(0, members-s.used)/s.perPod)
}

// membersFor is how many members the group must be able to feed so that so many
// replicas have work.
func (s share) membersFor(replicas int64) int64 { return plus(s.used, times(replicas, s.perPod)) }

// queuesOf are the queues of all topics, or why some are not known.
func queuesOf(g Group) ([]allocation.TopicQueues, string) {
	var out []allocation.TopicQueues
	for _, t := range g.Topics {
		brokers, known := t.Brokers.Get()
		if !known {
			return nil, fmt.Sprintf("the route of %s is not known: %s", t.Name, t.Brokers.Why())
		}
		queues := allocation.TopicQueues{Topic: t.Name}
		for _, b := range brokers {
			n, known := b.Queues.Get()
			if !known {
				return nil, fmt.Sprintf("the queues of %s on %s are not known: %s", t.Name, b.Name, b.Queues.Why())
			}
			queues.Brokers = append(queues.Brokers, allocation.BrokerQueues{Broker: b.Name, Queues: n})
		}
		slices.SortFunc(queues.Brokers, func(a, b allocation.BrokerQueues) int { return allocation.Compare(a.Broker, b.Broker) })
		out = append(out, queues)
	}
	return out, ""
}

// strategyOf is what the members share by: what they say themselves, else what is
// declared, else AVG. Members that take messages in order have no strategy, but as
// with CONSISTENT_HASH every queue feeds one member at a time, and any may be it.
func strategyOf(g Group, b basis) (allocation.Strategy, string) {
	if b.takes == takesInOrder {
		return allocation.ConsistentHash{VirtualNodes: allocation.DefaultVirtualNodes}, ""
	}
	var names []string
	members, _ := g.Members.Get()
	for _, m := range members {
		if !m.GRPC && m.Strategy != "" && !slices.Contains(names, m.Strategy) {
			names = append(names, m.Strategy)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) > 1:
		return nil, fmt.Sprintf("its members share queues by different strategies (%s), so some queues have two owners and some none", strings.Join(names, ", "))
	case len(names) == 0 && g.Strategy != nil:
		return g.Strategy, ""
	case len(names) == 0:
		return allocation.Averagely{}, ""
	case g.Strategy != nil && (g.Strategy.Name() == names[0] || strings.HasPrefix(g.Strategy.Name(), names[0]+"-")):
		return g.Strategy, "" // it has the parameters
	}
	s, err := allocation.ByName(names[0])
	if err != nil {
		return nil, err.Error()
	}
	return s, ""
}

// plus and times saturate: a number beyond what fits stays beyond every maximum.
func plus(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
