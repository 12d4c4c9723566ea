// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"maps"
	"slices"
)

// rescue names messages on queues that nobody can read any more and that
// Lockstep did not retire, and makes them readable when the spec asks. From
// there the ordinary stages drain and narrow.
func (p *pass) rescue() bool { return p.rescueOn(declared, StageRescuing) }

// rescueLeaving does the same where the topic is to be deleted, and holds the
// deletion until what is stranded there was rescued or given up.
func (p *pass) rescueLeaving() bool {
	return !p.skip.stranded && p.rescueOn(leaving, StageClosingBroker)
}

func (p *pass) rescueOn(of role, stage Stage) bool {
	var needs []span
	s := Step{Kind: StepWidenReads}
	var found []Hold
	for _, b := range p.with(of, func(b *broker) bool { return b.shown.Present }) {
		stranded, top := p.stranded(b)
		if len(stranded) == 0 {
			continue
		}
		found = append(found, stranded...)
		needs = append(needs, span{b, b.shown.Read, top + 1})
		want := b.shown
		want.Read = top + 1
		s.Changes = append(s.Changes, b.change(want))
	}
	p.d.Findings = append(p.d.Findings, found...)
	switch {
	case len(needs) == 0:
		return false
	case !p.spec.Rescue:
		return of == leaving && p.hold(stage, found...)
	case p.busy(stage) || p.seed(stage, needs):
		return true
	}
	return p.step(stage, s)
}

// stranded lists, by group, what lies unread beyond the read count of a
// broker, and the highest such queue. Queues under watch or proven drained by
// Lockstep are not stranded. A queue on which no group has an entry was never
// read by anybody.
func (p *pass) stranded(b *broker) ([]Hold, int) {
	o, unknown := p.offsets(b)
	if unknown != nil {
		return nil, 0 // said where a change needs it; a finding claims only what it knows
	}
	r := p.next.Record.Brokers[b.name]
	cut, watched := p.next.Note.Cuts[b.name]
	byGroup, givenUp := map[string][]owes{}, map[string]bool{}
	groups, _ := p.readers()
	for _, g := range groups {
		givenUp[g.Name] = p.waived(g)
	}
	expired := map[string]int64{}
	top := 0
	for queue, end := range o.queues {
		if queue < b.shown.Read || end.Max == end.Min || watched && queue < cut.From || queue >= r.ProvenLow && queue < r.ProvenHigh {
			continue
		}
		readers := 0
		add := func(group string, at int64) {
			if n := end.Max - max(at, end.Min); n > 0 && at <= end.Max {
				byGroup[group] = append(byGroup[group], owes{QueueRef{b.name, queue}, n})
				expired[group] += max(0, end.Min-at)
				top = max(top, queue)
			}
		}
		for group, entries := range o.committed {
			if at, has := entries[queue]; has && !toolGroup(group) {
				readers++
				if !givenUp[group] {
					add(group, at)
				}
			}
		}
		for _, g := range groups { // what goes with a broker has to be read by all
			clusters, _ := g.clustering()
			if _, has := o.committed[g.Name][queue]; !has && clusters && !givenUp[g.Name] && b.role == leaving {
				readers++
				add(g.Name, end.Min)
			}
		}
		if readers == 0 {
			add("", end.Min)
		}
	}
	var out []Hold
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		all := byGroup[group]
		slices.SortFunc(all, func(x, y owes) int { return x.ref.Queue - y.ref.Queue })
		h := Hold{Reason: FindingStranded, Broker: b.name, Group: group, Queue: NoQueue, Expired: expired[group]}
		for _, w := range all {
			h.Count += w.left
		}
		h.Where, h.More = worst(all)
		out = append(out, h)
	}
	return out, top
}
