// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// repair raises reads wherever a broker shows more write than read queues
// (cases Q02, Q03): what lies in between is invisible to every consumer. The
// seeds go first, for nobody owns those queues yet (rule R12). It is no choice
// and asks for none.
func (p *pass) repair() bool {
	var needs []span
	var changes []BrokerChange
	for _, b := range p.brokers {
		if b.role == undeclared || !b.shown.Present || b.shown.Write <= b.shown.Read {
			continue
		}
		needs = append(needs, span{b, b.shown.Read, b.shown.Write})
		want := b.shown
		want.Read = b.shown.Write
		changes = append(changes, b.change(want))
		p.d.Findings = append(p.d.Findings, Hold{Reason: FindingReadBelowWrite, Broker: b.name, Queue: NoQueue,
			Why: fmt.Sprintf("has read %d below write %d: messages in queues %d to %d are invisible to consumers until reads are raised",
				b.shown.Read, b.shown.Write, b.shown.Read, b.shown.Write-1)})
	}
	if len(changes) == 0 {
		return p.restoreReads()
	}
	if p.seed(StageRepairing, needs) {
		return true
	}
	return p.step(StageRepairing, Step{Kind: StepRepairReads, Changes: changes})
}

// restoreReads gives declared brokers back the read permission that the spec
// wants and somebody took: what is sent there meanwhile nobody can read. Nobody
// owns those queues, so seeds go first here too.
func (p *pass) restoreReads() bool {
	var needs []span
	s := Step{Kind: StepSetPermission}
	for _, b := range p.with(declared, func(b *broker) bool { return b.shown.Present && !b.shown.Perm.Readable() }) {
		if !p.spec.permission().Readable() {
			continue
		}
		needs = append(needs, span{b, 0, b.highest()})
		want := b.shown
		want.Perm = b.shown.Perm&snapshot.PermWrite | snapshot.PermRead
		s.Changes = append(s.Changes, b.change(want))
		p.d.Findings = append(p.d.Findings, Hold{Reason: FindingUnreadable, Broker: b.name, Queue: NoQueue,
			Why: fmt.Sprintf("has permission %d: consumers cannot read the topic there until it is put back", b.shown.Perm)})
	}
	if len(needs) == 0 {
		return false
	}
	if p.seed(StageRepairing, needs) {
		return true
	}
	return p.step(StageRepairing, s)
}

// foreignChange follows what brokers show against what was last read back and
// what the last step asked for. In the middle of a change anything else stops
// it (rule R18); at rest it is drift, and the stages deal with it safely. The
// exit is to put the counts back, to edit the spec, or to approve.
func (p *pass) foreignChange() bool {
	stage := p.prev.Record.Stage
	changing := stage != StageSteady && stage != StageWatching
	accepted := p.spec.Generation != p.prev.Record.Generation
	var holds []Hold
	for _, b := range p.brokers {
		if b.role == undeclared {
			continue
		}
		r, seen := p.next.Record.Brokers[b.name]
		switch {
		case r.Sent.Present && b.shown == r.Sent:
			if r.Last != b.shown {
				r.Before, r.Last = r.Last, b.shown
			}
		case !seen, b.shown == r.Last, b.role == leaving && !b.shown.Present: // a deletion is what leaving goes to
			r.Last = b.shown
		case !changing, accepted:
			r = BrokerRecord{From: b.shown, Last: b.shown, ProvenLow: r.ProvenLow, ProvenHigh: r.ProvenHigh}
		case b.shown == r.Before: // an old state came back, such as a restart before the write was flushed
		default:
			holds = append(holds, Hold{Reason: ReasonForeignChange, Broker: b.name, Queue: NoQueue,
				Why: fmt.Sprintf("shows %s, which is neither the last read-back (%s) nor the one before: somebody else changed it; put it back, or edit the spec to go on from there", b.shown, r.Last)})
		}
		p.next.Record.Brokers[b.name] = r
	}
	if len(holds) > 0 && p.approved(StageSteady, "") {
		for _, b := range p.brokers {
			if b.role != undeclared {
				r := p.next.Record.Brokers[b.name]
				r.Last, r.Before, r.Sent = b.shown, Shown{}, Shown{}
				p.next.Record.Brokers[b.name] = r
			}
		}
		return false
	}
	return !p.skip.foreign && p.hold(p.lastStage(), holds...)
}
