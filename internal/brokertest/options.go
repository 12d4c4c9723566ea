// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"crypto/tls"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// Options say what Start builds. The zero value is a 5.5.0 with two name
// servers, two masters, no slave and no proxy, on a fake clock.
type Options struct {
	// Version of every node; V550 if zero.
	Version Version
	// BrokerVersions overrides Version for single broker names, for clusters
	// in the middle of an upgrade.
	BrokerVersions map[string]Version
	// ClusterName is the RocketMQ cluster name; "lockstep" if empty.
	ClusterName string
	// NameServers is their number; 2 if zero.
	NameServers int
	// Brokers is the number of broker names: broker-a, broker-b, and so on; 2
	// if zero.
	Brokers int
	// Slaves is the number of slaves of each broker name.
	Slaves int
	// Proxies is the number of CLUSTER mode proxies; they exist on 5.x only.
	Proxies int
	// Clock is the time that everything runs on; a fake clock at a fixed
	// moment if nil. Step it directly or with Cluster.Advance.
	Clock clock.Clock
	// Settings override what brokers hold in their configuration (call 26).
	Settings map[string]string
	// OrderMessageEnable makes name servers hand out order configuration with
	// routes (orderMessageEnable, rocketmq.md 3.2).
	OrderMessageEnable bool
	// Accounts switch access control on at the brokers: ACL 1.0 on 4.9, ACL 2.0
	// on 5.x (rocketmq.md 2). Nil is open.
	Accounts map[string]Account
	// TLS makes every remoting port take TLS only, like servers in enforcing
	// mode (rocketmq.md 1.8).
	TLS *tls.Config
}

// Epoch is the moment at which a fake clock made by Start begins.
func Epoch() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) }

func (o *Options) complete() {
	if o.Version == 0 {
		o.Version = V550
	}
	if o.ClusterName == "" {
		o.ClusterName = "lockstep"
	}
	if o.NameServers == 0 {
		o.NameServers = 2
	}
	if o.Brokers == 0 {
		o.Brokers = 2
	}
	if o.Clock == nil {
		o.Clock = clocktesting.NewFakeClock(Epoch())
	}
}
