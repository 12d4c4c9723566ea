// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"hash/fnv"
	"time"
)

// approvalID names a step so that an approval of it is good for exactly this
// change, this target, these brokers as they show now, and this round: one that
// was given for an earlier change with the same counts does nothing.
func (p *pass) approvalID(kind StepKind) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s|%s|%d|%d|%d|%d", p.spec.Topic, kind, p.spec.Queues, p.spec.Generation,
		p.started().UnixNano(), p.reopened())
	for _, b := range p.brokers {
		shown := b.shown
		if b.role == leaving && kind == StepDeleteFromBroker {
			shown.Perm = 0 // taking the topic from readers and deleting it are approved as one
		}
		if b.role != undeclared {
			fmt.Fprintf(h, "|%s=%v", b.name, shown)
		}
	}
	name := string(kind)
	if name == "" {
		name = "Accept"
	}
	return fmt.Sprintf("%s-%d-%08x", name, p.spec.Queues, h.Sum32())
}

// started is when the present change began, or would begin with this pass.
func (p *pass) started() time.Time {
	if p.prev.Record.Stage == StageSteady {
		return p.now
	}
	return p.prev.Record.Started
}

// reopened is how often reads were opened again in the present change.
func (p *pass) reopened() int {
	if p.prev.Record.Stage == StageSteady {
		return 0
	}
	return p.next.Record.Reopened
}

// approved reports whether the user approved the step as it stands, and offers
// the approval when not.
func (p *pass) approved(_ Stage, kind StepKind) bool {
	id := p.approvalID(kind)
	if p.spec.Approved == id {
		return true
	}
	p.d.Approval = &Approval{ID: id, Step: kind}
	return false
}

// mayCut holds a step that takes something away until it may: first sight
// never shrinks (rule K02), and Mode Approve waits for a person.
func (p *pass) mayCut(stage Stage, kind StepKind, proof string) bool {
	first := p.spec.FirstSight && !p.skip.firstSight
	if !first && (p.spec.Mode != ModeApprove || p.skip.approval) {
		return true
	}
	if p.approved(stage, kind) {
		return true
	}
	p.d.Approval.Proof = proof
	if first {
		return !p.hold(stage, Hold{Reason: ReasonAdoptedLarger, Queue: NoQueue,
			Why: fmt.Sprintf("the topic was found with read %d and write %d, and %d are declared; it stays larger until the spec is edited or %s is approved",
				p.d.Proof.Read, p.d.Proof.Write, p.spec.Queues, p.d.Approval.ID)})
	}
	return !p.hold(stage, Hold{Reason: ReasonAwaitingApproval, Queue: NoQueue, Why: p.d.Approval.ID})
}
