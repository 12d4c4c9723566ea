// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// measure keeps count of what is left to drain and how fast it goes.
func (p *pass) measure(d drainage) {
	l := &p.next.Lived
	p.d.Proof.Unread = d.counts[:min(len(d.counts), MaxOdd)]
	p.d.Proof.UnreadTotal = d.total
	l.greatest = max(l.greatest, d.total)
	if l.greatest > 0 {
		p.d.Proof.Done = int(100 * (l.greatest - d.total) / l.greatest)
	}
	const kept = 12
	l.samples = append(l.samples, sample{p.now, d.total})
	l.samples = l.samples[max(0, len(l.samples)-kept):]
	first, last := l.samples[0], l.samples[len(l.samples)-1]
	if span, gone := last.at.Sub(first.at), first.left-last.left; span > 0 && gone > 0 && last.left > 0 {
		p.d.Remaining = time.Duration(float64(span) * float64(last.left) / float64(gone))
	}
}

// finish fills in what follows from the outcome, and what is remembered.
func (p *pass) finish() Decision {
	d := &p.d
	if p.atRest {
		d.Stage, d.LookAgain = StageSteady, p.t.IdleEvery
		for _, c := range p.next.Note.Cuts {
			if c.Over {
				d.LookAgain = p.t.KeepEvery
			}
		}
	}
	if d.LookAgain == 0 {
		d.LookAgain = p.t.LookEvery
	}
	d.Proof.Routed = 0
	behind := len(p.routeHolds())
	d.InForce = behind == 0 && len(p.servers) > 0 && p.asDeclared(func(s Shown) bool { return s.Write == p.spec.Queues })
	d.AsDeclared = d.InForce && p.atRest && p.asDeclared(func(s Shown) bool { return s.Read == p.spec.Queues })
	d.Open = d.Stage != StageSteady || len(p.next.Note.Leaving) > 0 || len(p.next.Note.openCuts()) > 0
	d.Omitted = max(0, len(d.Holds)-MaxOdd)
	d.Holds = d.Holds[:min(len(d.Holds), MaxOdd)]
	d.Findings = distinct(d.Findings)
	d.Findings = d.Findings[:min(len(d.Findings), MaxOdd)]
	p.remember()
	d.Next = p.next
	return *d
}

// asDeclared reports whether every declared broker is known, has the topic
// with the declared writers' permission, and passes the test.
func (p *pass) asDeclared(test func(Shown) bool) bool {
	n := 0
	for _, b := range p.brokers {
		if b.role != declared {
			continue
		}
		n++
		if !b.shown.Present || (b.shown.Perm^p.spec.permission())&snapshot.PermReadWrite != 0 || !test(b.shown) {
			return false
		}
	}
	return n > 0 && n == p.d.Proof.Brokers
}

// remember writes the record for the next call.
func (p *pass) remember() {
	r := &p.next.Record
	r.Target = p.spec.Queues
	if p.d.Stage != r.Stage {
		r.Since = p.now
	}
	if r.Stage == StageSteady && p.d.Stage != StageSteady {
		r.Started, r.Reopened, r.GivenUp, r.GivenUpTotal = p.now, 0, nil, 0
		p.next.Note.GivenUp = nil
		for name, b := range r.Brokers {
			b.From = b.Last
			r.Brokers[name] = b
		}
	}
	r.Stage = p.d.Stage
	if len(p.brokers) == 0 {
		return // nothing was looked at
	}
	r.Generation = p.spec.Generation
	if p.spec.FirstSight {
		return
	}
	placed := slices.Clone(r.Placed)
	for _, b := range p.brokers {
		at := slices.Index(placed, b.name)
		switch {
		case b.role == declared && b.shown.Present && at < 0:
			placed = append(placed, b.name)
		case b.role == leaving && !b.shown.Present && at >= 0 && p.routedNowhere(b):
			placed = slices.Delete(placed, at, at+1)
			delete(r.Brokers, b.name)
		}
	}
	slices.Sort(placed)
	r.Placed = placed
}

// routedNowhere reports whether no name server lists the broker any more; a
// route can outlive the topic on its broker (case O35).
func (p *pass) routedNowhere(b *broker) bool {
	for _, server := range p.servers {
		if !p.routed(server, b) {
			return false
		}
	}
	return true
}
