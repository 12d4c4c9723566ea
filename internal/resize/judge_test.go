// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// judgeStep checks what a decision may never do, whatever the world is like.
func (r *run) judgeStep(d Decision, look snapshot.TopicLook) {
	if r.skip != (skips{}) || !d.Step.Changing() {
		return
	}
	if what := unknownUnder(d, look); what != "" {
		r.violate(fmt.Sprintf("%s rests on unknown: %s", d.Step.Kind, what))
	}
	// Giving a taken read permission back is a repair.
	repairs := d.Step.Kind == StepSetPermission && d.Stage == StageRepairing
	if r.spec.Closing && !repairs && !slices.Contains([]StepKind{StepRepairReads, StepReopenReads, StepSetOffsets}, d.Step.Kind) {
		r.violate(fmt.Sprintf("%s while the object is being deleted", d.Step.Kind))
	}
	if r.spec.Mode == ModeApprove && takes(d.Step) && r.granted != d.Step.Kind {
		r.violate(fmt.Sprintf("%s without an approval in this change", d.Step.Kind))
	}
}

// takes reports whether a step takes queues or a broker away. A broker is hidden
// under the approval of its deletion.
func takes(s Step) bool {
	return s.Kind == StepNarrowWrites || s.Kind == StepNarrowReads || s.Kind == StepDeleteFromBroker ||
		s.Kind == StepSetPermission && s.Changes[0].Expect.Perm.Writable() && !s.Changes[0].Want.Perm.Writable()
}

// unknownUnder says what a changing step rests on that this look did not find
// out, in the order that makes a proof of it (rule R01).
func unknownUnder(d Decision, look snapshot.TopicLook) string {
	s := d.Step
	stale := func(o snapshot.Origin) bool { return o.Sent.Before(look.Started) }
	for server, route := range look.Routes {
		if !route.IsKnown() || stale(route.Origin()) {
			return "the route of " + server
		}
	}
	touched := map[string]bool{}
	for _, c := range s.Changes {
		touched[c.Broker] = true
	}
	for _, seed := range s.Seeds {
		touched[seed.Broker] = true
	}
	plain := s.Kind == StepNarrowWrites || s.Kind == StepCreateTopic || s.Kind == StepSetOrderConfig ||
		s.Kind == StepSetPermission && !hidden(s.Changes[0].Want.Perm) && !s.Changes[0].Want.Perm.Writable()
	for name := range touched {
		b := look.Brokers[name]
		if !b.Master.IsKnown() || !b.Config.IsKnown() || stale(b.Config.Origin()) {
			return "the config of " + name
		}
		// A turn-round rests on counts only: its queues were open when the change
		// began, and were never cut.
		_, cut := d.Next.Note.Cuts[name]
		turns := s.Kind == StepWidenWrites && !cut && d.Next.Record.Brokers[name].From.Write >= d.Next.Record.Target
		if plain || turns {
			continue
		}
		if !look.Groups.IsKnown() || stale(look.Groups.Origin()) {
			return "the groups"
		}
		committed, queues := b.Committed.Origin().Sent, b.Queues.Origin().Sent
		if !b.Committed.IsKnown() || !b.Queues.IsKnown() || committed.Before(look.Started) ||
			queues.Before(committed) || b.Config.Origin().Sent.Before(queues) {
			return "the offsets of " + name
		}
		if s.Cuts() && (!b.Runtime.IsKnown() || !b.Pending.IsKnown() || !b.Settings.IsKnown() || !b.Pulled.IsKnown()) {
			return "dispatch, late messages or settings of " + name
		}
	}
	return ""
}

// place edits the brokers that are to have the topic.
func (r *run) place(names ...string) {
	r.spec.Placement, r.ended, r.granted = names, false, ""
	r.spec.Generation++
	for i := range r.w.Brokers {
		b := &r.w.Brokers[i]
		b.Leaves = !slices.Contains(names, b.Name)
	}
	r.w.SeeLarger()
}

// approve lets a person approve what waits, if anything does.
func (r *run) approve() {
	if r.offered != nil && r.spec.Approved != r.offered.ID {
		r.spec.Approved, r.granted = r.offered.ID, r.offered.Step
	}
}
