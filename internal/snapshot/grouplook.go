// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// GroupLook is one pass over everything that a statement about one consumer
// group's subscriptions rests on. Per broker the order of requests is: group
// configs of all replicas, committed offsets (43), ends of queues (31, 30),
// members (203); then what members say of themselves (307), then proxies and
// their heartbeats. A fact that was not renewed in this look is unknown in it.
type GroupLook struct {
	Group string
	// Seq counts the looks of the running process.
	Seq uint64
	// Started and Finished bound the look on the monotonic clock.
	Started, Finished time.Time
	// Brokers holds every broker of the cluster that any name server shows, or
	// that an earlier sweep saw and that is gone now, by broker name.
	Brokers map[string]GroupOnBroker
	// Proxies is what each proxy's remoting port lists (call 203), by address.
	// It is empty when the BrokerCluster names no proxy.
	Proxies map[string]Fact[Membership]
	// Heartbeats are the members that CLUSTER proxies say they have, read from
	// their heartbeat topic. It is unknown when one master's part could not be
	// read, or the topic is not known (rule R41).
	Heartbeats Fact[Heartbeats]
	// Twins are other groups with members whose names are this one's behind a
	// client namespace, "ns%group", with the number of members (case S17).
	Twins map[string]int
}

// GroupOnBroker is the group on one broker.
type GroupOnBroker struct {
	Broker string
	// Master is the master's address on which all name servers agree.
	Master Fact[string]
	// Replicas is the group as each replica that the name servers list has it,
	// by address, the master and slaves included (rule R31).
	Replicas map[string]Fact[StoredGroup]
	// Topics are the configs of the topics that the group is declared for or
	// that a member subscribes to, by name; a topic that is not in it was not
	// asked for.
	Topics map[string]Fact[StoredTopic]
	// Committed are the group's committed offsets by topic and queue id (43),
	// Ends the bounds of these topics' queues (31, 30), asked afterwards.
	Committed Fact[map[string]map[int]int64]
	Ends      Fact[map[string]map[int]QueueOffsets]
	// Consumed is, by topic, the store time of the last message consumed on the
	// queue with the oldest one, over queues that are behind (208); a topic that
	// is not in it has no queue that is behind. It chooses the time of a reset
	// where only resets by time exist (live 10.5).
	Consumed Fact[map[string]time.Time]
	// Members are the members that the master lists, and its merged table (203).
	Members Fact[Membership]
	// Reports are what members say of themselves through this broker (307), by
	// client id. A member that is not in it was not asked through this broker.
	Reports map[string]Fact[MemberReport]
	// PopTraces says that the broker keeps traces of POP consumers of the group:
	// a subscription that came with a pop (345), or a POP retry topic. It is
	// known and false on 4.9, which has no POP.
	PopTraces Fact[bool]
	// Runtime is the broker's own (28); its version decides how offsets can be
	// set back. Resets says that 222 is carried out by the broker itself
	// (useServerSideResetOffset, 26); false on brokers that cannot.
	Runtime Fact[Runtime]
	Resets  Fact[bool]
}

// StoredGroup is a group config, or the knowledge that there is none.
type StoredGroup struct {
	Present bool
	Config  GroupConfig
}

// Heartbeats is the end of the proxies' heartbeat topic, over all masters of
// the cluster, as far as it concerns one group (rocketmq-live.md 1).
type Heartbeats struct {
	// Back is how far back all groups' records were read on every master, by
	// the brokers' store times; less than 130 s proves no absence (rule R41).
	Back time.Duration
	// Members are those whose last record is within Back.
	Members []ProxyMember
}

// ProxyMember is a member as its proxy's last heartbeat records show it.
type ProxyMember struct {
	ClientID string
	// Address is the client's socket as its proxy sees it.
	Address string
	// Proxy is the proxy's own id, remoting ip%port%port.
	Proxy string
	// GRPC says that it speaks gRPC; else it is a classic client that is
	// connected through a proxy's remoting port.
	GRPC bool
	// ClientType is such as PUSH_CONSUMER or SIMPLE_CONSUMER, SDK the client's
	// own version, HostName its host's name, which is its pod's as a rule. All
	// are empty until the member's second record.
	ClientType, SDK, HostName string
	Language                  string
	MessageModel              string
	// FIFO says that the member was told to consume in order.
	FIFO bool
	// Subscriptions are the member's own.
	Subscriptions []Subscription
	// Age is how old the member's last record is, by the brokers' clocks and not
	// by its proxy's (rule R41): from its store time to that of the last record
	// of the same queue, plus how long that queue has not grown while it was
	// looked at. It is the least over the queues.
	Age time.Duration
	// Left says that the last record is an UNREGISTER.
	Left bool
}
