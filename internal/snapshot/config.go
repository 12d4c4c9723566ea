// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "maps"

// Perm is a topic's permission bits as RocketMQ stores them (rocketmq.md 3.4).
type Perm int

// Permission bits. PermReadWrite is what an ordinary topic has.
const (
	PermInherit   Perm = 1
	PermWrite     Perm = 2
	PermRead      Perm = 4
	PermReadWrite Perm = PermRead | PermWrite
)

// Readable reports whether consumers may read.
func (p Perm) Readable() bool { return p&PermRead != 0 }

// Writable reports whether the route offers the topic to producers.
func (p Perm) Writable() bool { return p&PermWrite != 0 }

// TopicConfig is one topic as one broker stores it (rocketmq.md 3.4, 3.7, 3.8).
type TopicConfig struct {
	Name        string
	ReadQueues  int
	WriteQueues int
	Perm        Perm
	// FilterType is SINGLE_TAG or MULTI_TAG.
	FilterType string
	SysFlag    int
	Order      bool
	// Attributes carry no sign here ("message.type"), as brokers store them.
	// They are nil on 4.9, which has none.
	Attributes map[string]string
	// Static is a topic with a logical queue mapping; its queue counts are not
	// ours to change.
	Static bool
}

// MessageType is the message.type attribute; empty when it is not set.
func (c TopicConfig) MessageType() string { return c.Attributes["message.type"] }

// Highest is the number of queues for which the broker accepts sends or reads.
func (c TopicConfig) Highest() int { return max(c.ReadQueues, c.WriteQueues) }

// Equal reports whether both are the same in every field.
func (c TopicConfig) Equal(o TopicConfig) bool {
	return c.Name == o.Name && c.ReadQueues == o.ReadQueues && c.WriteQueues == o.WriteQueues &&
		c.Perm == o.Perm && c.FilterType == o.FilterType && c.SysFlag == o.SysFlag &&
		c.Order == o.Order && c.Static == o.Static && maps.Equal(c.Attributes, o.Attributes)
}

// Clone copies the config, attributes included.
func (c TopicConfig) Clone() TopicConfig {
	c.Attributes = maps.Clone(c.Attributes)
	return c
}
