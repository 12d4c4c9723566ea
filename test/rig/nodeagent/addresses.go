// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

const (
	// podsPerBlock is how many addresses of 127.10.x.0/24 are given out: 1 to 254.
	podsPerBlock = 254
	blocks       = 256
)

// errNoAddress says that every address of the node belongs to a Pod.
var errNoAddress = fmt.Errorf("all %d addresses of the node are in use", podsPerBlock)

// addressPool gives each Pod an address of its own out of a block 127.10.x.0/24
// that no other agent on this machine has, so that Pods of two rigs may listen
// on the same port.
type addressPool struct {
	block int
	// claim is what keeps the block: an abstract socket, which the kernel frees
	// when its owner ends, however that happens.
	claim net.PacketConn

	mu   sync.Mutex
	used map[string]bool
	last int
}

// claimAddresses takes the first block that is free.
func claimAddresses() (*addressPool, error) {
	var errs []error
	for block := range blocks {
		claim, err := net.ListenPacket("unixgram", fmt.Sprintf("@lockstep-rig-127.10.%d", block))
		if err == nil {
			return &addressPool{block: block, claim: claim, used: map[string]bool{}}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no block of addresses 127.10.x.0/24 is free: %w", errors.Join(errs[0], errs[blocks-1]))
}

// take returns an address that no Pod has. It goes round, so that an address
// comes back as late as possible, as on a real node.
func (p *addressPool) take() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range podsPerBlock {
		p.last = p.last%podsPerBlock + 1
		address := fmt.Sprintf("127.10.%d.%d", p.block, p.last)
		if !p.used[address] {
			p.used[address] = true
			return address, nil
		}
	}
	return "", errNoAddress
}

func (p *addressPool) give(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, address)
}

func (p *addressPool) close() error { return p.claim.Close() }
