// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import "slices"

// ring is a consistent hash ring of clients, known by the first place of their
// id in the list.
type ring struct {
	hashes []int64
	owners []int
}

// ringOf sorts the virtual nodes.
func ringOf(nodes map[int64]int) ring {
	r := ring{hashes: make([]int64, 0, len(nodes)), owners: make([]int, len(nodes))}
	for hash := range nodes {
		r.hashes = append(r.hashes, hash)
	}
	slices.Sort(r.hashes)
	for i, hash := range r.hashes {
		r.owners[i] = nodes[hash]
	}
	return r
}

// from is the owner of the first virtual node at or after the hash, going round;
// -1 in an empty ring.
func (r ring) from(hash int64) int {
	if len(r.hashes) == 0 {
		return -1
	}
	i, _ := slices.BinarySearch(r.hashes, hash)
	return r.owners[i%len(r.owners)]
}

// gather sorts the queues by owner; owner answers with a first place or -1.
func gather(queues []Queue, first []int, owner func(Queue) int) [][]Queue {
	owners := make([]int, len(queues))
	counts := make([]int, len(first))
	for i, q := range queues {
		owners[i] = owner(q)
		if owners[i] >= 0 {
			counts[owners[i]]++
		}
	}
	shares := make([][]Queue, len(first))
	memory := make([]Queue, 0, len(queues))
	for i, n := range counts {
		at := len(memory)
		memory = memory[:at+n]
		shares[i] = memory[at : at : at+n]
	}
	for i, o := range owners {
		if o >= 0 {
			shares[o] = append(shares[o], queues[i])
		}
	}
	for i, f := range first {
		shares[i] = shares[f]
	}
	return shares
}

// take is the part of one owner.
func take(queues []Queue, self int, owner func(Queue) int) []Queue {
	var out []Queue
	for _, q := range queues {
		if owner(q) == self {
			out = append(out, q)
		}
	}
	return out
}
