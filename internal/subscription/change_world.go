// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// world is what a look shows of brokers.
type world struct {
	brokers []string
	// open and closed are the replicas by consumeEnable; unknown says why others
	// are not known, missing names brokers that host a topic without the group.
	open, closed     []Switch
	unknown, missing []Hold
	// offsets are the committed offsets of every subscribed topic; nil while
	// holds say why they are not known.
	offsets *Offsets
	ends    map[string]map[string]map[int]snapshot.QueueOffsets
	holds   []Hold
	// entries holds queues that had messages and have no committed offset.
	entries []Hold
	process map[string]snapshot.Process
}

// topics are those that the change is about.
func (c *change) topics() []string {
	all := map[string]Filter{}
	for _, s := range []Set{c.spec.Target, c.note().Previous, c.note().Target, c.agreed()} {
		maps.Copy(all, s)
	}
	return slices.Sorted(maps.Keys(all))
}

func (c *change) look() world {
	w := world{process: map[string]snapshot.Process{}, ends: map[string]map[string]map[int]snapshot.QueueOffsets{},
		offsets: &Offsets{At: c.ask.Look.Started, Queues: map[string]map[string]map[int]int64{}, Consumed: map[string]map[string]time.Time{}}}
	w.brokers = slices.Sorted(maps.Keys(c.ask.Look.Brokers))
	if len(w.brokers) == 0 {
		w.unknown = append(w.unknown, Hold{Reason: HoldUnknown, Sentence: "no name server shows a broker of the cluster"})
		w.holds = w.unknown
	}
	for _, name := range w.brokers {
		hosted := c.offsetsOf(&w, name)
		c.replicas(&w, name, hosted)
	}
	if len(w.holds) > 0 {
		w.offsets = nil
	}
	return w
}

// replicas reads consumeEnable of every replica that is listed for a broker,
// slaves included (rule R31).
func (c *change) replicas(w *world, name string, hosted bool) {
	b := c.ask.Look.Brokers[name]
	master, known := b.Master.Get()
	unknown := func(format string, args ...any) {
		w.unknown = append(w.unknown, Hold{Reason: HoldUnknown, Broker: name, Sentence: fmt.Sprintf(format, args...)})
	}
	if !known {
		unknown("the master of %s is not known: %s", name, b.Master.Why())
	}
	if _, listed := b.Replicas[master]; known && !listed {
		unknown("the group's config on the master of %s was not asked for", name)
	}
	for _, address := range slices.Sorted(maps.Keys(b.Replicas)) {
		f := b.Replicas[address]
		stored, ok := f.Get()
		s := Switch{Broker: name, Address: address, Slave: address != master}
		if !s.Slave {
			s.Process = f.Origin().From
		}
		switch {
		case !ok:
			unknown("whether consumption is enabled on %s (%s) is not known: %s", name, address, f.Why())
		case f.Origin().Sent.Before(c.ask.Look.Started):
			unknown("the group's config on %s (%s) was not asked for in this look", name, address)
		case !stored.Present && hosted:
			w.missing = append(w.missing, Hold{Reason: HoldGroupMissing, Broker: name, Sentence: fmt.Sprintf("%s (%s) hosts a topic of the group but does not have the group", name, address)})
		case !stored.Present:
		case stored.Config.ConsumeEnable:
			w.open = append(w.open, s)
		default:
			w.closed = append(w.closed, s)
		}
	}
	masters := func(a, b Switch) int {
		return strings.Compare(fmt.Sprint(a.Slave, a.Broker), fmt.Sprint(b.Slave, b.Broker))
	}
	slices.SortStableFunc(w.open, masters)
	slices.SortStableFunc(w.closed, masters)
}

// offsetsOf reads the committed offsets of the subscribed topics that a broker
// hosts. A queue that never held a message begins at 0; one that did and has
// no entry is named (rule R35).
func (c *change) offsetsOf(w *world, name string) bool {
	b := c.ask.Look.Brokers[name]
	unknown := func(format string, args ...any) {
		w.holds = append(w.holds, Hold{Reason: HoldUnknown, Broker: name, Sentence: fmt.Sprintf(format, args...)})
	}
	hosted := map[string]int{}
	for _, topic := range c.topics() {
		f, asked := b.Topics[topic]
		stored, ok := f.Get()
		switch {
		case !asked:
			unknown("whether %s has %s was not asked", name, topic)
		case !ok:
			unknown("whether %s has %s is not known: %s", name, topic, f.Why())
		case stored.Present:
			hosted[topic] = stored.Config.ReadQueues
		}
	}
	if len(hosted) == 0 {
		return false
	}
	committed, ok1 := b.Committed.Get()
	ends, ok2 := b.Ends.Get()
	from := b.Committed.Origin()
	switch {
	case !ok1:
		unknown("committed offsets on %s are not known: %s", name, b.Committed.Why())
		return true
	case !ok2:
		unknown("ends of queues on %s are not known: %s", name, b.Ends.Why())
		return true
	case from.Sent.Before(c.ask.Look.Started):
		unknown("committed offsets on %s were not asked for in this look", name)
		return true
	}
	w.process[name], w.ends[name] = from.From, ends
	topics := map[string]map[int]int64{}
	for topic, read := range hosted {
		topics[topic] = map[int]int64{}
		for q := range read {
			at, has := committed[topic][q]
			end, asked := ends[topic][q]
			switch {
			case has:
				topics[topic][q] = at
			case !asked:
				unknown("the end of queue %d of %s on %s was not asked for", q, topic, name)
			case end.Max == 0:
				topics[topic][q] = 0
			default:
				w.entries = append(w.entries, Hold{Reason: HoldNoEntry, Broker: name, Topic: topic, Count: 1,
					Sentence: fmt.Sprintf("the group has no offset on queue %d of %s on %s, so it could not be set back there; its owner commits within a minute, and without an owner see the finding on unowned queues", q, topic, name)})
			}
		}
		if times, ok := b.Consumed.Get(); ok {
			if t, behind := times[topic]; behind {
				if w.offsets.Consumed[name] == nil {
					w.offsets.Consumed[name] = map[string]time.Time{}
				}
				w.offsets.Consumed[name][topic] = t
			}
		}
	}
	w.offsets.Queues[name] = topics
	return true
}

// above lists the queues whose committed offset is beyond the note, with the
// offset to set back to: the smaller of noted and present, but not below what
// still exists (live 10).
func (c *change) above() (queues []QueueOffset, messages, expired int64) {
	agreed := c.note().Agreed
	for _, name := range slices.Sorted(maps.Keys(c.w.offsets.Queues)) {
		for _, topic := range slices.Sorted(maps.Keys(c.w.offsets.Queues[name])) {
			present := c.w.offsets.Queues[name][topic]
			for _, q := range slices.Sorted(maps.Keys(present)) {
				noted, ok := agreed.Queues[name][topic][q]
				if !ok || present[q] <= noted {
					continue
				}
				to := noted
				if low := c.w.ends[name][topic][q].Min; to < low {
					expired += low - to
					to = low
				}
				if present[q] <= to {
					continue
				}
				queues = append(queues, QueueOffset{Broker: name, Topic: topic, Queue: q, To: to, From: present[q], Process: c.w.process[name]})
				messages += present[q] - to
			}
		}
	}
	return queues, messages, expired
}

// mixedPods reports that pods of a referenced workload are of more than one
// template, or that it rolls out.
func (c *change) mixedPods() bool {
	return len(c.exam.state.Rollouts) > 0
}
