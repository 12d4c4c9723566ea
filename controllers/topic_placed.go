// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// wasPlaced says that the topic was declared on a broker when the status was
// last written. The status is the only memory of that while nothing changes; a
// broker that the spec never named is Foreign in it, and stays so.
func wasPlaced(topic *rocketmqv1alpha1.Topic, broker string) bool {
	return slices.ContainsFunc(topic.Status.Brokers, func(b rocketmqv1alpha1.TopicBrokerStatus) bool {
		return b.Name == broker && b.State != rocketmqv1alpha1.TopicBrokerForeign
	})
}

// placed are the brokers that the planner is to know as once declared: those of
// the note, and those that the placement has just left out.
func (p *topicPass) placed() []string {
	all := slices.Concat(p.note.Record.Placed, p.view.Leaving)
	slices.Sort(all)
	return slices.Compact(all)
}

// leaves says that the topic is being taken from a broker.
func (p *topicPass) leaves(broker string) bool {
	return !slices.Contains(p.view.Expected, broker) && slices.Contains(p.placed(), broker)
}
