// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// Member is one connected client of a consumer group, as one broker or proxy
// lists it (call 203).
type Member struct {
	ClientID string
	// Address is the client's socket as that server sees it.
	Address string
	// Language is as the client says, such as "JAVA", "GO".
	Language string
	// Version is the ordinal the client says; rocketmq-client-go always says
	// 317 (rocketmq.md 1.5).
	Version int
}

// Subscription is what one consumer, or one broker's merged table, has of one
// topic (rocketmq.md 5.1).
type Subscription struct {
	Topic string
	// ExpressionType is TAG or SQL92; Expression is the text as written.
	ExpressionType, Expression string
	// Tags are the tags of a TAG expression; empty means all.
	Tags []string
	// ClassFilter says that the filter is Java source run by a filter server,
	// whose text is not in Expression.
	ClassFilter bool
	// Version decides which member's expression a broker keeps: the highest.
	Version int64
}

// Membership is a group's members as one broker or proxy sees them (call 203).
// A group without members has the zero Membership. gRPC members of CLUSTER
// proxies are never listed by brokers (rocketmq.md 5.6).
type Membership struct {
	Members []Member
	// Table is the merged subscription table, by topic. It shows one
	// expression for each topic whatever the members declare, so it never
	// proves that they agree (rocketmq.md 5.2).
	Table map[string]Subscription
	// ConsumeType, MessageModel and ConsumeFrom are those of the member that
	// sent the last heartbeat.
	ConsumeType, MessageModel, ConsumeFrom string
}

// Online reports whether the group has a member there.
func (m Membership) Online() bool { return len(m.Members) > 0 }

// Broadcast reports whether the last heartbeat said broadcasting.
func (m Membership) Broadcast() bool { return m.MessageModel == "BROADCASTING" }

// Queue names one queue of one topic on one broker.
type Queue struct {
	Topic, Broker string
	ID            int
}

// QueueWork is what a member says of a queue it pulls (call 307).
type QueueWork struct {
	// Committed is the position the member would commit; -1 when it has none
	// yet. For a broadcast member it is the only record of its position.
	Committed int64
	// Cached is the number of messages pulled and not yet finished; CachedMin
	// and CachedMax are the lowest and highest of their offsets.
	Cached, CachedMin, CachedMax int64
	// Locked says that an orderly member holds the queue's lock.
	Locked bool
	// Dropped says that the member is giving the queue up.
	Dropped bool
	// LastPull and LastConsume are by the member's clock; zero if never.
	LastPull, LastConsume time.Time
}

// MemberReport is what one member says of itself (call 307, rocketmq.md 3.15).
type MemberReport struct {
	// Properties are the client's own settings, by RocketMQ's names. Java says
	// more than Go.
	Properties map[string]string
	// Subscriptions are the member's own, whatever the broker's table shows.
	Subscriptions []Subscription
	// Queues are the queues that the member pulls now.
	Queues map[Queue]QueueWork
	// PopQueues are what a member in POP mode pops from, sorted; ID -1 is a whole
	// broker.
	PopQueues []Queue
}
