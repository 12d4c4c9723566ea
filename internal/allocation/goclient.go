// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// The strategies of rocketmq-client-go v2.1.2 that differ from Java's of the same
// purpose (rocketmq.md 6). In one group with Java members they own queues twice
// and leave others unowned. Where Java throws on an empty list these return
// nothing, so that the client drops the queues it has. Their names are those of
// the functions: the client does not tell which one it uses.

// ErrGoClientPanics stands for a panic of rocketmq-client-go, which ends the
// application.
var ErrGoClientPanics = errors.New("rocketmq-client-go panics")

var errNoVirtualNodes = fmt.Errorf("%w: it divides by its number of virtual nodes, 0", ErrGoClientPanics)

// goCheck is the check that the strategies of rocketmq-client-go begin with.
func goCheck(self string, queues []Queue, clients []string) int {
	if self == "" || len(queues) == 0 {
		return -1
	}
	return slices.Index(clients, self)
}

// GoMachineNearby is AllocateByMachineNearby of rocketmq-client-go, which knows
// no rooms: it shares like AVG.
type GoMachineNearby struct{}

// Name is "AllocateByMachineNearby".
func (GoMachineNearby) Name() string { return "AllocateByMachineNearby" }

// Allocate implements Strategy.
func (GoMachineNearby) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i := goCheck(self, queues, clients)
	if i < 0 {
		return nil, nil
	}
	return averagely(queues, len(clients), i), nil
}

// GoMachineRoom is AllocateByMachineRoom of rocketmq-client-go. It counts the
// queues of the configured rooms, but takes the parts from all queues of the
// topic; only the remainder comes from the rooms.
type GoMachineRoom struct{ Rooms []string }

// Name is "AllocateByMachineRoom".
func (GoMachineRoom) Name() string { return "AllocateByMachineRoom" }

// Allocate implements Strategy.
func (s GoMachineRoom) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i := goCheck(self, queues, clients)
	if i < 0 {
		return nil, nil
	}
	var kept []Queue
	for _, q := range queues {
		// Unlike Java's split, Go's keeps an empty part at the end.
		room, name, cut := strings.Cut(q.Broker, "@")
		if !cut || strings.Contains(name, "@") {
			continue
		}
		for _, r := range s.Rooms {
			if r == room {
				kept = append(kept, q) // once for each time the room is configured
			}
		}
	}
	if size := len(kept) / len(clients); size > 0 && (i+1)*size > len(queues) {
		return nil, fmt.Errorf("%w: a room that is configured twice is counted twice", ErrGoClientPanics)
	}
	return roomShare(queues, kept, len(clients), i), nil
}

// GoConsistentHash is AllocateByConsistentHash of rocketmq-client-go, on the ring
// of stathat.com/c/consistent v1.0.0: CRC-32 instead of MD5, another text for the
// virtual nodes, and a queue goes to the next node after its own hash.
type GoConsistentHash struct {
	// VirtualNodes is the argument that the application gives.
	VirtualNodes int
}

// Name is "AllocateByConsistentHash".
func (GoConsistentHash) Name() string { return "AllocateByConsistentHash" }

// Allocate implements Strategy.
func (s GoConsistentHash) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	i := goCheck(self, queues, clients)
	if i < 0 {
		return nil, nil
	}
	if s.VirtualNodes == 0 {
		return nil, errNoVirtualNodes
	}
	return take(queues, i, s.owner(clients, firsts(clients))), nil
}

func (s GoConsistentHash) share(queues []Queue, clients []string) ([][]Queue, error) {
	if len(queues) == 0 || len(clients) == 0 {
		return make([][]Queue, len(clients)), nil
	}
	if s.VirtualNodes == 0 && slices.ContainsFunc(clients, func(id string) bool { return id != "" }) {
		return nil, errNoVirtualNodes
	}
	first := firsts(clients)
	shares := gather(queues, first, s.owner(clients, first))
	for i, id := range clients {
		if id == "" {
			shares[i] = nil
		}
	}
	return shares, nil
}

func (s GoConsistentHash) owner(clients []string, first []int) func(Queue) int {
	nodes := make(map[int64]int, len(clients)*max(0, s.VirtualNodes))
	var key []byte
	for i, id := range clients {
		for k := range s.VirtualNodes {
			key = append(strconv.AppendInt(key[:0], int64(k), 10), id...)
			nodes[int64(crc32.ChecksumIEEE(key))] = first[i]
		}
	}
	r := ringOf(nodes)
	return func(q Queue) int {
		key = q.appendText(key[:0])
		return r.from(int64(crc32.ChecksumIEEE(key)) + 1)
	}
}
