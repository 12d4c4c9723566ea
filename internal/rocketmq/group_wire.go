// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// rawGroup is a group as a broker stores it: what Lockstep knows of it, and all
// members of the object as they came, so that a change of one of them keeps the
// rest.
type rawGroup struct {
	config  snapshot.GroupConfig
	members map[string]json.RawMessage
}

type rawGroups struct {
	groups  map[string]rawGroup
	version DataVersion
}

// groupConfig is a group on the wire (rocketmq.md 3.10). Members without
// "required" are not there on 4.9, where RocketMQ's defaults hold.
type groupConfig struct {
	Name             *string             `json:"groupName" fastjson:"required"`
	ConsumeEnable    *bool               `json:"consumeEnable" fastjson:"required"`
	ConsumeFromMin   *bool               `json:"consumeFromMinEnable" fastjson:"required"`
	ConsumeBroadcast *bool               `json:"consumeBroadcastEnable" fastjson:"required"`
	ConsumeOrderly   bool                `json:"consumeMessageOrderly"`
	NotifyMembers    *bool               `json:"notifyConsumerIdsChangedEnable"`
	RetryQueues      *int                `json:"retryQueueNums" fastjson:"required"`
	RetryMax         *int                `json:"retryMaxTimes" fastjson:"required"`
	Retry            *retryPolicy        `json:"groupRetryPolicy"`
	ReadFrom         *int64              `json:"brokerId" fastjson:"required"`
	ReadSlowFrom     *int64              `json:"whichBrokerWhenConsumeSlowly" fastjson:"required"`
	SysFlag          int                 `json:"groupSysFlag"`
	ConsumeTimeout   *int64              `json:"consumeTimeoutMinute"`
	Subscriptions    []groupSubscription `json:"subscriptionDataSet"`
	Attributes       map[string]string   `json:"attributes"`
}

type groupSubscription struct {
	Topic          string `json:"topic"`
	ExpressionType string `json:"expressionType"`
	Expression     string `json:"expression"`
	Version        int64  `json:"version"`
}

type retryPolicy struct {
	Type        string `json:"type"`
	Exponential *struct {
		Initial    int64 `json:"initial"`
		Max        int64 `json:"max"`
		Multiplier int64 `json:"multiplier"`
	} `json:"exponentialRetryPolicy,omitempty"`
	Custom *struct {
		Next []int64 `json:"next"`
	} `json:"customizedRetryPolicy,omitempty"`
}

func decodeGroups(body []byte) (rawGroups, error) {
	var wire struct {
		Groups  map[string]json.RawMessage `json:"subscriptionGroupTable" fastjson:"required"`
		Version *dataVersion               `json:"dataVersion" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return rawGroups{}, err
	}
	all := rawGroups{groups: make(map[string]rawGroup, len(wire.Groups)), version: wire.Version.value()}
	for name, text := range wire.Groups {
		var w groupConfig
		if err := fastjson.Unmarshal(text, &w); err != nil {
			return rawGroups{}, fmt.Errorf("an entry of subscriptionGroupTable: %w", err)
		}
		if *w.Name != name {
			return rawGroups{}, errors.New("an entry of subscriptionGroupTable does not bear its group's name")
		}
		group := rawGroup{config: w.config()}
		if err := json.Unmarshal(text, &group.members); err != nil {
			return rawGroups{}, errors.New("an entry of subscriptionGroupTable is not an object")
		}
		all.groups[name] = group
	}
	return all, nil
}

func (w groupConfig) config() snapshot.GroupConfig {
	c := snapshot.DefaultGroup(*w.Name)
	c.ConsumeEnable = *w.ConsumeEnable
	c.ConsumeFromMin = *w.ConsumeFromMin
	c.ConsumeBroadcast = *w.ConsumeBroadcast
	c.ConsumeOrderly = w.ConsumeOrderly
	c.RetryQueues, c.RetryMax = *w.RetryQueues, *w.RetryMax
	c.ReadFrom, c.ReadSlowFrom = *w.ReadFrom, *w.ReadSlowFrom
	c.SysFlag = w.SysFlag
	if w.NotifyMembers != nil {
		c.NotifyMembers = *w.NotifyMembers
	}
	if w.ConsumeTimeout != nil {
		c.ConsumeTimeout = time.Duration(*w.ConsumeTimeout) * time.Minute
	}
	if w.Retry != nil {
		c.Retry = w.Retry.policy()
	}
	for _, s := range w.Subscriptions {
		c.Subscriptions = append(c.Subscriptions, snapshot.GroupSubscription(s))
	}
	if len(w.Attributes) > 0 {
		c.Attributes = w.Attributes
	}
	return c
}

func (w retryPolicy) policy() snapshot.RetryPolicy {
	p := snapshot.RetryPolicy{Type: w.Type}
	if e := w.Exponential; e != nil {
		p.Initial, p.Max = time.Duration(e.Initial)*time.Millisecond, time.Duration(e.Max)*time.Millisecond
		p.Multiplier = e.Multiplier
	}
	if w.Custom != nil {
		for _, ms := range w.Custom.Next {
			p.Next = append(p.Next, time.Duration(ms)*time.Millisecond)
		}
	}
	return p
}

// turnedInto is the body that makes the group what is wanted: every member as it
// came, and in the form of call 200 those that differ.
func (g rawGroup) turnedInto(want snapshot.GroupConfig) ([]byte, error) {
	have := g.config
	switch {
	case want.Name != have.Name:
		return nil, fmt.Errorf("it was to become group %q", want.Name)
	case !maps.Equal(want.Attributes, have.Attributes):
		return nil, errors.New("its attributes were to change, which is not done")
	case want.RetryQueues < 0 || want.RetryQueues > MaxQueues:
		return nil, fmt.Errorf("%d retry queues; at most %d", want.RetryQueues, MaxQueues)
	case want.ConsumeTimeout%time.Minute != 0:
		return nil, fmt.Errorf("a consume timeout of %s, which is not in whole minutes", want.ConsumeTimeout)
	}
	out := maps.Clone(g.members)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	// What was read has no sign on its keys, and a broker refuses such keys.
	delete(out, "attributes")
	before, after := written(have), written(want)
	for name, value := range after {
		old, err := json.Marshal(before[name])
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if string(old) != string(text) || name == "groupName" {
			out[name] = text
		}
	}
	return json.Marshal(out)
}

// written are the members of a group that Lockstep writes.
func written(c snapshot.GroupConfig) map[string]any {
	w := map[string]any{
		"groupName":                      c.Name,
		"consumeEnable":                  c.ConsumeEnable,
		"consumeFromMinEnable":           c.ConsumeFromMin,
		"consumeBroadcastEnable":         c.ConsumeBroadcast,
		"consumeMessageOrderly":          c.ConsumeOrderly,
		"notifyConsumerIdsChangedEnable": c.NotifyMembers,
		"retryQueueNums":                 c.RetryQueues,
		"retryMaxTimes":                  c.RetryMax,
		"brokerId":                       c.ReadFrom,
		"whichBrokerWhenConsumeSlowly":   c.ReadSlowFrom,
		"groupSysFlag":                   c.SysFlag,
		"consumeTimeoutMinute":           int64(c.ConsumeTimeout / time.Minute),
		"groupRetryPolicy":               wirePolicy(c.Retry),
		"subscriptionDataSet":            nil,
	}
	var subscriptions []groupSubscription
	for _, s := range c.Subscriptions {
		subscriptions = append(subscriptions, groupSubscription(s))
	}
	if subscriptions != nil {
		w["subscriptionDataSet"] = subscriptions
	}
	return w
}

func wirePolicy(p snapshot.RetryPolicy) map[string]any {
	w := map[string]any{"type": p.Type}
	if p.Initial != 0 || p.Max != 0 || p.Multiplier != 0 {
		w["exponentialRetryPolicy"] = map[string]int64{
			"initial": p.Initial.Milliseconds(), "max": p.Max.Milliseconds(), "multiplier": p.Multiplier,
		}
	}
	if len(p.Next) > 0 {
		next := make([]int64, 0, len(p.Next))
		for _, d := range p.Next {
			next = append(next, d.Milliseconds())
		}
		w["customizedRetryPolicy"] = map[string][]int64{"next": next}
	}
	return w
}
