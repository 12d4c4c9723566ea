// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"time"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Plan decides the one next step towards the spec, or says what holds it. It
// is deterministic, keeps nothing, and never changes its arguments. The look
// must be of the spec's topic; now must come from the clock that stamped it.
func Plan(spec Spec, progress Progress, look snapshot.TopicLook, now time.Time) Decision {
	return plan(spec, progress, look, now, skips{})
}

// skips leaves proofs out. Only tests set one, to show that the model finds
// the loss that follows.
type skips struct {
	moments, fresh, routes, age, still, pending, drain, offline bool
	dispatch, seeds, lateSeeds, watch, base, process, waivers   bool
	closed, invisible, leaveWindow, door, hide, stale, stranded bool
	busy, order, approval, firstSight, history, store, refused  bool
	foreign, beyond, pullOnly, broadcast, warmUp, differ        bool
	answers, lostTail, entries, orderConf, jumps, gap, atWork   bool
	closing, readers, others                                    bool
}

// plan is Plan with proofs left out. The order of the phases is the order of
// what matters: the invariant, then what is in danger, then what is wanted.
func plan(spec Spec, progress Progress, look snapshot.TopicLook, now time.Time, skip skips) Decision {
	p := newPass(spec, progress, look, now, skip)
	phases := p.phases()
	if spec.Closing && !skip.closing {
		phases = p.closing()
	}
	for _, phase := range phases {
		if phase() {
			break
		}
	}
	return p.finish()
}

func (p *pass) phases() []func() bool {
	return []func() bool{
		p.validSpec,
		p.usableLook,
		p.knownWorld,
		p.refusedKinds,
		p.repair,
		p.foreignChange,
		p.live,
		p.reopen,
		p.create,
		p.addBrokers,
		p.narrowWrites,
		p.widenReads,
		p.widenWrites,
		p.openBrokers,
		p.orderConfig,
		p.closeBrokers,
		p.rescueLeaving,
		p.retire,
		p.rescue,
		p.watch,
	}
}

// closing are the phases while the object is being deleted: nothing is begun
// and nothing is taken away, the invariant is kept, and what was cut is watched
// to the end of its late window (rule R23).
func (p *pass) closing() []func() bool {
	return []func() bool{p.usableLook, p.knownWorld, p.repair, p.live, p.reopen, p.watch}
}
