// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"net/netip"
	"strings"
)

// identify maps a member to its pod: by host name (gRPC ids begin with it), by
// the address in a classic id, by the socket's address (rocketmq-live.md 1).
func (e *examination) identify(m *Member) {
	pods, known := e.ask.Pods.Get()
	if !known {
		return
	}
	prefix, _, _ := strings.Cut(m.ClientID, "@")
	name := e.hostNames[m]
	_, err := netip.ParseAddr(prefix)
	addressed := err == nil
	if name == "" && !addressed && grpcID(m.ClientID) {
		name = prefix
	}
	socket := host(m.Addresses[0])
	for _, live := range []bool{true, false} {
		var found []*Pod
		for i := range pods {
			p := &pods[i]
			if p.Gone.IsZero() != live {
				continue
			}
			byName := name != "" && (p.HostName == name || p.HostName == "" && p.Name == name)
			byAddress := !p.HostNetwork && (p.has(socket) || addressed && p.has(prefix))
			if byName || name == "" && byAddress {
				found = append(found, p)
			}
		}
		if len(found) == 0 && name != "" { // a host name that is no pod's, such as a node's
			for i := range pods {
				if p := &pods[i]; p.Gone.IsZero() == live && !p.HostNetwork && p.has(socket) {
					found = append(found, p)
				}
			}
		}
		if m.Pod = best(found, socket); m.Pod != nil {
			if !live {
				m.Ghost, m.Expires = true, m.Pod.Gone.Add(e.t.Expiry)
			}
			return
		}
	}
}

// best is the one pod that fits; of several the one with the socket's address,
// else none.
func best(found []*Pod, socket string) *Pod {
	if len(found) == 1 {
		return found[0]
	}
	var confirmed *Pod
	for _, p := range found {
		if p.has(socket) {
			if confirmed != nil {
				return nil
			}
			confirmed = p
		}
	}
	return confirmed
}

func (p *Pod) has(address string) bool {
	for _, ip := range p.IPs {
		if host(ip) == address || ip == address {
			return true
		}
	}
	return false
}

// String is namespace/name.
func (p *Pod) String() string { return p.Namespace + "/" + p.Name }

// referenced reports whether the pod belongs to a workload of the manifest.
func (e *examination) referenced(p *Pod) bool {
	_, ok := e.workload(p)
	return ok
}

func (e *examination) workload(p *Pod) (Workload, bool) {
	for _, w := range e.ask.Workloads {
		if w.Ref == p.Owner {
			return w, true
		}
	}
	return Workload{}, false
}
