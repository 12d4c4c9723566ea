// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
)

// takes is what the members of a group take at a time, which decides what bounds
// them.
type takes int

const (
	takesUnknown takes = iota
	// takesQueues: whole queues, shared out by a strategy.
	takesQueues
	// takesInOrder: messages, but from one queue only one member at a time.
	takesInOrder
	// takesAnything: messages, or everything; more members have work too.
	takesAnything
)

// basis is what bounds a group and how that is known.
type basis struct {
	takes takes
	// who is what the members are, as a clause after the members.
	who string
	// why is why it is unknown or not bounded.
	why string
	// declared says what to declare, where the declaration alone bounds.
	declare string
	// classic says that classic members bound a group that others do not.
	classic bool
}

// basisOf says what the members of a group take. One proven member that takes
// queues is enough to bound it; to lift the bound every member must be proven, and
// the declaration must not say otherwise: observation overrules downward.
func basisOf(g Group) basis {
	members, known := g.Members.Get()
	if !known {
		return basis{why: "its members are not known: " + g.Members.Why()}
	}
	if len(members) == 0 {
		return declaredBasis(g)
	}
	var s seen
	for _, m := range members {
		s.add(g, m)
	}
	switch {
	case s.queues > 0:
		return s.classicBasis(g, len(members))
	case s.unsure != "":
		return basis{why: s.unsure}
	case s.messages == 0:
		return basis{takes: takesAnything, why: "its members broadcast, so each takes every message"}
	case g.Protocol == Remoting && s.grpc > 0:
		return basis{takes: takesQueues, who: "the manifest declares remoting clients, which take whole queues",
			declare: fmt.Sprintf("declare clientProtocol GRPC, if that is meant: %s gRPC", ofMembers(s.grpc, len(members), "speaks", "speak"))}
	}
	return s.messageBasis(g)
}

// declaredBasis is the basis of a group without members.
func declaredBasis(g Group) basis {
	switch {
	case g.Broadcast:
		return basis{takes: takesAnything, why: "it is declared to broadcast, so each member takes every message"}
	case g.Protocol == Remoting:
		return basis{takes: takesQueues, who: "the remoting clients that it declares take whole queues"}
	case g.Protocol == GRPC:
		return seen{}.messageBasis(g)
	}
	return basis{why: "no member is connected and the manifest does not declare clientProtocol"}
}

// seen counts what members take.
type seen struct {
	queues, messages, grpc, fifo int
	// example is a member that takes queues.
	example string
	// unsure is why it is not known what some member takes; disorder why it is not
	// known whether some member takes messages in order.
	unsure, disorder string
}

func (s *seen) add(g Group, m Member) {
	broadcast, known := m.Broadcast.Get()
	if broadcast {
		return
	}
	t, why := memberTakes(g, m)
	switch {
	case !known:
		// It may broadcast, so it bounds nothing.
		s.unsure = fmt.Sprintf("the message model of member %s is not known: %s", m.ClientID, m.Broadcast.Why())
	case t == takesQueues:
		if s.queues++; s.example == "" {
			s.example = m.ClientID
		}
	case t == takesUnknown:
		s.unsure = fmt.Sprintf("what member %s takes is not known: %s", m.ClientID, why)
	default:
		s.messages++
		if m.GRPC {
			s.grpc++
		}
		s.order(g, m)
	}
}

// order notes whether a member that takes messages takes them in order.
func (s *seen) order(g Group, m Member) {
	fifo, known := m.FIFO.Get()
	switch {
	case fifo:
		s.fifo++
	case known || m.GRPC && g.Orderly.IsKnown():
	default:
		s.disorder = fmt.Sprintf("whether member %s takes messages in order is not known: %s", m.ClientID, m.FIFO.Why())
	}
}

// memberTakes says whether a member takes queues or messages. A request mode of
// POP proves nothing by itself, and one broker without it makes its topic's queues
// whole again (case A28).
func memberTakes(g Group, m Member) (takes, string) {
	if m.GRPC {
		return takesAnything, ""
	}
	pops, known := m.Pops.Get()
	if known && !pops {
		return takesQueues, ""
	}
	unsure := ""
	if !known {
		unsure = "its running info does not tell whether it pops: " + m.Pops.Why()
	}
	for _, t := range g.Topics {
		brokers, routed := t.Brokers.Get()
		if !routed {
			unsure = fmt.Sprintf("the route of %s is not known: %s", t.Name, t.Brokers.Why())
		}
		for _, b := range brokers {
			if pop, told := b.Pop.Get(); !told {
				unsure = fmt.Sprintf("the request mode of %s on %s is not known: %s", t.Name, b.Name, b.Pop.Why())
			} else if !pop {
				return takesQueues, ""
			}
		}
	}
	if unsure != "" {
		return takesUnknown, unsure
	}
	return takesAnything, ""
}

func (s seen) classicBasis(g Group, all int) basis {
	b := basis{takes: takesQueues, classic: s.messages > 0 || g.Protocol == GRPC || s.queues < all}
	b.who = "its members take whole queues (classic remoting clients)"
	switch {
	case g.Protocol == GRPC:
		b.who = fmt.Sprintf("it is declared GRPC, but %s whole queues by remoting, such as %s", ofMembers(s.queues, all, "takes", "take"), s.example)
	case g.Broadcast:
		b.who = fmt.Sprintf("it is declared to broadcast, but %s whole queues, such as %s", ofMembers(s.queues, all, "takes", "take"), s.example)
	case s.queues < all:
		b.who = fmt.Sprintf("%s whole queues (classic remoting clients), such as %s", ofMembers(s.queues, all, "takes", "take"), s.example)
	}
	return b
}

// messageBasis is the basis of a group none of whose members takes queues.
func (s seen) messageBasis(g Group) basis {
	orderly, known := g.Orderly.Get()
	declared := s.messages == 0 // there is nobody to look at
	switch {
	case g.Ordered || s.fifo > 0 || orderly && (declared || s.grpc > 0):
		return basis{takes: takesInOrder, who: "its members consume in order (FIFO), so a queue feeds one member at a time"}
	case s.disorder != "":
		return basis{why: s.disorder}
	case declared && !known:
		return basis{why: "whether its brokers hand out messages in order is not known: " + g.Orderly.Why()}
	}
	return basis{takes: takesAnything, why: "its members take single messages (gRPC or POP), so queues do not bound them"}
}

// ofMembers is such as "2 of 5 members speak".
func ofMembers(n, all int, one, many string) string {
	if n == all {
		if n == 1 {
			return "its only member " + one
		}
		return fmt.Sprintf("all %d members %s", all, many)
	}
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d of %d members %s", n, all, many)
}
