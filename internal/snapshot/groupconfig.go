// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"maps"
	"slices"
	"time"
)

// GroupConfig is one consumer group as one broker stores it (rocketmq.md 3.10).
// Fields that a broker's version does not have hold RocketMQ's default.
type GroupConfig struct {
	Name string
	// ConsumeEnable false refuses every pull and pop.
	ConsumeEnable bool
	// ConsumeFromMin is stored and not enforced.
	ConsumeFromMin bool
	// ConsumeBroadcast false refuses broadcast pulls.
	ConsumeBroadcast bool
	// ConsumeOrderly makes gRPC proxies hand out whole queues in order.
	ConsumeOrderly bool
	// NotifyMembers tells members of joins and leaves at once.
	NotifyMembers bool
	// RetryQueues is the queue count of the retry topic when it is first made;
	// 0 discards failed messages silently.
	RetryQueues int
	// RetryMax is how often a message is tried again before it goes to the DLQ.
	RetryMax int
	// Retry is the delay between tries that proxies use.
	Retry RetryPolicy
	// ReadFrom is the broker id to read from, ReadSlowFrom the one suggested to
	// a member that lags.
	ReadFrom, ReadSlowFrom int64
	SysFlag                int
	// ConsumeTimeout is for push members of a proxy.
	ConsumeTimeout time.Duration
	// Subscriptions are stored with the group; brokers from 5.0 use them for
	// lag metrics only, unless useStaticSubscription is on. Nil is none.
	Subscriptions []GroupSubscription
	// Attributes carry no sign here. They exist from 5.4 and are not written by
	// a change of the other fields (live 3).
	Attributes map[string]string
}

// GroupSubscription is an entry of a group's stored subscriptions.
type GroupSubscription struct {
	Topic, ExpressionType, Expression string
	Version                           int64
}

// RetryPolicy is a group's groupRetryPolicy.
type RetryPolicy struct {
	// Type is CUSTOMIZED or EXPONENTIAL.
	Type string
	// Next are the delays of a CUSTOMIZED policy; nil is RocketMQ's own table.
	Next []time.Duration
	// Initial, Max and Multiplier belong to an EXPONENTIAL policy; all zero is
	// RocketMQ's own.
	Initial, Max time.Duration
	Multiplier   int64
}

// DefaultGroup is the group that a broker makes when it is told only a name.
func DefaultGroup(name string) GroupConfig {
	return GroupConfig{
		Name: name, ConsumeEnable: true, ConsumeFromMin: true, ConsumeBroadcast: true, NotifyMembers: true,
		RetryQueues: 1, RetryMax: 16, Retry: RetryPolicy{Type: "CUSTOMIZED"},
		ReadSlowFrom: 1, ConsumeTimeout: 15 * time.Minute,
	}
}

// Equal reports whether both are the same in every field.
func (c GroupConfig) Equal(o GroupConfig) bool {
	return c.Name == o.Name && c.ConsumeEnable == o.ConsumeEnable && c.ConsumeFromMin == o.ConsumeFromMin &&
		c.ConsumeBroadcast == o.ConsumeBroadcast && c.ConsumeOrderly == o.ConsumeOrderly &&
		c.NotifyMembers == o.NotifyMembers && c.RetryQueues == o.RetryQueues && c.RetryMax == o.RetryMax &&
		c.Retry.Equal(o.Retry) && c.ReadFrom == o.ReadFrom && c.ReadSlowFrom == o.ReadSlowFrom &&
		c.SysFlag == o.SysFlag && c.ConsumeTimeout == o.ConsumeTimeout &&
		slices.Equal(c.Subscriptions, o.Subscriptions) && maps.Equal(c.Attributes, o.Attributes)
}

// Equal reports whether both are the same policy.
func (p RetryPolicy) Equal(o RetryPolicy) bool {
	return p.Type == o.Type && slices.Equal(p.Next, o.Next) &&
		p.Initial == o.Initial && p.Max == o.Max && p.Multiplier == o.Multiplier
}

// Clone copies the config with everything it refers to.
func (c GroupConfig) Clone() GroupConfig {
	c.Retry.Next = slices.Clone(c.Retry.Next)
	c.Subscriptions = slices.Clone(c.Subscriptions)
	c.Attributes = maps.Clone(c.Attributes)
	return c
}
