// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "time"

// TopicLook is one ordered pass over everything that a decision about one
// topic's queues rests on (rule R01). Per broker the order of requests is:
// committed offsets, dispatch progress, max offsets, topic config; then the
// routes of every name server, then groups and members. A fact that was not
// renewed in this look is unknown in it.
type TopicLook struct {
	Topic string
	// Seq counts the looks of the running process.
	Seq uint64
	// Started and Finished bound the look on the monotonic clock.
	Started, Finished time.Time
	// Brokers holds every broker of the cluster that any name server shows, or
	// that an earlier sweep saw and that is gone now, by broker name.
	Brokers map[string]TopicOnBroker
	// Routes holds the topic's route as each name server has it, by address.
	Routes map[string]Fact[Route]
	// WarmUp says, by name server address, why a name server may still be
	// incomplete after a start; no topic is written while one is (case O25).
	WarmUp map[string]string
	// Groups holds every group that has to do with the topic, by name: online
	// subscribers, committed entries, declared ones. It is unknown when that
	// union could not be made.
	Groups Fact[map[string]GroupOnTopic]
	// Foreign are brokers in the route outside this cluster (case A17).
	Foreign []string
	// OrderConfig is the ORDER_TOPIC_CONFIG entry of the topic by name server;
	// empty when there is none (case Q10).
	OrderConfig map[string]Fact[string]
}

// TopicOnBroker is the topic on one broker's master.
type TopicOnBroker struct {
	Broker string
	// Master is the master's address on which all name servers agree; unknown
	// when they differ or show none (rule R03, case P02).
	Master Fact[string]
	// Config is what the broker stores; Known with Present false means that
	// the broker answered and does not have the topic.
	Config Fact[StoredTopic]
	// Queues are the offsets of every queue id ever seen in use: at least
	// 0..max(read, write)-1, and retired ids up to the highest known count.
	Queues Fact[map[int]QueueOffsets]
	// Committed holds, by group, the committed offset of each queue id that
	// has an entry (call 43), retired ids included.
	Committed Fact[map[string]map[int]int64]
	// Pulled names groups that have only a pull offset entry (5.5, rule R07).
	Pulled Fact[map[string]struct{}]
	// Pending is what may still be delivered later on this broker.
	Pending Fact[Pending]
	// Runtime and Settings are the broker's own, asked in this look.
	Runtime  Fact[Runtime]
	Settings Fact[Settings]
}

// StoredTopic is a topic config, or the knowledge that there is none.
type StoredTopic struct {
	Present bool
	Config  TopicConfig
}

// QueueOffsets are the dispatched bounds of one queue (calls 31 and 30).
type QueueOffsets struct{ Min, Max int64 }

// Pending is what may still land on queues of the topic: unseen is not proven
// absent (rule R15).
type Pending struct {
	// Delay is the schedule progress by level, of all topics of the broker.
	Delay map[int]Progress
	// Own is how many pending messages of a level are stamped with this topic,
	// by level and queue id, for levels whose schedule queue was read in full
	// (rule R42). A level that is not in Own is not attributed: all of it may be
	// any queue's of this topic.
	Own map[int]map[int]int64
	// Timers is the number of messages of this topic in the timer wheel.
	Timers int64
	// TimersBehind is not zero while the wheel has not read all it must.
	TimersBehind int64
	// Halves is the number of half messages of the broker not yet settled, of
	// all topics; OwnHalves are those of this topic by queue id, and nil when
	// they were not attributed.
	Halves    int64
	OwnHalves map[int]int64
}

// Zero reports whether nothing is seen pending.
func (p Pending) Zero() bool {
	for level := range p.Delay {
		if p.Left(level, 0) > 0 {
			return false
		}
	}
	return p.Timers == 0 && p.TimersBehind == 0 && p.LeftHalves(0) == 0
}

// Left is how many messages of a level may still be delivered to queues of the
// topic from the given id on.
func (p Pending) Left(level, from int) int64 {
	if own, attributed := p.Own[level]; attributed {
		return stampedFrom(own, from)
	}
	return max(0, p.Delay[level].Max-p.Delay[level].Delivered)
}

// LeftHalves is how many half messages may still be committed to queues of the
// topic from the given id on.
func (p Pending) LeftHalves(from int) int64 {
	if p.OwnHalves != nil {
		return stampedFrom(p.OwnHalves, from)
	}
	return p.Halves
}

func stampedFrom(own map[int]int64, from int) int64 {
	var n int64
	for queue, count := range own {
		if queue >= from {
			n += count
		}
	}
	return n
}

// Route is a topic's route as one name server has it (call 105).
type Route struct {
	// Present is false when the name server has no route for the topic.
	Present bool
	// Queues are the counts by broker name.
	Queues map[string]RouteQueues
	// Masters are the master addresses by broker name.
	Masters map[string]string
	// Clusters are the cluster names by broker name.
	Clusters map[string]string
	// OrderConf is the order configuration a name server hands to producers
	// instead of the write counts (rocketmq.md 3.23); empty as a rule.
	OrderConf string
}

// RouteQueues is one broker's part of a route.
type RouteQueues struct {
	Read, Write int
	Perm        Perm
}
