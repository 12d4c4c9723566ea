// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// RetryChange is one write of a group's retry queue count on one broker's
// master.
type RetryChange struct {
	Broker, Group string
	// Expect is the count that the broker must still show, Want the one to be
	// written; every other field of the group is written back as read.
	Expect, Want int
	// Process is the broker process whose answers the decision rests on.
	Process snapshot.Process
}

// RetrySpec is a group's wanted number of retry queues.
type RetrySpec struct {
	// Group is the group's name.
	Group string
	// Spec is how its retry topic is changed; Queues is the wanted number. Topic
	// is set by PlanRetry, and so is Rescue, for nobody gives up failed messages.
	Spec
}

// PlanRetry decides the one next step that brings a group's retry topic and its
// retry queue count to the same number (case Q17). Brokers put a failed message
// into any queue below the group's count, whatever the topic has (rocketmq.md
// 4.4), so the topic is never smaller than the count: it grows before the count
// does, and shrinks, by all the stages of [Plan], after it.
//
// counts holds, by broker, the group's count as asked for in the look, or 0
// where the broker does not know the group; a broker that is missing is
// unknown. The look must be of the group's retry topic.
func PlanRetry(spec RetrySpec, counts map[string]snapshot.Fact[int], progress Progress, look snapshot.TopicLook, now time.Time) Decision {
	spec.Topic, spec.retryOf, spec.Rescue = names.RetryTopic(spec.Group), spec.Group, true
	// Brokers make the topic with the group's first member, as large as the count.
	spec.Placement = []string{}
	for name, b := range look.Brokers {
		if stored, known := b.Config.Get(); !known || stored.Present {
			spec.Placement = append(spec.Placement, name)
		}
	}
	slices.Sort(spec.Placement)
	nowhere := len(spec.Placement) == 0
	if nowhere {
		spec.Placement = nil
	}
	p := newPass(spec.Spec, progress, look, now, skips{})
	if p.validSpec() || p.usableLook() || p.knownWorld() || p.retryCounts(counts, true) {
		return p.finish()
	}
	if nowhere {
		if p.retryCounts(counts, false) {
			return p.finish()
		}
		p.atRest = true
		d := p.finish()
		d.InForce, d.AsDeclared = true, true
		return d
	}
	d := Plan(spec.Spec, progress, look, now)
	if d.Step.Kind != "" || !d.InForce {
		return d
	}
	// The topic takes and gives up to the wanted number: the count may follow.
	if p.retryCounts(counts, false) {
		return p.finish()
	}
	return d
}

// retryCounts narrows, or else widens, the group's count on every broker where
// it is not as wanted. Narrowing comes before anything is done to the topic.
func (p *pass) retryCounts(counts map[string]snapshot.Fact[int], narrow bool) bool {
	var holds []Hold
	s := Step{Kind: StepSetRetryQueues}
	for _, b := range p.brokers {
		fact, asked := counts[b.name]
		count, known := fact.Get()
		switch {
		case !asked || !known || fact.Origin().Sent.Before(p.look.Started) || !fact.Origin().From.Same(b.process):
			why := "it was not asked for in this look"
			if asked && !known {
				why = fact.Why()
			}
			holds = append(holds, Hold{Reason: ReasonUnknown, Broker: b.name, Group: p.spec.retryOf, Queue: NoQueue,
				Why: "its number of retry queues is not known: " + why})
			continue
		case count == 0: // the broker does not know the group
			continue
		case narrow && count <= p.spec.Queues, !narrow && count >= p.spec.Queues:
			continue
		}
		s.Retry = append(s.Retry, RetryChange{Broker: b.name, Group: p.spec.retryOf, Expect: count, Want: p.spec.Queues, Process: b.process})
	}
	stage := StageNarrowingWrites
	if !narrow {
		stage = StageWideningWrites
	}
	if p.hold(p.lastStage(), holds...) || len(s.Retry) == 0 {
		return p.done
	}
	if p.busy(stage) {
		return true
	}
	return p.step(stage, s)
}

// ownRetry reports whether the topic is the retry topic of the group that is
// planned for.
func (s Spec) ownRetry() bool {
	return s.retryOf != "" && s.Topic == names.RetryTopic(s.retryOf) &&
		names.ValidateGroup(s.retryOf) == nil && !toolGroup(s.retryOf)
}
