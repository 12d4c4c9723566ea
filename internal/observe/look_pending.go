// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"

	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// untoldLevels are the ends of the delay levels of which 28 shows no progress.
// From 5.0 these were never used. 4.9 also leaves out a level that has never
// delivered anything, and with it whatever waits in a level that is used for the
// first time.
func (b *brokerPass) untoldLevels() snapshot.Fact[map[int]int64] {
	settings, _ := b.settings.Get()
	var queues []int
	for i := range settings.DelayLevels {
		if _, told := b.runtime.Delay[i+1]; !told {
			queues = append(queues, i) // the queue of level 1 is 0
		}
	}
	return fact(b.pass, b.address, b.process, func(ctx context.Context, addr string) (map[int]int64, error) {
		return b.at.MaxOffsets(ctx, addr, names.ScheduleTopic, queues)
	})
}

// delays is the progress of every delay level that holds or held anything.
func (b *brokerPass) delays(ends map[int]int64) map[int]snapshot.Progress {
	out := map[int]snapshot.Progress{}
	maps.Copy(out, b.runtime.Delay)
	for queue, end := range ends {
		if end > 0 {
			out[queue+1] = snapshot.Progress{Max: end}
		}
	}
	return out
}

// pending is what may still land on queues of the topic (rocketmq.md 4.4): the
// delay levels, which mix all topics, from 28; the topic's messages in the timer
// wheel from 61; and the half messages, which are the end of their topic less
// the offset up to which the broker has settled them. All of it was asked before
// the ends of the queues, and it is as old as its oldest part. It shows what is
// seen, and proves nothing (rule R15): where timers or halves are kept outside
// these sources, Settings says so.
func (b *brokerPass) pending(topic string) snapshot.Fact[snapshot.Pending] {
	committed, known := b.committed.Get()
	if !known {
		return snapshot.Unknown[snapshot.Pending](b.committed.Why())
	}
	ends, known := b.levels.Get()
	if !known {
		return snapshot.Unknown[snapshot.Pending](b.levels.Why())
	}
	timers, known := b.timers.Get()
	if !known {
		return snapshot.Unknown[snapshot.Pending](b.timers.Why())
	}
	end, known := b.halfEnd.Get()
	if !known {
		return snapshot.Unknown[snapshot.Pending](b.halfEnd.Why())
	}
	halves := end - settled(committed)
	if halves < 0 {
		// The offset was read first, so it cannot have been passed in between.
		return snapshot.Unknown[snapshot.Pending](fmt.Sprintf(
			"%s counts %d more half messages settled than it has", b.broker.Name, -halves))
	}
	p := snapshot.Pending{
		Delay:        b.delays(ends),
		Timers:       timers[topic],
		TimersBehind: max(0, b.runtime.TimerReadBehind) + max(0, b.runtime.TimerOffsetBehind),
		Halves:       halves,
	}
	b.stamped.attribute(topic, &p)
	return snapshot.Known(p, b.committed.Origin())
}

// settled is how many half messages the broker has settled.
func settled(all rocketmq.CommittedOffsets) int64 {
	return all.Committed[names.HalfTopic][names.TransactionGroup][0]
}
