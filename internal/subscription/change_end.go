// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// rollout waits until all members are proven to have the target, or all are
// back on what they had, or time is over.
func (c *change) rollout() bool {
	n := c.note()
	if n.Agreed == nil {
		return false
	}
	there := c.arrived(n.Target)
	back := len(c.arrived(n.Previous)) == 0
	changing := !n.Target.Equal(n.Previous)
	switch {
	case len(there) == 0:
		n.Ending = Done
	case back && changing && n.Moved:
		n.Ending = RolledBack
	case back && changing && c.now.Sub(n.Started) > c.spec.startTimeout():
		n.Ending = NotStarted
	case c.agreed() != nil && c.now.Sub(n.Started) > c.spec.startTimeout() && len(c.arrived(c.agreed())) == 0:
		n.Ending = Elsewhere
	default:
		n.Ending = ""
		if c.expired() {
			return c.deadline(there)
		}
		return c.hold(StageRollout, there...)
	}
	return false
}

// arrived says what is missing for all members to have a subscription: that
// they are proven to, that no pod of an older template is left, terminating
// ones included, and that every table is theirs (rule R32).
func (c *change) arrived(set Set) []Hold {
	var holds []Hold
	add := func(r Reason, n int64, format string, args ...any) {
		holds = append(holds, Hold{Reason: r, Count: n, Sentence: fmt.Sprintf(format, args...)})
	}
	agreed := c.agreed()
	switch {
	case agreed != nil && agreed.Equal(set):
	case c.nobody() && c.stopped():
		return append(holds, c.w.holds...)
	case c.nobody():
		add(HoldMembers, 0, "no member is connected yet")
	case c.rep.MembersAgree.Now == False:
		add(HoldMixed, int64(c.rep.Members-c.rep.Agreeing), "%s", c.rep.MembersAgree.NowSentence)
	case agreed == nil:
		add(HoldMembers, 0, "%s", c.rep.MembersAgree.NowSentence)
	default:
		add(HoldRollout, int64(c.rep.Members), "all %d members read %s, and %s is awaited", c.rep.Members, agreed, set)
	}
	if len(c.ask.Workloads) > 0 {
		holds = append(holds, c.workloads()...)
		holds = append(holds, c.oldPods()...)
	}
	if c.rep.BrokersHold.Now != True {
		add(HoldTables, 0, "%s", c.rep.BrokersHold.NowSentence)
	}
	return append(holds, c.w.holds...)
}

// oldPods names pods of a referenced workload that are not of its present
// template, and those that go.
func (c *change) oldPods() []Hold {
	pods, _ := c.ask.Pods.Get()
	var holds []Hold
	for _, w := range c.ask.Workloads {
		revisions, total, left, first := map[string]bool{}, 0, 0, ""
		for i := range pods {
			p := &pods[i]
			if p.Owner != w.Ref || !p.Gone.IsZero() {
				continue
			}
			total++
			revisions[p.Revision] = true
			if w.Revision != "" && p.Revision != w.Revision || p.Terminating {
				if left++; first == "" {
					first = p.Name
				}
			}
		}
		switch {
		case left > 0:
			holds = append(holds, Hold{Reason: HoldOldPods, Count: int64(left), Sentence: fmt.Sprintf("%s: waiting for %d of %d pods to be replaced, such as %s", w.Ref, left, total, first)})
		case len(revisions) > 1 || w.Rolling:
			holds = append(holds, Hold{Reason: HoldRollout, Count: int64(total), Sentence: fmt.Sprintf("the rollout of %s has not ended", w.Ref)})
		}
	}
	return holds
}

// stopped reports that the referenced workloads are known to have no pod and
// to want none.
func (c *change) stopped() bool {
	pods, known := c.ask.Pods.Get()
	if !known || len(c.ask.Workloads) == 0 {
		return false
	}
	for _, w := range c.ask.Workloads {
		if !w.Known || w.Replicas > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(pods, func(p Pod) bool { return p.Gone.IsZero() && c.exam.referenced(&p) })
}

// expired reports that a fence is over its time.
func (c *change) expired() bool {
	f := c.note().Fence
	return f != nil && c.now.Sub(f.Since) > c.spec.maxPause()
}

// deadline does what the spec says of a fence that is over its time (R34).
func (c *change) deadline(why []Hold) bool {
	n := c.note()
	id := fmt.Sprintf("lift-%s-%d", Hash(n.Target), n.Fence.Since.Unix())
	c.d.Choice = &Choice{ID: id, Sentence: "lift the fence now; what members that differ skip from then on is lost"}
	switch {
	case c.spec.OnTimeout == LiftFence || c.spec.Accepted == id:
		n.Ending = Lifted
		return c.startLift()
	case c.spec.OnTimeout == LiftAndRewind:
		n.Other = true
		return c.startLift()
	}
	c.hold(StageStalled, why...)
	c.d.Holds = append([]Hold{{Reason: HoldMixed, Until: n.Fence.Since.Add(c.spec.maxPause()),
		Sentence: fmt.Sprintf("consumption of %s has been stopped for %d s, longer than the %d s that it may, with about %d messages waiting; it stays so until all members agree or a person accepts to lift it",
			c.spec.Group, int(c.now.Sub(n.Fence.Since).Seconds()), int(c.spec.maxPause().Seconds()), c.backlog())}}, c.d.Holds...)
	return true
}

// backlog is how many messages wait.
func (c *change) backlog() int64 {
	var n int64
	for name, topics := range c.w.offsetsOrNone() {
		for topic, queues := range topics {
			for q, at := range queues {
				n += max(0, c.w.ends[name][topic][q].Max-max(at, c.w.ends[name][topic][q].Min))
			}
		}
	}
	return n
}

// settle ends a change whose members are where they should be: it sets back
// what was consumed under other filters, under a fence, and lifts it.
func (c *change) settle() bool {
	n := c.note()
	if n.Ending == "" || n.Agreed == nil {
		return false
	}
	if !n.Other && n.Fence == nil && n.Ending != Done {
		c.end(n.Ending) // nobody ever read anything else
		return true
	}
	if !n.Other && n.Fence == nil && c.agreed() != nil && c.agreed().Equal(n.Previous) {
		c.end(n.Ending)
		return true
	}
	queues, messages, expired := c.above()
	c.d.Redeliver = messages
	if expired > 0 {
		c.find(FindingExpired, expired, "%d messages that were noted have expired meanwhile; the group goes back to what still exists", expired)
	}
	if n.Fence != nil && !n.Other && len(queues) > 0 {
		n.Other = true
		c.find(FindingBeyondNote, messages, "offsets moved by %d messages under the fence, so it goes on as a rewind (R31)", messages)
	}
	if c.nobody() {
		return c.setBack(queues, messages)
	}
	if n.Fence == nil {
		if _, h := c.method(); h != nil {
			return c.hold(StageRewinding, *h)
		}
		n.Fence = &FenceNote{Since: c.now, Brokers: slices.Clone(c.w.brokers), Short: true}
		return c.fence()
	}
	if len(queues) == 0 {
		return c.startLift()
	}
	return c.rewind(queues, messages)
}

// setBack commits offsets for a group that has no member.
func (c *change) setBack(queues []QueueOffset, messages int64) bool {
	n := c.note()
	switch {
	case len(queues) > 0:
		if !c.fresh(StageRewinding) {
			return true
		}
		c.announce(messages)
		return c.step(StageRewinding, Step{Kind: StepSetOffsets, Queues: queues, NotAfter: c.notAfter()})
	case n.Fence != nil:
		return c.startLift()
	}
	c.end(n.Ending)
	return true
}

func (c *change) announce(messages int64) {
	c.find(FindingRedeliver, messages, "the group is set back to %s: about %d messages are delivered again", c.note().Agreed.At.UTC().Format("15:04:05"), messages)
	c.next.Record.Redelivered = max(c.next.Record.Redelivered, messages)
}

// serverSide is the first version whose clients take a reset that the broker
// carries out at once; older ones can lose it again (live 10.1).
const serverSide = 453 // 5.2.0

// method says how each broker's offsets can be set back: true where the
// broker does it itself. A hold says why it cannot be done, and what helps.
func (c *change) method() (map[string]bool, *Hold) {
	out := map[string]bool{}
	for _, name := range c.w.brokers {
		b := c.ask.Look.Brokers[name]
		if len(c.w.offsetsOrNone()[name]) == 0 && c.w.offsets != nil {
			continue
		}
		itself, known := b.Resets.Get()
		if !known {
			return nil, &Hold{Reason: HoldUnknown, Broker: name, Sentence: fmt.Sprintf("whether %s carries out resets is not known: %s", name, b.Resets.Why())}
		}
		out[name] = itself
		for _, m := range c.exam.counted {
			switch {
			case m.Broadcast:
				return nil, &Hold{Reason: HoldBroadcast, Sentence: m.name() + " broadcasts: its offsets are its own and cannot be set back"}
			case itself && !m.Pop && m.Version < serverSide:
				return nil, &Hold{Reason: HoldOldClients, Broker: name, Sentence: fmt.Sprintf("%s is a client older than 5.2.0 (or one that does not tell), which can lose a reset on %s; upgrade it, or scale the workload to 0: offsets are then set back exactly", m.name(), name)}
			case !itself && m.Pop:
				return nil, &Hold{Reason: HoldOldClients, Broker: name, Sentence: fmt.Sprintf("%s takes messages, and %s cannot set such a group back while it has members; scale the workload to 0: offsets are then set back exactly", m.name(), name)}
			}
		}
	}
	return out, nil
}

// rewind sets back, under the fence, what is above the note; what a reset did
// not bring down is set back again (live 10.4).
func (c *change) rewind(queues []QueueOffset, messages int64) bool {
	n, l := c.note(), &c.next.Lived
	method, h := c.method()
	if h != nil {
		if c.expired() {
			return c.deadline([]Hold{*h})
		}
		return c.hold(StageRewinding, *h)
	}
	times := map[string]map[string]QueueOffset{}
	var exact []QueueOffset
	for _, q := range queues {
		if method[q.Broker] {
			exact = append(exact, q)
			continue
		}
		if times[q.Broker] == nil {
			times[q.Broker] = map[string]QueueOffset{}
		}
		times[q.Broker][q.Topic] = q
	}
	if wait := c.t.Retry * time.Duration(len(times)); len(exact) == 0 && !l.reset.IsZero() && c.now.Sub(l.reset) < wait {
		return c.hold(StageRewinding, Hold{Reason: HoldRewind, Count: int64(len(queues)), Until: l.reset.Add(wait),
			Sentence: fmt.Sprintf("%d queues are not back yet; members take 10 s on each broker", len(queues))})
	}
	if c.expired() && n.Resets > 3 {
		return c.deadline([]Hold{{Reason: HoldRewind, Count: int64(len(queues)), Sentence: fmt.Sprintf("%d queues do not go back, after %d resets", len(queues), n.Resets)}})
	}
	if !c.fresh(StageRewinding) {
		return true
	}
	c.announce(messages)
	l.reset, l.still = c.now, stillness{}
	n.Resets++
	if len(exact) > 0 {
		return c.step(StageRewinding, Step{Kind: StepRewindQueues, Queues: exact, NotAfter: c.notAfter()})
	}
	s := Step{Kind: StepRewindTopics, NotAfter: c.notAfter()}
	for _, broker := range slices.Sorted(maps.Keys(times)) {
		for _, topic := range slices.Sorted(maps.Keys(times[broker])) {
			s.Topics = append(s.Topics, TopicTime{Broker: broker, Topic: topic, To: c.timeOf(broker, topic), Process: times[broker][topic].Process})
		}
	}
	return c.step(StageRewinding, s)
}

// timeOf is the time of a reset: below what was last consumed where a queue
// was behind, else below the note, and earlier at each try, as clocks differ
// and the search is not exact (live 10.5).
func (c *change) timeOf(broker, topic string) time.Time {
	n := c.note()
	at := n.Agreed.At
	if t, behind := n.Agreed.Consumed[broker][topic]; behind && t.Before(at) {
		at = t
	}
	back := time.Millisecond
	for range n.Resets - 1 {
		back = max(back*10, 5*time.Second)
	}
	return at.Add(-min(back, 24*time.Hour))
}
