// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"slices"
)

// MaxSimulated bounds the queues of one topic in a simulation, which lists them.
// CapacityOf and IdleAmong count without a list.
const MaxSimulated = 1 << 20

// Member is one connection of a group.
type Member struct {
	// ID is the client id. Several members may have one (case A05).
	ID string
	// Strategy is what this member shares by.
	Strategy Strategy
	// Sees are the client ids that this member was told of by a broker, if that
	// is not all of them (case A14).
	Sees []string
}

// Simulation is who owns what.
type Simulation struct {
	// Clients are the client ids, sorted, one for each connection.
	Clients []string
	// Topics are sorted by name.
	Topics []TopicShares
}

// TopicShares is who owns what of one topic.
type TopicShares struct {
	Topic string
	// Queues are all queues, sorted as clients sort them.
	Queues []Queue
	// Shares are the queues of each client, in the order of Simulation.Clients.
	Shares [][]Queue
}

// Simulate computes what each client of a group gets of each topic when all
// share by one strategy. Clients is the list as brokers give it: an id that two
// connections have stands in it twice. A topic without queues has no shares.
func Simulate(s Strategy, topics []TopicQueues, clients []string) (Simulation, error) {
	clients = slices.Clone(clients)
	SortClients(clients)
	return simulate(topics, clients, func(queues []Queue) ([][]Queue, error) { return Share(s, queues, clients) })
}

// SimulateMixed is Simulate for members that do not all share alike.
func SimulateMixed(topics []TopicQueues, members []Member) (Simulation, error) {
	members = slices.Clone(members)
	slices.SortStableFunc(members, func(a, b Member) int { return Compare(a.ID, b.ID) })
	clients := make([]string, len(members))
	for i, m := range members {
		clients[i] = m.ID
	}
	for i, m := range members {
		if m.Sees == nil {
			members[i].Sees = clients
			continue
		}
		members[i].Sees = slices.Clone(m.Sees)
		SortClients(members[i].Sees)
	}
	return simulate(topics, clients, func(queues []Queue) ([][]Queue, error) {
		shares := make([][]Queue, len(members))
		for i, m := range members {
			share, err := m.Strategy.Allocate(m.ID, queues, m.Sees)
			if err != nil {
				return nil, fmt.Errorf("client %q by %s keeps what it had: %w", m.ID, m.Strategy.Name(), err)
			}
			shares[i] = share
		}
		return shares, nil
	})
}

func simulate(topics []TopicQueues, clients []string, share func([]Queue) ([][]Queue, error)) (Simulation, error) {
	if err := checkTopics(topics); err != nil {
		return Simulation{}, fmt.Errorf("simulating who owns which queue: %w", err)
	}
	out := Simulation{Clients: clients}
	for _, t := range sortedTopics(topics) {
		if n := t.Total(); n > MaxSimulated {
			return Simulation{}, fmt.Errorf("simulating who owns which queue: topic %s has %d queues, more than %d", t.Topic, n, MaxSimulated)
		}
		shares := TopicShares{Topic: t.Topic, Queues: t.list(), Shares: make([][]Queue, len(clients))}
		if len(shares.Queues) > 0 && len(clients) > 0 {
			var err error
			if shares.Shares, err = share(shares.Queues); err != nil {
				return Simulation{}, fmt.Errorf("simulating who owns which queue of topic %s: %w", t.Topic, err)
			}
		}
		out.Topics = append(out.Topics, shares)
	}
	return out, nil
}

// Idle are the client ids that own no queue of any topic, sorted, one for each
// connection.
func (s Simulation) Idle() []string {
	var idle []string
	for i, id := range s.Clients {
		if !slices.ContainsFunc(s.Topics, func(t TopicShares) bool { return len(t.Shares[i]) > 0 }) {
			idle = append(idle, id)
		}
	}
	return idle
}

// Idle are the client ids that own no queue of the topic, by Simulation.Clients.
func (t TopicShares) Idle(clients []string) []string {
	var idle []string
	for i, id := range clients {
		if len(t.Shares[i]) == 0 {
			idle = append(idle, id)
		}
	}
	return idle
}

// Owned is a queue and the connections that own it, by their places in
// Simulation.Clients.
type Owned struct {
	Queue  Queue
	Owners []int
}

// Unowned are the queues that nobody consumes (cases A06, A07).
func (t TopicShares) Unowned() []Queue {
	var out []Queue
	for _, q := range t.owned() {
		if len(q.Owners) == 0 {
			out = append(out, q.Queue)
		}
	}
	return out
}

// Doubled are the queues that more than one connection consumes (case A11).
func (t TopicShares) Doubled() []Owned {
	var out []Owned
	for _, q := range t.owned() {
		if len(q.Owners) > 1 {
			out = append(out, q)
		}
	}
	return out
}

// owned is each queue of the topic with its owners. A queue of a configured list
// that the topic does not have is left out: pulling it fails.
func (t TopicShares) owned() []Owned {
	place := make(map[Queue]int, len(t.Queues))
	out := make([]Owned, len(t.Queues))
	for i, q := range t.Queues {
		place[q] = i
		out[i].Queue = q
	}
	for client, share := range t.Shares {
		for _, q := range share {
			i, ours := place[q]
			if !ours {
				continue
			}
			if owners := out[i].Owners; len(owners) == 0 || owners[len(owners)-1] != client {
				out[i].Owners = append(owners, client)
			}
		}
	}
	return out
}
