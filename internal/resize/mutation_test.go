// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
)

// mutation leaves one proof out and is given a world, and few enough events,
// in which that is fatal.
type mutation struct {
	name   string
	skip   skips
	make   func() *run
	budget int
	moves  []move
}

func shrinking() *run { return small(2, 1, 12*time.Second, model.Classic) }

// pinned has a producer that never refreshes its route.
func pinned() *run {
	r := small(2, 1, 6*time.Second, model.Classic)
	r.w.Producers[0].Fixed = true
	return r
}

// unheard has no group with an entry on the retiring queues, which never held
// a message, and a producer that never refreshes.
func unheard() *run {
	r := pinned()
	for g := range r.w.Groups {
		for i := range r.w.Brokers {
			r.w.Groups[g].Committed[i][1] = model.None
		}
		r.w.Leave(g)
	}
	return r
}

// unhurried gives old routes a long life.
func unhurried() *run {
	r := shrinking()
	r.spec.Timings.RouteAge, r.w.RouteAge = 9*time.Second, 9*time.Second
	return r
}

// patient wants queues to stand still for longer than a look may be old.
func patient() *run {
	r := pinned()
	r.spec.Timings.Still = 4 * time.Second
	return r
}

// joinAfterCut brings group 1 back, once reads were cut. Before that a group
// without an entry may skip messages whatever Lockstep does.
var joinAfterCut = move{"group 1 joins", 1, func(r *run) {
	if r.cuts > 0 {
		r.w.Join(1)
	}
}}

// freezeCut stops the leader right before it sends a cut.
var freezeCut = move{"freeze", 0, func(r *run) {
	if r.next != nil && r.next.Step.Cuts() {
		r.freeze()
	}
}}

// waiving gives up group 1, which is online and stays so.
func waiving() *run {
	r := shrinking()
	r.waive(1)
	return r
}

// shrunkWithDelays is shrunk, where messages are delayed for long.
func shrunkWithDelays() *run {
	r := shrunk()
	r.w.LongestDelay, r.spec.LongestDelay = 12*time.Second, 12*time.Second
	return r
}

// strandedAndLeaving is stranded, and the broker leaves without a rescue.
func strandedAndLeaving() *run {
	r := stranded()
	r.spec.Rescue = false
	r.place("broker-b")
	return r
}

func growing() *run { return small(1, 2, 3*time.Second, model.Classic) }

// hang makes a name server unreachable, or reachable again with what it had.
func hang(s int) move {
	return move{"name server hangs or goes on", 1, func(r *run) {
		r.w.NameServers[s].Up = !r.w.NameServers[s].Up
		r.w.SeeLarger()
	}}
}

func mutations() []mutation {
	with := func(m ...move) []move { return append(m, act(0), act(1)) }
	return []mutation{
		{"R01_moments", skips{moments: true}, pinned, 2, with(faulty(model.Carried), send(0, 1, 1, false))},
		{"R01_process", skips{process: true}, shrinking, 2, with(restart(0, false))},
		{"R02_freshLook", skips{fresh: true}, pinned, 12, []move{freezeCut, {"wake", 1, wake.do}, send(0, 0, 1, false)}},
		{"R04_dispatch", skips{dispatch: true}, shrinking, 1, with(send(0, 0, 1, true))},
		{"R05_routeAge", skips{age: true}, unhurried, 0, with()},
		{"A15_routes", skips{routes: true}, shrinking, 2, with(hang(1))},
		{"Q18_stillness", skips{still: true}, patient, 1, with(send(0, 0, 1, false))},
		{"R15_pending", skips{pending: true}, shrinking, 1, with(late(0, 0, 1, false))},
		{"Q01_drain", skips{drain: true}, shrinking, 1, with(send(0, 0, 1, false))},
		{"Q21_offlineGroups", skips{offline: true}, shrinking, 2, with(send(0, 0, 1, false), away(1))},
		{"R20_waivers", skips{waivers: true}, waiving, 1, with(send(0, 0, 1, false))},
		{"R10_closed", skips{closed: true}, pinned, 1, with(late(0, 0, 1, true))},
		{"R11_watch", skips{watch: true}, pinned, 1, with(late(0, 0, 1, true))},
		{"R11_base", skips{base: true}, unheard, 1, []move{late(0, 0, 1, true)}},
		{"R12_seedsOfReopening", skips{lateSeeds: true}, unheard, 2, []move{late(0, 0, 1, true), joinAfterCut}},
		{"R12_seedsOfRepair", skips{seeds: true}, meddled, 2, with(send(0, 0, 1, false), away(1))},
		{"R10_leavingWindow", skips{leaveWindow: true}, shrunkWithDelays, 1, with(late(0, 1, 0, true))},
		{"R14_closedDoor", skips{door: true}, widened, 3, with(send(0, 1, 0, false), away(1))},
		{"Q23_oldOffsets", skips{stale: true}, stale, 2, with(send(0, 1, 0, false), away(1))},
		{"Q20_strandedWhereABrokerLeaves", skips{stranded: true}, strandedAndLeaving, 0, with()},
		{"R07_invisible", skips{invisible: true}, popping, 2, []move{pop(1), act(0), away(1), send(0, 0, 1, false)}},
		{"R12_seedsOfGrowth", skips{seeds: true}, growing, 4, with(send(0, 0, 1, false), away(1))},
	}
}

// stroll makes random walks from a world until something goes wrong, and says
// how many it took. Half of the moves are the operator's.
func stroll(make func() *run, skip skips, budget, walks int, moves []move) (string, int) {
	random := rand.New(rand.NewPCG(1, 2))
	for walk := range walks {
		r, left := make(), budget
		r.skip = skip
		for range 150 {
			m := move{"operate", 0, operate}
			if n := random.IntN(2 * len(moves)); n < len(moves) && moves[n].cost <= left {
				m = moves[n]
			}
			if m.cost > 0 && random.IntN(8) > 0 {
				continue // spread the events over the run
			}
			left -= m.cost
			m.do(r)
			if r.check(); r.bad != "" {
				return r.bad, walk + 1
			}
		}
	}
	return "", walks
}

// TestMutations_EachProofIsNeeded is the test of the tests: with one proof
// left out, the exploration must find what goes wrong; with none left out, the
// same exploration must find nothing.
func TestMutations_EachProofIsNeeded(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			found, walks := stroll(m.make, m.skip, m.budget, 3000, m.moves)
			t.Logf("found after %d walks: %s", walks, found)
			if found == "" {
				t.Errorf("leaving out the proof went unnoticed in %d walks", walks)
			}
			if found, _ := stroll(m.make, skips{}, m.budget, 300, m.moves); found != "" {
				t.Errorf("with every proof in place: %s", found)
			}
		})
	}
}
