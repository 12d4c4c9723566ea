// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"slices"
	"strings"
)

// ErrNoRooms is the NullPointerException of AllocateMessageQueueByMachineRoom on
// which setConsumeridcs was never called.
var ErrNoRooms = errors.New("the machine rooms (consumeridcs) were never set")

// ByMachineRoom is AllocateMessageQueueByMachineRoom: only queues of brokers
// named "room@name" with a configured room are taken, in equal consecutive parts,
// and the remainder goes one by one to the first members. All other queues have
// no owner.
type ByMachineRoom struct {
	// Rooms is consumeridcs. Nil means that it was never set.
	Rooms []string
}

// Name is "MACHINE_ROOM".
func (ByMachineRoom) Name() string { return NameMachineRoom }

// Allocate implements Strategy.
func (s ByMachineRoom) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i, err := check(self, queues, clients)
	if err != nil || i < 0 {
		return nil, err
	}
	kept, err := s.keep(queues)
	if err != nil {
		return nil, err
	}
	return roomShare(kept, kept, len(clients), i), nil
}

func (s ByMachineRoom) share(queues []Queue, clients []string) ([][]Queue, error) {
	if err := checkAll(queues, clients); err != nil {
		return nil, err
	}
	kept, err := s.keep(queues)
	if err != nil {
		return nil, err
	}
	shares := make([][]Queue, len(clients))
	for i, first := range firsts(clients) {
		shares[i] = roomShare(kept, kept, len(clients), first)
	}
	return shares, nil
}

// keep returns the queues of the configured rooms.
func (s ByMachineRoom) keep(queues []Queue) ([]Queue, error) {
	var kept []Queue
	for _, q := range queues {
		taken, err := s.takes(q.Broker)
		if err != nil {
			return nil, err
		}
		if taken {
			kept = append(kept, q)
		}
	}
	return kept, nil
}

// takes reports whether queues of the broker are shared at all.
func (s ByMachineRoom) takes(broker string) (bool, error) {
	room, ok := brokerRoom(broker)
	if ok && s.Rooms == nil {
		return false, ErrNoRooms
	}
	return ok && slices.Contains(s.Rooms, room), nil
}

// brokerRoom is the part before the "@" of a broker name that Java's
// split("@") cuts in two: split drops empty parts at the end, so "room@name@"
// counts and "room@" does not.
func brokerRoom(broker string) (string, bool) {
	room, name, cut := strings.Cut(strings.TrimRight(broker, "@"), "@")
	return room, cut && !strings.Contains(name, "@")
}

// roomShare takes the part of one member from one list and its piece of the
// remainder from another. In Java both are the kept queues.
func roomShare(parts, remainder []Queue, clients, i int) []Queue {
	size, rem := len(remainder)/clients, len(remainder)%clients
	from := i * size
	if i >= rem {
		return parts[from : from+size : from+size]
	}
	share := make([]Queue, 0, size+1)
	share = append(share, parts[from:from+size]...)
	return append(share, remainder[size*clients+i])
}
