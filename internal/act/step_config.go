// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// maxBrokers is how many brokers are written to at the same time.
const maxBrokers = 8

// configJob writes counts and permission. A step that cannot be carried out on
// one of its brokers is carried out on none: masters are all known, and every
// change is one that its kind may make.
func (a *Actor) configJob(order Order, until deadline) (job, error) {
	var j job
	var writes []write
	for _, c := range order.Step.Changes {
		master, err := a.master(order.Look, c.Broker)
		if err != nil {
			return job{}, err
		}
		if why := unfit(order.Step.Kind, c); why != "" {
			return job{}, &StepError{Kind: order.Step.Kind, Why: fmt.Sprintf("%s: %s", c.Broker, why)}
		}
		j.brokers = append(j.brokers, c.Broker)
		writes = append(writes, write{
			master: master, topic: order.Topic, process: c.Process, until: until,
			change: changing(order, c),
		})
	}
	if len(writes) == 0 {
		return job{}, &StepError{Kind: order.Step.Kind, Why: "it names no broker"}
	}
	j.run = func(ctx context.Context, out *Outcome) bool {
		results := make([]Result, len(writes))
		forEach(maxBrokers, writes, func(i int, w write) { results[i] = a.put(ctx, w) })
		out.Brokers = map[string]Result{}
		sent := false
		for i, w := range writes {
			out.Brokers[w.master.Name] = results[i]
			sent = sent || results[i].Sent
		}
		return sent
	}
	return j, nil
}

// unfit says why a change is not one that a step of its kind may make. The
// planner never asks for one; this is the last door before a broker that checks
// nothing itself (rocketmq.md 3.4).
func unfit(kind resize.StepKind, c resize.BrokerChange) string {
	e, w := c.Expect, c.Want
	only := func(read, write, perm bool) string {
		switch {
		case !e.Present || !w.Present:
			return "the topic must be there before and after"
		case !read && w.Read != e.Read:
			return "it must not change reads"
		case !write && w.Write != e.Write:
			return "it must not change writes"
		case !perm && w.Perm != e.Perm:
			return "it must not change the permission"
		}
		return ""
	}
	if w.Write < 1 || w.Read < w.Write {
		return fmt.Sprintf("%s breaks read >= write >= 1", w)
	}
	switch kind {
	case resize.StepCreateTopic:
		if e.Present || !w.Present {
			return "it creates a topic that is not there"
		}
	case resize.StepRepairReads, resize.StepWidenReads, resize.StepReopenReads:
		if w.Read < e.Read {
			return "it must not lower reads"
		}
		return only(true, false, false)
	case resize.StepWidenWrites:
		if w.Write < e.Write {
			return "it must not lower writes"
		}
		return only(false, true, false)
	case resize.StepNarrowWrites:
		if w.Write > e.Write {
			return "it must not raise writes"
		}
		return only(false, true, false)
	case resize.StepNarrowReads:
		if w.Read > e.Read {
			return "it must not raise reads"
		}
		return only(true, false, false)
	case resize.StepSetPermission:
		return only(false, false, true)
	}
	return ""
}

// changing is the change that a step makes of what a broker has at the moment
// of writing. It must still be what the step expects, or already what the step
// wants: a step whose answer was lost, or that another life of this operator
// sent, is not a foreign change (rule R18).
func changing(order Order, c resize.BrokerChange) func(snapshot.StoredTopic) (snapshot.TopicConfig, error) {
	return func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		found := shown(current)
		if found == c.Want {
			return current.Config, nil
		}
		if found != c.Expect {
			return snapshot.TopicConfig{}, &ForeignChangeError{
				Broker: c.Broker, Topic: order.Topic, Expect: c.Expect.String(), Found: describe(current),
			}
		}
		want := current.Config.Clone()
		if !current.Present {
			want = order.New.Clone()
			want.Name = order.Topic
		}
		want.ReadQueues, want.WriteQueues, want.Perm = c.Want.Read, c.Want.Write, c.Want.Perm
		return want, nil
	}
}
