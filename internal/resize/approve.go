// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"hash/fnv"
)

// approvalID names a step so that an approval of it is good for exactly this
// target, these brokers as they show now, and this round.
func (p *pass) approvalID(kind StepKind) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s|%s|%d|%d", p.spec.Topic, kind, p.spec.Queues, p.next.Record.Reopened)
	for _, b := range p.brokers {
		if b.role != undeclared {
			fmt.Fprintf(h, "|%s=%v", b.name, b.shown)
		}
	}
	name := string(kind)
	if name == "" {
		name = "Accept"
	}
	return fmt.Sprintf("%s-%d-%08x", name, p.spec.Queues, h.Sum32())
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
	if !p.spec.FirstSight && p.spec.Mode != ModeApprove {
		return true
	}
	if p.approved(stage, kind) {
		return true
	}
	p.d.Approval.Proof = proof
	if p.spec.FirstSight {
		return !p.hold(stage, Hold{Reason: ReasonAdoptedLarger, Queue: NoQueue,
			Why: fmt.Sprintf("the topic was found with read %d and write %d, and %d are declared; it stays larger until the spec is edited or %s is approved",
				p.d.Proof.Read, p.d.Proof.Write, p.spec.Queues, p.d.Approval.ID)})
	}
	return !p.hold(stage, Hold{Reason: ReasonAwaitingApproval, Queue: NoQueue, Why: p.d.Approval.ID})
}
