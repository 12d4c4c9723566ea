// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

// refusedKinds holds on topics whose queue counts are not ours to change.
func (p *pass) refusedKinds() bool {
	refuse := func(broker, why string) bool {
		return !p.skip.refused && p.hold(p.lastStage(), Hold{Reason: ReasonRefusedTopic, Broker: broker, Queue: NoQueue, Why: why})
	}
	if whose := names.ReservedTopic(p.spec.Topic, names.Scope{}); whose != "" && !p.spec.ownRetry() {
		return refuse("", fmt.Sprintf("%s %s; its queues are not changed", p.spec.Topic, whose))
	}
	if p.spec.MessageType == "LITE" {
		return refuse("", "a LITE topic's queue count says nothing about its consumers; it is not changed")
	}
	for _, b := range p.brokers {
		switch c := b.config; {
		case b.role == undeclared:
		case c.Static:
			return refuse(b.name, "is a static topic: its queues are mapped over brokers and must not be resized by configuration")
		case c.Attributes["cleanup.policy"] == "COMPACTION":
			return refuse(b.name, "is a compaction topic: queues beyond the write count are not loaded at a restart")
		case c.MessageType() == "LITE":
			return refuse(b.name, "is a LITE topic: its queue count says nothing about its consumers")
		}
	}
	return false
}

// toolGroup reports whether a group is built in or a tool's; such a group
// never holds anything (rule R07, rocketmq.md 11.2).
func toolGroup(name string) bool { return names.ReservedGroup(name, names.Scope{}) != "" }

// mayMove holds every change of queue counts that is a choice: while a group
// is changing (rule R16), and on ordered topics without the explicit choice
// (cases Q09, Q10). Repair and re-opening are no choice and do not ask.
func (p *pass) mayMove(stage Stage) bool {
	if p.busy(stage) {
		return false
	}
	why, unknown := p.ordered()
	switch {
	case p.skip.order:
	case unknown != nil:
		return !p.hold(stage, *unknown)
	case why != "" && !p.spec.AllowOrderChange:
		return !p.hold(stage, Hold{Reason: ReasonOrderedTopic, Queue: NoQueue,
			Why: why + ": keys move to other queues when their number changes, so order is kept only if producers pause; set spec.resize.orderChange to Allow"})
	}
	return true
}

// busy holds while a subscribing group is changing (rule R16).
func (p *pass) busy(stage Stage) bool {
	var holds []Hold
	for _, group := range slices.Sorted(maps.Keys(p.spec.Busy)) {
		if p.skip.busy {
			break
		}
		holds = append(holds, Hold{Reason: ReasonGroupBusy, Group: group, Queue: NoQueue, Why: p.spec.Busy[group]})
	}
	return p.hold(stage, holds...)
}

// ordered says why order matters on the topic; empty when nothing says so.
func (p *pass) ordered() (why string, unknown *Hold) {
	types := map[string]string{
		"FIFO":     "the topic's message type is FIFO",
		"PRIORITY": "the topic's message type is PRIORITY, whose queue ids are priorities",
	}
	if p.spec.Ordered {
		return "the topic is declared to be consumed in order", nil
	}
	if w := types[p.spec.MessageType]; w != "" {
		return w, nil
	}
	for _, b := range p.brokers {
		if b.role == undeclared {
			continue
		}
		if b.config.Order {
			return "the topic is ordered on " + b.name, nil
		}
		if w := types[b.config.MessageType()]; w != "" {
			return w + " on " + b.name, nil
		}
	}
	for _, server := range p.servers {
		fact := p.look.OrderConfig[server]
		value, known := fact.Get()
		if !known {
			return "", &Hold{Reason: ReasonUnknown, Broker: server, Queue: NoQueue, Why: "order configuration not known: " + fact.Why()}
		}
		route, _ := p.look.Routes[server].Get()
		if value != "" || route.OrderConf != "" {
			return "name server " + server + " has an order configuration for the topic", nil
		}
	}
	return "", nil
}
