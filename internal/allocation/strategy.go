// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"fmt"
	"slices"
)

// The names of the strategies, as getName of the Java classes returns them.
const (
	NameAveragely           = "AVG"
	NameAveragelyByCircle   = "AVG_BY_CIRCLE"
	NameConfig              = "CONFIG"
	NameMachineRoom         = "MACHINE_ROOM"
	NameMachineRoomNearby   = "MACHINE_ROOM_NEARBY"
	NameConsistentHash      = "CONSISTENT_HASH"
	nameMachineRoomNearbyTo = NameMachineRoomNearby + "-"
)

// Strategy is how the members of a consumer group share the queues of a topic.
type Strategy interface {
	// Name is what getName of the Java class returns; for the strategies of
	// rocketmq-client-go, which have no name, the name of the function.
	Name() string
	// Allocate returns what the client with the id self takes of the queues of
	// one topic, in the order of the Java class. The lists are used as they are:
	// a client sorts both first (SortQueues, SortClients). Clients may hold an
	// id more than once; each client with that id gets the same. A client that
	// is not in clients gets nothing. An error means that the client throws: it
	// then keeps the queues it has. The result may share memory with queues.
	Allocate(self string, queues []Queue, clients []string) ([]Queue, error)
}

// What AbstractAllocateMessageQueueStrategy throws for. The client logs it and
// keeps the queues it has.
var (
	ErrNoClientID = errors.New("the client's own id is empty")
	ErrNoQueues   = errors.New("there is no queue to allocate")
	ErrNoClients  = errors.New("the list of clients is empty")
)

// check is the check that most Java strategies begin with. It returns the first
// place of the client's own id, or -1 if it is not among the clients.
func check(self string, queues []Queue, clients []string) (int, error) {
	switch {
	case self == "":
		return -1, ErrNoClientID
	case len(queues) == 0:
		return -1, ErrNoQueues
	case len(clients) == 0:
		return -1, ErrNoClients
	}
	return slices.Index(clients, self), nil
}

// sharer is a strategy that finds the shares of all clients at less cost than
// of one after the other.
type sharer interface {
	share(queues []Queue, clients []string) ([][]Queue, error)
}

// Share returns what each client gets, by its place in clients. It is Allocate
// for every client, at the cost of one pass where the strategy allows. The error
// is that of the first client whose Allocate fails: that client keeps what it
// had, so the shares of the whole group are unknown.
func Share(s Strategy, queues []Queue, clients []string) ([][]Queue, error) {
	if all, ok := s.(sharer); ok {
		shares, err := all.share(queues, clients)
		if err != nil {
			return nil, fmt.Errorf("sharing queues by %s: %w", s.Name(), err)
		}
		return shares, nil
	}
	shares := make([][]Queue, len(clients))
	for i, id := range clients {
		share, err := s.Allocate(id, queues, clients)
		if err != nil {
			return nil, fmt.Errorf("sharing queues by %s for client %q: %w", s.Name(), id, err)
		}
		shares[i] = share
	}
	return shares, nil
}

func checkAll(queues []Queue, clients []string) error {
	switch {
	case len(queues) == 0:
		return ErrNoQueues
	case len(clients) == 0:
		return ErrNoClients
	case slices.Contains(clients, ""):
		return ErrNoClientID
	}
	return nil
}

// firsts returns for each client the first place of its id. A client with the id
// of another computes the share of that place.
func firsts(clients []string) []int {
	first := make([]int, len(clients))
	place := make(map[string]int, len(clients))
	for i, id := range clients {
		p, seen := place[id]
		if !seen {
			p = i
			place[id] = i
		}
		first[i] = p
	}
	return first
}
