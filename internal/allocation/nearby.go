// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"slices"
	"strings"
)

// Rooms says where brokers and clients are: the MachineRoomResolver that an
// application writes. An empty name stands for "no room", on which the client
// throws.
type Rooms struct {
	Broker func(Queue) string
	Client func(id string) string
}

// RoomsByPrefix are the rooms of a resolver that takes the part of broker name
// and client id before the first separator. A name without one has no room.
func RoomsByPrefix(separator string) Rooms {
	prefix := func(name string) string {
		room, _, cut := strings.Cut(name, separator)
		if !cut {
			return ""
		}
		return room
	}
	return Rooms{Broker: func(q Queue) string { return prefix(q.Broker) }, Client: prefix}
}

// RoomError is what MACHINE_ROOM_NEARBY throws when the resolver does not know
// a room.
type RoomError struct {
	// Kind is "queue" or "client", Name the one without a room.
	Kind, Name string
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("the machine room of %s %s is unknown to the resolver", e.Kind, e.Name)
}

// MachineRoomNearby is AllocateMachineRoomNearby: the queues of a room are shared
// by the clients in it; those of a room without a client by all clients.
type MachineRoomNearby struct {
	// Inner shares the queues within a room; it must not be nil.
	Inner Strategy
	// Rooms is the resolver; both functions must be set.
	Rooms Rooms
}

// Name is "MACHINE_ROOM_NEARBY-" and the name of the inner strategy.
func (s MachineRoomNearby) Name() string { return nameMachineRoomNearbyTo + s.Inner.Name() }

// Allocate implements Strategy: first the queues of the client's own room, then
// those of rooms without a client, by the name of the room.
func (s MachineRoomNearby) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i, err := check(self, queues, clients)
	if err != nil || i < 0 {
		return nil, err
	}
	split, err := s.split(queues, clients)
	if err != nil {
		return nil, err
	}
	var out []Queue
	own := s.Rooms.Client(self)
	if here := split.queues[own]; len(here) > 0 {
		if out, err = s.Inner.Allocate(self, here, split.clientsOf(own)); err != nil {
			return nil, err
		}
		out = slices.Clip(out)
	}
	for _, room := range split.deserted {
		more, err := s.Inner.Allocate(self, split.queues[room], clients)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func (s MachineRoomNearby) share(queues []Queue, clients []string) ([][]Queue, error) {
	if err := checkAll(queues, clients); err != nil {
		return nil, err
	}
	split, err := s.split(queues, clients)
	if err != nil {
		return nil, err
	}
	shares := make([][]Queue, len(clients))
	for room, places := range split.clients {
		here := split.queues[room]
		if len(here) == 0 {
			continue
		}
		inner, err := Share(s.Inner, here, split.clientsOf(room))
		if err != nil {
			return nil, err
		}
		for i, place := range places {
			shares[place] = slices.Clip(inner[i])
		}
	}
	for _, room := range split.deserted {
		inner, err := Share(s.Inner, split.queues[room], clients)
		if err != nil {
			return nil, err
		}
		for i := range shares {
			shares[i] = append(shares[i], inner[i]...)
		}
	}
	return shares, nil
}

// roomSplit is queues and clients by room.
type roomSplit struct {
	ids     []string
	queues  map[string][]Queue
	clients map[string][]int
	// deserted are the rooms with queues and without clients, sorted.
	deserted []string
}

func (s MachineRoomNearby) split(queues []Queue, clients []string) (roomSplit, error) {
	out := roomSplit{ids: clients, queues: map[string][]Queue{}, clients: map[string][]int{}}
	for _, q := range queues {
		room := s.Rooms.Broker(q)
		if room == "" {
			return out, &RoomError{"queue", q.String()}
		}
		out.queues[room] = append(out.queues[room], q)
	}
	for i, id := range clients {
		room := s.Rooms.Client(id)
		if room == "" {
			return out, &RoomError{"client", id}
		}
		out.clients[room] = append(out.clients[room], i)
	}
	for room := range out.queues {
		if len(out.clients[room]) == 0 {
			out.deserted = append(out.deserted, room)
		}
	}
	slices.SortFunc(out.deserted, Compare)
	return out, nil
}

func (r roomSplit) clientsOf(room string) []string {
	ids := make([]string, len(r.clients[room]))
	for i, place := range r.clients[room] {
		ids[i] = r.ids[place]
	}
	return ids
}
