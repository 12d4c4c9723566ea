// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"maps"
	"slices"
)

func (p *pass) validSpec() bool {
	switch n := p.spec.Queues; {
	case n < 1:
		return p.hold(p.lastStage(), Hold{Reason: ReasonInvalidSpec, Queue: NoQueue,
			Why: fmt.Sprintf("%d queues per broker asked; at least 1 is needed, with 0 producers see no queue", n)})
	case n > MaxQueues:
		return p.hold(p.lastStage(), Hold{Reason: ReasonInvalidSpec, Queue: NoQueue,
			Why: fmt.Sprintf("%d queues per broker asked; at most %d are planned for", n, MaxQueues)})
	}
	return false
}

// usableLook asks for another look when this one began before the last step
// was over, is old, or is of another topic (rules R01, R02).
func (p *pass) usableLook() bool {
	l := &p.next.Lived
	p.jumped()
	old := p.now.Sub(p.look.Finished) > p.t.MaxGap || p.look.Finished.After(p.now)
	early := !p.skip.moments && !p.look.Started.After(l.Barrier) && !l.Barrier.IsZero()
	if p.look.Topic != p.spec.Topic || old || early {
		return p.step(p.lastStage(), Step{Kind: StepFreshLook})
	}
	return false
}

// knownWorld takes in every broker and route that takes part. One unknown
// answer stops everything: unknown unlocks nothing.
func (p *pass) knownWorld() bool {
	var holds, gone []Hold
	names := p.spec.Placement
	if names == nil {
		names = slices.Collect(maps.Keys(p.look.Brokers))
	}
	roles := map[string]role{}
	for name := range p.look.Brokers {
		roles[name] = undeclared
	}
	for _, name := range p.remembered() {
		roles[name] = leaving
	}
	for _, name := range names {
		roles[name] = declared
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		b := &broker{name: name, role: roles[name], seen: p.look.Brokers[name]}
		if h, ok := p.takeIn(b); ok {
			p.brokers = append(p.brokers, b)
		} else if b.role == leaving && h.Reason == ReasonMasterMissing {
			gone = append(gone, h)
		} else if b.role != undeclared {
			holds = append(holds, h)
		}
	}
	holds = append(holds, p.missing(gone)...)
	if len(names) == 0 {
		holds = append(holds, Hold{Reason: ReasonMasterMissing, Queue: NoQueue, Why: "no name server shows a broker of the cluster"})
	}
	holds = append(holds, p.knownRoutes()...)
	for _, b := range p.with(undeclared, func(b *broker) bool { return b.shown.Present }) {
		p.d.Findings = append(p.d.Findings, Hold{Reason: FindingUndeclaredBroker, Broker: b.name, Queue: NoQueue,
			Why: "has the topic although the spec never placed it there; it is left alone"})
	}
	for _, name := range p.look.Foreign {
		p.d.Findings = append(p.d.Findings, Hold{Reason: FindingForeignBroker, Broker: name, Queue: NoQueue,
			Why: "is in the route but not in this cluster; it is left alone"})
	}
	p.d.Proof.Brokers = len(names)
	p.showCounts()
	stage := p.lastStage()
	if stage == StageSteady && len(gone) > 0 {
		stage = StageClosingBroker // so that what is offered for approval keeps its name
	}
	return p.hold(stage, holds...)
}

// takeIn reads what a broker shows, or says why that is not known.
func (p *pass) takeIn(b *broker) (Hold, bool) {
	unknown := func(r Reason, why string) (Hold, bool) {
		return Hold{Reason: r, Broker: b.name, Queue: NoQueue, Why: why}, false
	}
	master, ok := b.seen.Master.Get()
	if !ok {
		return unknown(ReasonMasterMissing, b.seen.Master.Why())
	}
	stored, ok := b.seen.Config.Get()
	if !ok {
		return unknown(ReasonUnknown, b.seen.Config.Why())
	}
	from := b.seen.Config.Origin()
	if from.Sent.Before(p.look.Started) && !p.skip.moments {
		return unknown(ReasonUnknown, "its config was not asked for in this look")
	}
	if !p.skip.answers && (from.From.Name != b.name || from.From.BrokerID != 0 || from.From.Address != master) {
		return unknown(ReasonUnknown, fmt.Sprintf("the answer came from %s, which is not its master", from.From.Address))
	}
	b.process = from.From
	if stored.Present {
		b.config = stored.Config
		b.shown = Shown{Present: true, Read: b.config.ReadQueues, Write: b.config.WriteQueues, Perm: b.config.Perm}
	}
	return Hold{}, true
}

// knownRoutes holds while a name server did not answer, is warming up, or
// shows another master than the one that was asked (rule R03, cases A15, O25).
func (p *pass) knownRoutes() []Hold {
	var holds []Hold
	at := func(server string, r Reason, why string) {
		holds = append(holds, Hold{Reason: r, Broker: server, Queue: NoQueue, Why: why})
	}
	if len(p.servers) == 0 {
		at("", ReasonUnknown, "no name server was asked for the route")
	}
	for _, server := range p.servers {
		if why := p.look.WarmUp[server]; why != "" && !p.skip.warmUp {
			at(server, ReasonNameServerWarmUp, why)
		}
		fact := p.look.Routes[server]
		route, ok := fact.Get()
		if !ok {
			at(server, ReasonUnknown, fact.Why())
			continue
		}
		if fact.Origin().Sent.Before(p.look.Started) && !p.skip.moments {
			at(server, ReasonUnknown, "its route was not asked for in this look")
		}
		for _, b := range p.brokers {
			if m, listed := route.Masters[b.name]; listed && b.role != undeclared && m != b.process.Address && !p.skip.differ {
				at(server, ReasonNameServersDiffer, fmt.Sprintf("routes %s to %q, but its master is %s", b.name, m, b.process.Address))
			}
		}
	}
	return holds
}

// routed reports whether a name server shows exactly what the broker shows.
func (p *pass) routed(server string, b *broker) bool {
	route, ok := p.look.Routes[server].Get()
	if !ok {
		return false
	}
	q, listed := route.Queues[b.name]
	if !b.shown.Present {
		return !listed || hidden(q.Perm) // no client uses such a route (rule R14, case O35)
	}
	// A broker masks what it registers with its own permission, where that is
	// not read and write (rocketmq.md 3.2).
	masked := b.shown.Perm
	if settings, known := b.seen.Settings.Get(); known {
		masked &= settings.Permission
	}
	return listed && q.Read == b.shown.Read && q.Write == b.shown.Write && (q.Perm == b.shown.Perm || q.Perm == masked)
}

// routeHolds names every name server that does not show what brokers show.
func (p *pass) routeHolds() []Hold {
	var holds []Hold
	for _, server := range p.servers {
		behind := 0
		for _, b := range p.brokers {
			if b.role == undeclared || p.routed(server, b) {
				continue
			}
			behind++
			route, _ := p.look.Routes[server].Get()
			q, listed := route.Queues[b.name]
			shows := "nothing"
			if listed {
				shows = Shown{Present: true, Read: q.Read, Write: q.Write, Perm: q.Perm}.String()
			}
			holds = append(holds, Hold{Reason: ReasonRouteBehind, Broker: server, Queue: NoQueue,
				Why: fmt.Sprintf("routes %s with %s; the broker has %s", b.name, shows, b.shown)})
		}
		if behind == 0 {
			p.d.Proof.Routed++
		}
	}
	return holds
}

func (p *pass) showCounts() {
	for _, b := range p.brokers {
		if b.role == declared {
			p.d.Proof.Read = max(p.d.Proof.Read, b.shown.Read)
			p.d.Proof.Write = max(p.d.Proof.Write, b.shown.Write)
		}
	}
}
