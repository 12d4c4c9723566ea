// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// maxStamped is how many waiting messages of one queue of RocketMQ's own topics
// are read in a look, and maxStampedPulls how many pulls of one broker that may
// take. What is more is not attributed: all of it may be any topic's (rule R42).
const (
	maxStamped      = 256
	maxStampedPulls = 64
)

// stamps are how many waiting messages are stamped with each queue, by topic
// and queue id.
type stamps map[string]map[int]int64

// of is what is stamped with a topic; empty, not nil, when nothing is.
func (s stamps) of(topic string) map[int]int64 {
	out := map[int]int64{}
	maps.Copy(out, s[topic])
	return out
}

// stamped is what waits on one broker, by delay level, and the half messages;
// a level that is missing, or nil halves, could not be read in full.
type stamped struct {
	levels map[int]stamps
	halves stamps
}

// readStamped reads which topics and queues the messages that wait will be
// delivered to, for the levels and half messages that show any, before the ends
// of the queues (rule R15). It is asked only where a proof is (AllGroups).
func (b *brokerPass) readStamped() stamped {
	s := stamped{levels: map[int]stamps{}}
	if !b.provesAny() {
		return s
	}
	pulls := maxStampedPulls
	ends, _ := b.levels.Get()
	delays := b.delays(ends)
	for _, level := range slices.Sorted(maps.Keys(delays)) {
		p := delays[level]
		if found, all := b.read(names.ScheduleTopic, level-1, p.Delivered, p.Max, &pulls); all {
			s.levels[level] = found
		}
	}
	committed, known := b.committed.Get()
	end, asked := b.halfEnd.Get()
	if known && asked {
		if found, all := b.read(names.HalfTopic, 0, settled(committed), end, &pulls); all {
			s.halves = found
		}
	}
	return s
}

func (b *brokerPass) provesAny() bool {
	for _, opts := range b.topics {
		if opts.Groups == AllGroups {
			return true
		}
	}
	return false
}

// read counts the stamps of the messages [from, to) of a queue of RocketMQ's
// own; false when not all of them could be read.
func (b *brokerPass) read(topic string, queue int, from, to int64, pulls *int) (stamps, bool) {
	found := stamps{}
	if to-from > maxStamped {
		return nil, false
	}
	for from < to {
		if *pulls--; *pulls < 0 {
			return nil, false
		}
		count := int(min(to-from, rocketmq.MaxPull))
		pulled, err := call(b.ctx, b.Observer, b.address, func(ctx context.Context, addr string) (rocketmq.Pulled, error) {
			return b.at.Pull(ctx, addr, topic, queue, from, count)
		})
		if err != nil || len(pulled.Messages) == 0 || pulled.Messages[0].Offset != from {
			return nil, false
		}
		for i, m := range pulled.Messages {
			id, err := strconv.Atoi(m.Properties[rocketmq.PropertyRealQueue])
			real := m.Properties[rocketmq.PropertyRealTopic]
			if err != nil || real == "" || m.Offset != from+int64(i) {
				return nil, false
			}
			if found[real] == nil {
				found[real] = map[int]int64{}
			}
			found[real][id]++
		}
		from += int64(len(pulled.Messages))
	}
	return found, true
}

// attribute says how much of what is pending is stamped with the topic.
func (s stamped) attribute(topic string, p *snapshot.Pending) {
	for level := range p.Delay {
		if found, all := s.levels[level]; all {
			if p.Own == nil {
				p.Own = map[int]map[int]int64{}
			}
			p.Own[level] = found.of(topic)
		}
	}
	if s.halves != nil {
		p.OwnHalves = s.halves.of(topic)
	}
}
