// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// Cluster is what one sweep saw of one RocketMQ cluster. Its cost grows with
// brokers, not with topics or manifests.
type Cluster struct {
	// Name is the RocketMQ cluster name that was asked for.
	Name string
	// Seq counts the sweeps of the running process.
	Seq uint64
	// Started and Finished bound the sweep.
	Started, Finished time.Time
	// NameServers are all that the BrokerCluster names, each address that a name
	// resolves to on its own, in the order of the BrokerCluster.
	NameServers []NameServer
	// Brokers are the brokers of the cluster by broker name: the union of what
	// all name servers show, and of those seen before that no longer register
	// (their facts are then unknown).
	Brokers map[string]Broker
	// Proxies are the proxies that the BrokerCluster names.
	Proxies []Proxy
	// Routes are the routes of topics at rest that were checked lately, by topic
	// and name server address. There is no call for all routes at once, so a
	// sweep checks a few topics and keeps what earlier sweeps checked; each fact
	// says by its origin how old it is. They show drift and prove nothing.
	Routes map[string]map[string]Fact[Route]
	// Problems are what is wrong and can be acted on, in a stable order.
	Problems []Problem
}

// NameServer is one name server's own view.
type NameServer struct {
	// Address is what was dialled: an address that Entry resolved to, or Entry
	// itself when it resolved to none. It is unique in a Cluster.
	Address string
	// Entry is the host:port that the BrokerCluster names. Several name servers
	// share one if it resolves to several addresses.
	Entry string
	// Masters maps a broker name to the master address this name server has
	// registered for the cluster (call 106); a broker name without a master
	// maps to "".
	Masters Fact[map[string]string]
	// Topics are the names this name server lists (call 206), for the warm-up
	// check before any topic write (case O25).
	Topics Fact[map[string]struct{}]
	// WarmUp says why this name server may still be incomplete after a start;
	// empty when it is not. No topic is written meanwhile: the first registration
	// a fresh name server gets of a broker must be the whole one (case O25).
	WarmUp string
}

// Broker is one broker name: its master as asked directly.
type Broker struct {
	Name string
	// Master is the address of its master on which all name servers agree;
	// unknown when they differ or show none (rule R03, case P02).
	Master Fact[string]
	// Replicas are all addresses by broker id, slaves included, as the name
	// servers show them.
	Replicas map[int64]string
	// Runtime is call 28, Settings call 26.
	Runtime  Fact[Runtime]
	Settings Fact[Settings]
	// Topics are all topic configs of the master, by name (call 21).
	Topics Fact[map[string]TopicConfig]
}

// Runtime is what a broker says of its running state (call 28).
type Runtime struct {
	// Version is the ordinal of rocketmq.md 1.5, VersionText its V5_3_1 form.
	Version     int
	VersionText string
	Booted      time.Time
	// DispatchBehind is how many bytes of the commit log are not yet visible
	// in the queues (rule R04).
	DispatchBehind int64
	// Delay is the schedule progress of each delay level that was ever used.
	Delay map[int]Progress
	// TimerReadBehind and TimerOffsetBehind must be zero before the timer
	// counts say anything; both are zero on 4.9, which has no timer wheel.
	TimerReadBehind, TimerOffsetBehind int64
}

// Progress is how far a queue of due messages was delivered.
type Progress struct{ Delivered, Max int64 }

// Settings is what Lockstep reads from a broker's own configuration (call 26).
type Settings struct {
	Cluster, Name string
	BrokerID      int64
	// DelayLevels is the broker's own table of delays, in order (level 1 first).
	DelayLevels []time.Duration
	// TimerMaxDelay is the longest timer delay; zero where there is no wheel.
	TimerMaxDelay time.Duration
	// Retention is fileReservedTime.
	Retention time.Duration
	// AutoCreateTopic and AutoCreateGroup are the broker's switches.
	AutoCreateTopic, AutoCreateGroup bool
	// StoreType is "default" for files; anything else is held (rule R04).
	StoreType string
	// TimerOutsideWheel says that pending timers are not in the counts of call
	// 61 (timerRocksDBEnable, live 3); TransOutsideTopic likewise for halves.
	TimerOutsideWheel, TransOutsideTopic bool
	// Permission is brokerPermission.
	Permission Perm
	// NameServers are those the broker registers with, host:port as it has them;
	// empty when its configuration does not say.
	NameServers []string
}

// Proxy is one proxy's remoting port.
type Proxy struct {
	Address string
	// Reachable is known and true when the proxy answered the last look.
	Reachable Fact[bool]
}
