// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"strconv"
)

// DefaultVirtualNodes is how often a client stands on the ring unless the
// application says otherwise.
const DefaultVirtualNodes = 10

// ConsistentHash is AllocateMessageQueueConsistentHash: clients stand on a hash
// ring several times, and a queue goes to the next one. It is not compatible
// with the consistent hash of rocketmq-client-go; see [GoConsistentHash].
type ConsistentHash struct {
	// VirtualNodes is virtualNodeCnt: how often a client stands on the ring, as a
	// rule DefaultVirtualNodes. With 0 nobody gets a queue, as in Java.
	VirtualNodes int
	// Hash is customHashFunction. Nil is the default: the first four bytes of the
	// MD5 sum as an unsigned number. Clients of 4.9 take the MD5 sum in the
	// JVM's default charset, later ones in UTF-8; names in ASCII do not care.
	Hash func(key string) int64
}

// Name is "CONSISTENT_HASH".
func (ConsistentHash) Name() string { return NameConsistentHash }

// Allocate implements Strategy.
func (s ConsistentHash) Allocate(self string, queues []Queue, clients []string) ([]Queue, error) {
	if err := s.valid(); err != nil {
		return nil, err
	}
	i, err := check(self, queues, clients)
	if err != nil || i < 0 {
		return nil, err
	}
	return take(queues, i, s.owner(clients, firsts(clients))), nil
}

func (s ConsistentHash) share(queues []Queue, clients []string) ([][]Queue, error) {
	if err := cmp.Or(s.valid(), checkAll(queues, clients)); err != nil {
		return nil, err
	}
	first := firsts(clients)
	return gather(queues, first, s.owner(clients, first)), nil
}

func (s ConsistentHash) valid() error {
	if s.VirtualNodes < 0 {
		return fmt.Errorf("%d is no number of virtual nodes: want 0 or more", s.VirtualNodes)
	}
	return nil
}

// owner puts the clients on a ring and returns who owns a queue.
func (s ConsistentHash) owner(clients []string, first []int) func(Queue) int {
	nodes := make(map[int64]int, len(clients)*s.VirtualNodes)
	// An id that occurs again goes on counting at the number of nodes it still
	// has; a later node replaces an earlier one with the same hash.
	held := make([]int, len(clients))
	var key []byte
	for i, id := range clients {
		f := first[i]
		from := held[f]
		key = append(append(key[:0], id...), '-')
		stem := len(key)
		for k := range s.VirtualNodes {
			key = strconv.AppendInt(key[:stem], int64(from+k), 10)
			hash := s.hash(key)
			if old, taken := nodes[hash]; taken {
				held[old]--
			}
			nodes[hash] = f
			held[f]++
		}
	}
	r := ringOf(nodes)
	return func(q Queue) int {
		key = q.appendText(key[:0])
		return r.from(s.hash(key))
	}
}

func (s ConsistentHash) hash(key []byte) int64 {
	if s.Hash != nil {
		return s.Hash(string(key))
	}
	sum := md5.Sum(key)
	return int64(binary.BigEndian.Uint32(sum[:4]))
}
