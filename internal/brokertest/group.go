// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"maps"
)

// GroupConfig is a consumer group as a broker stores it (rocketmq.md 3.10).
type GroupConfig struct {
	Name                string
	ConsumeEnable       bool
	FromMinEnable       bool
	BroadcastEnable     bool
	Orderly             bool
	RetryQueues         int
	RetryMaxTimes       int
	RetryPolicy         string // JSON
	BrokerID            int64
	SlowBrokerID        int64
	NotifyEnable        bool
	SysFlag             int
	ConsumeTimeoutMin   int
	SubscriptionDataSet string // JSON; empty for none
	Attributes          map[string]string
}

// DefaultGroup is a group with every member at the broker's default.
func DefaultGroup(name string) GroupConfig {
	return GroupConfig{
		Name: name, ConsumeEnable: true, FromMinEnable: true, BroadcastEnable: true,
		RetryQueues: 1, RetryMaxTimes: 16, RetryPolicy: `{"type":"CUSTOMIZED"}`,
		SlowBrokerID: 1, NotifyEnable: true, ConsumeTimeoutMin: 15,
	}
}

// builtInGroups exist on every broker (rocketmq.md 11.2).
func (v Version) builtInGroups() []string {
	groups := []string{
		"TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY",
		"CID_ONSAPI_PULL", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER",
	}
	if v.five() {
		groups = append(groups, "CID_RMQ_SYS_TRANS")
	}
	return groups
}

func cloneGroups(m map[string]*GroupConfig) map[string]*GroupConfig {
	out := make(map[string]*GroupConfig, len(m))
	for k, g := range m {
		cfg := *g
		cfg.Attributes = maps.Clone(g.Attributes)
		out[k] = &cfg
	}
	return out
}

// wireGroup is a SubscriptionGroupConfig in a body; what is absent takes the
// default.
type wireGroup struct {
	GroupName                      *string           `json:"groupName"`
	ConsumeEnable                  *bool             `json:"consumeEnable"`
	ConsumeFromMinEnable           *bool             `json:"consumeFromMinEnable"`
	ConsumeBroadcastEnable         *bool             `json:"consumeBroadcastEnable"`
	ConsumeMessageOrderly          *bool             `json:"consumeMessageOrderly"`
	RetryQueueNums                 *int              `json:"retryQueueNums"`
	RetryMaxTimes                  *int              `json:"retryMaxTimes"`
	GroupRetryPolicy               json.RawMessage   `json:"groupRetryPolicy"`
	BrokerID                       *int64            `json:"brokerId"`
	WhichBrokerWhenConsumeSlowly   *int64            `json:"whichBrokerWhenConsumeSlowly"`
	NotifyConsumerIDsChangedEnable *bool             `json:"notifyConsumerIdsChangedEnable"`
	GroupSysFlag                   *int              `json:"groupSysFlag"`
	ConsumeTimeoutMinute           *int              `json:"consumeTimeoutMinute"`
	SubscriptionDataSet            json.RawMessage   `json:"subscriptionDataSet"`
	Attributes                     map[string]string `json:"attributes"`
}

func take[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func takeRaw(to *string, from json.RawMessage) {
	if len(from) > 0 && string(from) != "null" {
		*to = string(from)
	}
}

func (w wireGroup) config() *GroupConfig {
	g := DefaultGroup("")
	take(&g.Name, w.GroupName)
	take(&g.ConsumeEnable, w.ConsumeEnable)
	take(&g.FromMinEnable, w.ConsumeFromMinEnable)
	take(&g.BroadcastEnable, w.ConsumeBroadcastEnable)
	take(&g.Orderly, w.ConsumeMessageOrderly)
	take(&g.RetryQueues, w.RetryQueueNums)
	take(&g.RetryMaxTimes, w.RetryMaxTimes)
	takeRaw(&g.RetryPolicy, w.GroupRetryPolicy)
	take(&g.BrokerID, w.BrokerID)
	take(&g.SlowBrokerID, w.WhichBrokerWhenConsumeSlowly)
	take(&g.NotifyEnable, w.NotifyConsumerIDsChangedEnable)
	take(&g.SysFlag, w.GroupSysFlag)
	take(&g.ConsumeTimeoutMin, w.ConsumeTimeoutMinute)
	takeRaw(&g.SubscriptionDataSet, w.SubscriptionDataSet)
	g.Attributes = w.Attributes
	return &g
}

func (b *Broker) groupJSON(g *GroupConfig) jObject {
	o := jObject{
		"brokerId": g.BrokerID, "consumeBroadcastEnable": g.BroadcastEnable,
		"consumeEnable": g.ConsumeEnable, "consumeFromMinEnable": g.FromMinEnable,
		"groupName": g.Name, "notifyConsumerIdsChangedEnable": g.NotifyEnable,
		"retryMaxTimes": g.RetryMaxTimes, "retryQueueNums": g.RetryQueues,
		"whichBrokerWhenConsumeSlowly": g.SlowBrokerID,
	}
	if !b.version.five() {
		return o
	}
	attributes := jObject{}
	for k, v := range g.Attributes {
		attributes[k] = v
	}
	o["attributes"], o["consumeMessageOrderly"] = attributes, g.Orderly
	o["consumeTimeoutMinute"], o["groupSysFlag"] = g.ConsumeTimeoutMin, g.SysFlag
	o["groupRetryPolicy"] = jRaw(g.RetryPolicy)
	if g.SubscriptionDataSet != "" {
		o["subscriptionDataSet"] = jRaw(g.SubscriptionDataSet)
	}
	return o
}
