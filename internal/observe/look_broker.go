// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// brokerPass is what one pass asks one broker, in this order and over one
// connection, which stands for one process:
//
//	26      who answers (rule R03)
//	43      committed offsets, before the ends: a message that slips in between
//	        makes a queue look unread, never drained (rule R01)
//	28      dispatch and delay progress, before the ends (rule R04), and when the
//	        process was started; once, for a busy broker takes long over it
//	30      the ends of delay levels that 28 does not tell
//	61, 30  timers, and the end of the half messages (rule R15)
//	11      which topics and queues what waits is stamped with, up to a bound
//	351/21  how many queues there are to ask about
//	30, 31  the ends of all of them, retired ones included
//	351/21  the topic config
//	...     routes, groups and members
//	26      that it is still the same process
//
// 31 leaves an empty queue object on the broker for an id that was never used
// (rocketmq.md 3.20), so it is asked only for a queue whose end is above 0: that
// one exists. 202 would give all bounds at once, but not those of retired ids
// beyond both counts, and it creates objects for all ids below.
type brokerPass struct {
	*pass
	broker snapshot.Broker
	// why says why nothing is known of the broker; empty when it answered.
	why     string
	address string
	process snapshot.Process
	// at reaches the process that was met, or nobody.
	at *rocketmq.Client

	settings  snapshot.Fact[snapshot.Settings]
	committed snapshot.Fact[rocketmq.CommittedOffsets]
	runtime   snapshot.Runtime
	runtimeAt snapshot.Origin
	levels    snapshot.Fact[map[int]int64]
	timers    snapshot.Fact[map[string]int64]
	halfEnd   snapshot.Fact[int64]
	stamped   stamped
	parts     map[string]*topicPart
}

// topicPart is one topic on one broker.
type topicPart struct {
	queues snapshot.Fact[map[int]snapshot.QueueOffsets]
	config snapshot.Fact[snapshot.StoredTopic]
}

// singleReads is up to how many topics are read one by one; more are read by
// one call for the broker's whole table.
const singleReads = 16

func (b *brokerPass) ask() {
	address, ok := b.broker.Master.Get()
	if !ok {
		b.why = b.broker.Master.Why()
		return
	}
	b.address = address
	if err := b.begin(); err != nil {
		b.why = brokerFailed(b.broker.Name, address, err).Sentence
		return
	}
	b.levels = b.untoldLevels()
	b.timers = fact(b.pass, address, b.process, b.at.TimerMetrics)
	b.halfEnd = fact(b.pass, address, b.process, func(ctx context.Context, addr string) (int64, error) {
		return b.at.MaxOffset(ctx, addr, names.HalfTopic, 0)
	})
	b.stamped = b.readStamped()
	b.parts = map[string]*topicPart{}
	before := b.configs()
	for _, topic := range b.order {
		b.parts[topic] = &topicPart{queues: b.offsets(topic, before[topic])}
	}
	after := b.configs()
	for _, topic := range b.order {
		b.parts[topic].config = after[topic]
		b.parts[topic].cover(b.asked(topic, before[topic]))
	}
}

// begin meets the broker, and asks for what belongs to the whole of it and comes
// first. Facts name the process they come from, and its start is part of that,
// so without call 28 there is none.
func (b *brokerPass) begin() error {
	met := b.clock.Now()
	process, settings, err := b.meet(b.ctx, b.broker.Name, b.address)
	if err != nil {
		return err
	}
	b.at = b.client.On(process)
	asked := b.clock.Now()
	committed, failed := call(b.ctx, b.Observer, b.address, b.at.AllCommittedOffsets)
	b.runtimeAt.Sent = b.clock.Now()
	if b.runtime, err = call(b.ctx, b.Observer, b.address, b.at.Runtime); err != nil {
		return err
	}
	process.Booted = b.runtime.Booted
	b.process, b.runtimeAt.From = process, process
	b.settings = snapshot.Known(settings, snapshot.Origin{Sent: met, From: process})
	b.committed = snapshot.Known(committed, snapshot.Origin{Sent: asked, From: process})
	if failed != nil {
		b.committed = snapshot.Unknown[rocketmq.CommittedOffsets](said(failed))
	}
	return nil
}

// configs reads the topics' configs as they are now.
func (b *brokerPass) configs() map[string]snapshot.Fact[snapshot.StoredTopic] {
	out := map[string]snapshot.Fact[snapshot.StoredTopic]{}
	if !rocketmq.CapabilityOf(b.runtime.Version).SingleTopicRead || len(b.order) > singleReads {
		table := fact(b.pass, b.address, b.process, b.at.AllTopicConfigs)
		for _, topic := range b.order {
			out[topic] = snapshot.Map(table, func(t rocketmq.TopicTable) snapshot.StoredTopic {
				config, present := t.Topics[topic]
				return snapshot.StoredTopic{Present: present, Config: config}
			})
		}
		return out
	}
	for _, topic := range b.order {
		out[topic] = fact(b.pass, b.address, b.process, func(ctx context.Context, addr string) (snapshot.StoredTopic, error) {
			return b.at.TopicConfig(ctx, addr, topic)
		})
	}
	return out
}

// asked is how many queue ids of the topic are asked for, by what the broker
// shows before.
func (b *brokerPass) asked(topic string, before snapshot.Fact[snapshot.StoredTopic]) int {
	stored, _ := before.Get()
	return max(b.topics[topic].Queues, stored.Config.Highest())
}

// offsets asks for the bounds of all queues of a topic. A topic that the broker
// does not have is not asked for: the asking itself could bring queues back
// (case P14).
func (b *brokerPass) offsets(topic string, before snapshot.Fact[snapshot.StoredTopic]) snapshot.Fact[map[int]snapshot.QueueOffsets] {
	stored, known := before.Get()
	switch n := b.asked(topic, before); {
	case !known:
		return snapshot.Unknown[map[int]snapshot.QueueOffsets](before.Why())
	case !stored.Present:
		return snapshot.Known(map[int]snapshot.QueueOffsets{}, b.origin(b.process))
	case n > rocketmq.MaxQueues:
		return snapshot.Unknown[map[int]snapshot.QueueOffsets](fmt.Sprintf(
			"%s has %d queues of the topic; at most %d are asked for", b.broker.Name, n, rocketmq.MaxQueues))
	default:
		return fact(b.pass, b.address, b.process, func(ctx context.Context, addr string) (map[int]snapshot.QueueOffsets, error) {
			return b.bounds(ctx, addr, topic, n)
		})
	}
}

func (b *brokerPass) bounds(ctx context.Context, addr, topic string, n int) (map[int]snapshot.QueueOffsets, error) {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	ends, err := b.at.MaxOffsets(ctx, addr, topic, ids)
	if err != nil {
		return nil, err
	}
	var used []int
	for _, id := range ids {
		if ends[id] > 0 {
			used = append(used, id)
		}
	}
	lows, err := b.lows(ctx, addr, topic, used)
	if err != nil {
		return nil, err
	}
	out := make(map[int]snapshot.QueueOffsets, n)
	for id, end := range ends {
		// What came and expired after the end was read is not in this sample.
		out[id] = snapshot.QueueOffsets{Min: min(lows[id], end), Max: end}
	}
	return out, nil
}

// lows asks for the lowest offset of each of the queues; all of them or an
// error.
func (b *brokerPass) lows(ctx context.Context, addr, topic string, ids []int) (map[int]int64, error) {
	offsets, errs := make([]int64, len(ids)), make([]error, len(ids))
	forEach(maxPerBroker, ids, func(i, id int) {
		offsets[i], errs[i] = b.at.MinOffset(ctx, addr, topic, id)
	})
	out := map[int]int64{}
	for i, id := range ids {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out[id] = offsets[i]
	}
	return out, nil
}

// cover makes the queues unknown unless those that were asked for cover what the
// config shows now.
func (p *topicPart) cover(asked int) {
	stored, known := p.config.Get()
	if p.queues.IsKnown() && known && stored.Config.Highest() > asked {
		p.queues = snapshot.Unknown[map[int]snapshot.QueueOffsets](fmt.Sprintf(
			"the topic grew to %d queues while %d were asked for", stored.Config.Highest(), asked))
	}
}

// confirm asks the same process again who it is. One that is gone, or another,
// leaves no fact: those of two processes are no look.
func (b *brokerPass) confirm() {
	if b.why != "" {
		return
	}
	settings, err := call(b.ctx, b.Observer, b.address, b.at.Settings)
	switch {
	case err != nil:
		b.why = brokerFailed(b.broker.Name, b.address, fmt.Errorf("it was lost during the look: %w", err)).Sentence
	case settings.Name != b.process.Name || settings.Cluster != b.process.Cluster || settings.BrokerID != b.process.BrokerID:
		b.why = fmt.Sprintf("%s became another broker during the look", b.broker.Name)
	}
}

// on is what the pass found of a topic on the broker.
func (b *brokerPass) on(topic string) snapshot.TopicOnBroker {
	t := snapshot.TopicOnBroker{Broker: b.broker.Name, Master: b.broker.Master}
	if b.why != "" {
		t.Config = snapshot.Unknown[snapshot.StoredTopic](b.why)
		t.Queues = snapshot.Unknown[map[int]snapshot.QueueOffsets](b.why)
		t.Committed = snapshot.Unknown[map[string]map[int]int64](b.why)
		t.Pulled = snapshot.Unknown[map[string]struct{}](b.why)
		t.Pending = snapshot.Unknown[snapshot.Pending](b.why)
		t.Runtime = snapshot.Unknown[snapshot.Runtime](b.why)
		t.Settings = snapshot.Unknown[snapshot.Settings](b.why)
		return t
	}
	part := b.parts[topic]
	t.Config, t.Queues = part.config, part.queues
	t.Runtime = snapshot.Known(b.runtime, b.runtimeAt)
	t.Settings = b.settings
	t.Committed = snapshot.Map(b.committed, func(all rocketmq.CommittedOffsets) map[string]map[int]int64 {
		return usersOf(all.Committed[topic], b.scope())
	})
	t.Pulled = snapshot.Map(b.committed, func(all rocketmq.CommittedOffsets) map[string]struct{} {
		return pulledOnly(all, topic, b.scope())
	})
	t.Pending = b.pending(topic)
	return t
}

func (p *pass) scope() names.Scope {
	return names.Scope{Cluster: p.cfg.ClusterName, HeartbeatTopic: p.cfg.HeartbeatTopic}
}

// usersOf are the groups that are not RocketMQ's own: those never hold a drain
// (rule R07).
func usersOf[V any](groups map[string]V, scope names.Scope) map[string]V {
	out := map[string]V{}
	for group, v := range groups {
		if names.ReservedGroup(group, scope) == "" {
			out[group] = v
		}
	}
	return out
}

// pulledOnly are the groups with a pull offset, or a light queue's offset, and
// no committed one: readers that cannot be followed (rule R07).
func pulledOnly(all rocketmq.CommittedOffsets, topic string, scope names.Scope) map[string]struct{} {
	out := map[string]struct{}{}
	for _, table := range []rocketmq.GroupOffsets{all.Pulled, all.Light} {
		for group := range usersOf(table[topic], scope) {
			if _, commits := all.Committed[topic][group]; !commits {
				out[group] = struct{}{}
			}
		}
	}
	return out
}
