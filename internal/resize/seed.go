// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

// span is a range of queue ids [low, high) on one broker.
type span struct {
	b         *broker
	low, high int
}

// seed asks for the offsets that are missing on the given queues, for every
// known group that has none there (rules R12, R13). It reports whether the
// pass is over: a step to set them, or a hold. When it returns false every
// known group was read back with an entry on every queue.
//
// An entry beyond the end is as good as none: brokers of 4.9 keep the offsets of
// a deleted topic, and a reader that begins there skips all that comes first
// (rocketmq.md 3.5, case Q23). On a queue that is new it is seeded over; where
// messages are, it holds until the user names the value (rule R06).
func (p *pass) seed(stage Stage, needs []span) bool {
	if p.skip.seeds {
		return false
	}
	groups, unknown := p.readers()
	if unknown != nil {
		return p.hold(stage, *unknown)
	}
	var seeds []Seed
	var holds []Hold
	waits := map[string]*Hold{}
	past := map[string][]owes{}
	for _, n := range needs {
		o, unknown := p.offsets(n.b)
		if unknown != nil {
			holds = append(holds, *unknown)
			continue
		}
		for queue := n.low; queue < n.high; queue++ {
			end, unknown := o.end(n.b, queue)
			if unknown != nil {
				holds = append(holds, *unknown)
				break
			}
			for _, g := range groups {
				at, has := o.committed[g.Name][queue]
				if has && (at <= end.Max || p.skip.stale) {
					continue
				}
				if has && end.Max > 0 {
					past[g.Name] = append(past[g.Name], owes{QueueRef{n.b.name, queue}, at - end.Max})
					continue
				}
				clustering, unknown := g.clustering()
				switch {
				case unknown != nil:
					holds = append(holds, *unknown)
				case !clustering:
				case queue >= n.b.shown.Read || !n.b.shown.Perm.Readable() || end.Max == 0 || g.absent:
					seeds = append(seeds, Seed{Group: g.Name, Broker: n.b.name, Queue: queue,
						Offset: p.seedAt(n.b, queue, end.Min, end.Max, o)})
				case p.skip.entries:
				default:
					// A live member may own the queue and would overwrite the
					// seed: it commits by itself (rule R35).
					wait(waits, g.Name, n.b.name, queue)
				}
			}
		}
	}
	var d drainage
	for _, g := range groups {
		if all := past[g.Name]; len(all) > 0 {
			p.beyond(&d, g, all)
		}
	}
	if len(d.seeds) > 0 {
		return p.step(seedStage(stage), Step{Kind: StepSetOffsets, Seeds: d.seeds, Vacant: d.vacant})
	}
	if holds = append(holds, d.other...); len(holds) > 0 {
		return p.hold(stage, distinct(holds)...)
	}
	if len(seeds) > 0 {
		return p.step(seedStage(stage), Step{Kind: StepSetOffsets, Seeds: seeds})
	}
	for _, g := range groups {
		if h := waits[g.Name]; h != nil {
			holds = append(holds, *h)
		}
	}
	return p.hold(stage, holds...)
}

// seedStage keeps the stage of what the seeds are for, except in a growth.
func seedStage(stage Stage) Stage {
	if stage == StageWideningReads || stage == StageWideningWrites || stage == StageAwaitingReaders {
		return StageSeeding
	}
	return stage
}

// seedAt is the offset from which a group without an entry must begin, so that
// it skips nothing the raise is for (rule R12). The present end is right only
// while nobody could send there: in a repair producers already do.
func (p *pass) seedAt(b *broker, queue int, low, high int64, o offsets) int64 {
	if high == 0 {
		return 0
	}
	if base, noted := p.prev.Note.Cuts[b.name].base(queue); noted && !p.skip.base {
		return min(base, high)
	}
	r := p.prev.Record.Brokers[b.name]
	if queue >= r.ProvenLow && queue < r.ProvenHigh && queue >= b.shown.Write {
		for _, entries := range o.committed {
			if at, has := entries[queue]; has && at < high {
				return low
			}
		}
		return high
	}
	return low
}

// clustering reports whether the group keeps its offsets on brokers. Broadcast
// groups do not and are never seeded (rule R21).
func (r reader) clustering() (bool, *Hold) {
	broadcast, known := r.Broadcast.Get()
	switch {
	case known:
		return !broadcast, nil
	case r.DeclaredBroadcast:
		return false, nil
	case r.absent:
		return true, nil
	}
	return false, &Hold{Reason: ReasonUnknown, Group: r.Name, Queue: NoQueue, Why: "whether its members broadcast is not known: " + r.Broadcast.Why()}
}

// wait adds a queue to the hold of a group.
func wait(holds map[string]*Hold, group, broker string, queue int) {
	h := holds[group]
	if h == nil {
		h = &Hold{Reason: ReasonNoEntry, Group: group, Queue: NoQueue}
		holds[group] = h
	}
	if len(h.Where) == MaxOdd {
		h.More++
		return
	}
	h.Where = append(h.Where, QueueRef{broker, queue})
}

// distinct drops repeated holds and keeps their order.
func distinct(holds []Hold) []Hold {
	seen := map[string]bool{}
	var out []Hold
	for _, h := range holds {
		if k := h.Long(); !seen[k] {
			seen[k] = true
			out = append(out, h)
		}
	}
	return out
}
