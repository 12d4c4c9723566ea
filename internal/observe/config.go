// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"
)

// Defaults of [Timings].
const (
	DefaultSweep       = 30 * time.Second
	DefaultCallTimeout = 30 * time.Second
)

// Config is where one RocketMQ cluster is and how to ask it. It holds no
// Kubernetes type.
type Config struct {
	// ClusterName is the RocketMQ cluster's own name.
	ClusterName string
	// NameServers are host:port. A host is resolved at every use, and every
	// address it resolves to is asked (case O20).
	NameServers []string
	// Proxies are the proxies' remoting ports, host:port.
	Proxies []string
	// HeartbeatTopic is the topic in which proxies tell each other of their
	// members; RocketMQ's own name for it if empty.
	HeartbeatTopic string
	// HeartbeatCluster is the RocketMQ cluster that topic is in; ClusterName if
	// empty.
	HeartbeatCluster string
	// KnownBrokers are broker names seen before this process started, as status
	// records them: one that does not register is unknown, not gone. They are
	// read once, at the start.
	KnownBrokers []string
	// Timings are the intervals of this cluster.
	Timings Timings
	// Revision stands for what is behind Connect: two configs that differ only
	// in credentials or certificates must differ here.
	Revision string
	// Connect makes the wire, with credentials and TLS, when the observer starts;
	// it is closed when the observer stops.
	Connect Connect
}

// Timings are the intervals of one cluster.
type Timings struct {
	// Sweep is the time from one sweep to the next; DefaultSweep if zero.
	Sweep time.Duration
	// CallTimeout bounds one reading call, which never gets more than 10 s;
	// DefaultCallTimeout if zero.
	CallTimeout time.Duration
}

func (t Timings) withDefaults() Timings {
	if t.Sweep <= 0 {
		t.Sweep = DefaultSweep
	}
	if t.CallTimeout <= 0 {
		t.CallTimeout = DefaultCallTimeout
	}
	return t
}

// Same reports whether an observer that runs with c would do the same with o.
func (c Config) Same(o Config) bool {
	return c.ClusterName == o.ClusterName && c.Revision == o.Revision &&
		c.HeartbeatTopic == o.HeartbeatTopic && c.HeartbeatCluster == o.HeartbeatCluster &&
		c.Timings.withDefaults() == o.Timings.withDefaults() &&
		slices.Equal(c.NameServers, o.NameServers) && slices.Equal(c.Proxies, o.Proxies)
}
