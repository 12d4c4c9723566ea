// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// create makes a topic that no broker has. A topic that some broker has grows
// instead (case Q12), so a first creation that was interrupted is finished
// the careful way.
func (p *pass) create() bool {
	s := Step{Kind: StepCreateTopic}
	for _, b := range p.brokers {
		if b.shown.Present {
			return false
		}
		if b.role == declared {
			s.Changes = append(s.Changes, BrokerChange{Broker: b.name, Process: b.process,
				Want: Shown{Present: true, Read: p.spec.Queues, Write: p.spec.Queues, Perm: p.spec.permission()}})
		}
	}
	return p.step(StageCreating, s)
}

// addBrokers creates the topic on declared brokers that lack it, closed to
// writers: nobody sends there until every known group is seeded (rule R14).
func (p *pass) addBrokers() bool {
	absent := p.with(declared, func(b *broker) bool { return !b.shown.Present })
	if len(absent) == 0 {
		return false
	}
	if !p.mayMove(StageAddingBroker) {
		return true
	}
	s := Step{Kind: StepCreateTopic}
	for _, b := range absent {
		s.Changes = append(s.Changes, BrokerChange{Broker: b.name, Process: b.process,
			Want: Shown{Present: true, Read: p.spec.Queues, Write: p.spec.Queues, Perm: p.doorOf(p.spec.permission())}})
	}
	return p.step(StageAddingBroker, s)
}

// doorOf is the permission that a broker is added with.
func (p *pass) doorOf(perm snapshot.Perm) snapshot.Perm {
	if p.skip.door {
		return perm
	}
	return closed(perm)
}

// closed is the permission without writers and with readers.
func closed(perm snapshot.Perm) snapshot.Perm {
	return perm&^(snapshot.PermWrite|snapshot.PermInherit) | snapshot.PermRead
}

// openBrokers lets writers in on declared brokers that are closed to them,
// once every known group has an entry on every queue there. Where the spec
// wants a topic without writers, or readers, it takes the bit away.
func (p *pass) openBrokers() bool {
	wanted := p.spec.permission() & snapshot.PermReadWrite
	wrong := p.with(declared, func(b *broker) bool { return b.shown.Perm&snapshot.PermReadWrite != wanted })
	if len(wrong) == 0 {
		return false
	}
	if !p.mayMove(StageAddingBroker) {
		return true
	}
	var needs []span
	s := Step{Kind: StepSetPermission}
	for _, b := range wrong {
		if wanted.Writable() && !b.shown.Perm.Writable() {
			needs = append(needs, span{b, 0, b.highest()})
		}
		want := b.shown
		want.Perm = wanted
		s.Changes = append(s.Changes, b.change(want))
	}
	if len(needs) > 0 && (p.seed(StageAddingBroker, needs) || p.awaitReaders(StageAddingBroker)) {
		return true
	}
	return p.step(StageAddingBroker, s)
}

// closeBrokers closes brokers that left the spec to writers. The write count
// stays, for it may never be below 1; the permission keeps producers away
// through the route (rocketmq.md 4.1).
func (p *pass) closeBrokers() bool {
	open := p.with(leaving, func(b *broker) bool { return b.shown.Present && b.shown.Perm.Writable() })
	if len(open) == 0 {
		return false
	}
	left := p.with(declared, func(b *broker) bool { return b.shown.Perm.Writable() })
	if len(left) == 0 && p.spec.permission().Writable() {
		return p.hold(StageClosingBroker, Hold{Reason: ReasonNoBroker, Queue: NoQueue,
			Why: "no declared broker takes writes yet, so none may be closed"})
	}
	for _, server := range p.servers {
		for _, b := range left {
			if !p.skip.others && !p.routed(server, b) {
				return p.hold(StageClosingBroker, Hold{Reason: ReasonRouteBehind, Broker: server, Queue: NoQueue,
					Why: fmt.Sprintf("does not route %s as it is yet; producers need it before others are closed", b.name)})
			}
		}
	}
	proof := fmt.Sprintf("%s closed to producers; readers stay until everything is drained and the late window is over", brokers(len(open)))
	if !p.mayShrink(StageClosingBroker) || !p.mayCut(StageClosingBroker, StepSetPermission, proof) {
		return true
	}
	s := Step{Kind: StepSetPermission}
	for _, b := range open {
		want := b.shown
		want.Perm = closed(b.shown.Perm)
		s.Changes = append(s.Changes, b.change(want))
	}
	return p.step(StageClosingBroker, s)
}
