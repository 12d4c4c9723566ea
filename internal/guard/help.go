// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// MaxPerBroker is the largest queues.perBroker of a Topic object.
const MaxPerBroker = 1024

// helps are what would let so many replicas work, the best first.
func (s share) helps(replicas int64) []string {
	var out []string
	if s.basis.declare != "" {
		out = append(out, s.basis.declare)
	}
	out = append(out, s.moreQueues(replicas))
	if s.basis.takes == takesQueues && !s.group.Ordered && s.basis.declare == "" {
		if s.basis.classic {
			out = append(out, "move the members that take queues to a gRPC client, as the others")
		} else {
			out = append(out, "use a gRPC client, whose members share single messages")
		}
	}
	return append(out,
		"let the pods there are do more: fewer threads that wait for something downstream",
		fmt.Sprintf("set spec.scaling.idleReplicas of ConsumerGroup %s for pods that are idle on purpose", s.group.Object))
}

// noHelp are what seems to help and does not.
func (s share) noHelp() []string {
	switch {
	case s.basis.takes == takesInOrder:
		return []string{"another SDK or more threads do not help: order allows one member for each queue"}
	case s.group.Ordered:
		return []string{"another SDK or strategy does not help: order allows one member for each queue"}
	}
	return []string{"another allocation strategy or a higher maximum of an autoscaler does not help: a queue has one owner"}
}

// raise is a Topic object whose queues would lift the maximum.
type raise struct {
	topic Topic
	// perBroker is the smallest that lets the asked count work; reaches is the
	// maximum it gives.
	perBroker, reaches int64
}

// raiseFor finds the first of the topics that set the number, with an object,
// whose queues can be raised far enough.
func (s share) raiseFor(replicas int64) (raise, bool) {
	need := s.membersFor(replicas)
	for _, t := range s.capacity.Set {
		at := slices.IndexFunc(s.group.Topics, func(o Topic) bool { return o.Name == t.Topic && o.Object != nil })
		if at < 0 {
			continue
		}
		r := raise{topic: s.group.Topics[at]}
		members := func(perBroker int64) int64 { return s.membersWith(t, r.topic.Object.Brokers, perBroker) }
		n := int64(sort.Search(MaxPerBroker, func(i int) bool { return members(int64(i)+1) >= need })) + 1
		if n > MaxPerBroker {
			continue
		}
		r.perBroker, r.reaches = n, s.replicasFor(members(n))
		return r, true
	}
	return raise{}, false
}

// membersWith is how many members can have work if a topic of the set has at least
// so many queues on some brokers. Retired queues still count while they are read.
func (s share) membersWith(t allocation.TopicQueues, on []string, perBroker int64) int64 {
	total := int64(0)
	for _, b := range t.Brokers {
		n := b.Queues
		if slices.Contains(on, b.Broker) {
			n = max(n, perBroker)
		}
		total = plus(total, n)
	}
	if s.capacity.Certainty != allocation.AtMost {
		return total
	}
	for _, o := range s.capacity.Set {
		if o.Topic != t.Topic {
			total = plus(total, o.Total())
		}
	}
	return total
}

// moreQueues is how to get the queues for so many replicas.
func (s share) moreQueues(replicas int64) string {
	if r, ok := s.raiseFor(replicas); ok {
		o := r.topic.Object
		return fmt.Sprintf(`raise it to %s: kubectl patch topics.rocketmq.lockstep.dev %s -n %s --type=merge -p '{"spec":{"queues":{"perBroker":%d}}}'%s`,
			number(r.reaches), o.Name, o.Namespace, r.perBroker, s.keysMove())
	}
	need := counted(s.membersFor(replicas), "queue")
	for _, t := range s.capacity.Set {
		for _, o := range s.group.Topics {
			if o.Name != t.Topic || o.Object == nil {
				continue
			}
			than := "more than Topic %s/%s can set on its brokers"
			if !slices.ContainsFunc(t.Brokers, func(b allocation.BrokerQueues) bool { return slices.Contains(o.Object.Brokers, b.Broker) }) {
				than = "and no broker of Topic %s/%s is one that the members read"
			}
			return fmt.Sprintf("%s work with %s, "+than, number(replicas), need, o.Object.Namespace, o.Object.Name)
		}
	}
	return fmt.Sprintf("%s work with %s in %s, which no Topic object declares%s", number(replicas), need, s.capacity.Set[0].Topic, s.keysMove())
}

func (s share) keysMove() string {
	if s.group.Ordered || s.basis.takes == takesInOrder {
		return " (message keys then move between queues: see spec.resize.orderChange)"
	}
	return ""
}

// shortHelp is the best help in few words.
func (s share) shortHelp(replicas int64) string {
	if s.basis.declare != "" {
		return "declare clientProtocol GRPC, if that is what members speak"
	}
	if r, ok := s.raiseFor(replicas); ok {
		return fmt.Sprintf("set queues.perBroker of Topic %s to %d", r.topic.Object.Name, r.perBroker)
	}
	return "first give it " + counted(s.membersFor(replicas), "queue")
}
