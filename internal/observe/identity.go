// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Identity is the physical cluster as its name servers show it: its name and
// its masters. Claims rest on it and not on the name of a BrokerCluster (rules
// R19, K13).
type Identity struct {
	// Cluster is the RocketMQ cluster's own name.
	Cluster string
	// Masters are the masters' addresses by broker name.
	Masters map[string]string
}

// IdentityOf is the identity that a sweep saw. It is unknown until at least one
// master's address is known. Masters on which the name servers differ are left
// out.
func IdentityOf(c *snapshot.Cluster) (Identity, bool) {
	id := Identity{Cluster: c.Name, Masters: map[string]string{}}
	for name, b := range c.Brokers {
		if addr, ok := b.Master.Get(); ok {
			id.Masters[name] = addr
		}
	}
	return id, len(id.Masters) > 0
}

// Same reports whether both are one RocketMQ: the same cluster name and at
// least one master in common, by name and address. One is enough: brokers come,
// go and move one at a time, and two clusters never share a process.
func (i Identity) Same(o Identity) bool {
	if i.Cluster != o.Cluster {
		return false
	}
	for name, addr := range i.Masters {
		if o.Masters[name] == addr && addr != "" {
			return true
		}
	}
	return false
}

// maxIdentity is the longest text of an identity that an API object stores.
const maxIdentity = 253

// String is the identity in at most 253 characters, such as
// "shop/broker-a@10.0.0.1:10911,broker-b@10.0.0.2:10911". A longer list is cut
// and ends with a digest of the whole. It is for people and for equality, not
// for Same.
func (i Identity) String() string {
	masters := make([]string, 0, len(i.Masters))
	for _, name := range slices.Sorted(maps.Keys(i.Masters)) {
		masters = append(masters, name+"@"+i.Masters[name])
	}
	s := i.Cluster + "/" + strings.Join(masters, ",")
	if len(s) <= maxIdentity {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := "..." + hex.EncodeToString(sum[:8])
	return s[:maxIdentity-len(tail)] + tail
}
