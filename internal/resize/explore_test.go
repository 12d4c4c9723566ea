// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/resize/model"
)

// move is one thing that may happen next; its cost comes out of a budget.
type move struct {
	name string
	cost int
	do   func(*run)
}

// explorer visits every state that a small world can reach with a budget of
// events, depth first.
type explorer struct {
	moves   []move
	limit   int            // states, 0 for no limit
	best    map[uint64]int // the largest budget a state was visited with
	states  int
	edges   int
	ends    int // states at rest with nothing open
	lively  int // states from which the end was reached once faults stopped
	found   string
	trail   []string
	buffer  []byte
	capped  bool
	mutated bool // do not judge liveness
}

func explore(r *run, budget, limit int, mutated bool, moves []move) *explorer {
	e := &explorer{moves: moves, limit: limit, best: map[uint64]int{}, mutated: mutated}
	e.visit(r, budget)
	return e
}

// operate is the operator's own next move; a tick passes between its cycles.
func operate(r *run) {
	if r.looker == nil && r.next == nil {
		r.w.Tick(time.Second)
	}
	r.advance()
}

// operateWhole makes a whole look with its decision in one move, and each call
// in one. Nothing is persisted or sent while a look is made, so a crash in the
// middle of one is the same as a crash before it.
func operateWhole(r *run) {
	operate(r)
	for r.looker != nil {
		r.advance()
	}
}

func (e *explorer) visit(r *run, budget int) {
	if e.found != "" || e.capped {
		return
	}
	if r.bad != "" {
		e.found = r.bad + "\n" + strings.Join(e.trail, ", ")
		return
	}
	e.buffer = r.key(e.buffer[:0])
	sum := fnv.New64a()
	_, _ = sum.Write(e.buffer)
	h := sum.Sum64()
	had, seen := e.best[h]
	if seen && had >= budget {
		return
	}
	e.best[h] = budget
	if !seen {
		e.states++
		if e.capped = e.limit > 0 && e.states >= e.limit; e.capped {
			return
		}
		if !e.mutated && h%257 == 0 {
			e.judge(r)
		}
	}
	if r.ended {
		if what := r.w.Unreadable(); what != "" && r.spec.Rescue && !r.spec.Closing {
			e.found = "at the end " + what + "\n" + strings.Join(e.trail, ", ")
		}
		e.ends++
		return
	}
	for _, m := range e.moves {
		if m.cost > budget {
			continue
		}
		next := r.clone()
		e.edges++
		e.trail = append(e.trail, m.name)
		m.do(next)
		next.check()
		e.visit(next, budget-m.cost)
		e.trail = e.trail[:len(e.trail)-1]
	}
}

// judge lets faults stop at this state and asks for the end.
func (e *explorer) judge(r *run) {
	c := r.clone()
	c.seen = nil
	if bad := c.settleDown(); bad != "" {
		e.found = bad + "\n" + strings.Join(e.trail, ", ")
	}
	e.lively++
}

func (e *explorer) String() string {
	return fmt.Sprintf("%d states, %d moves, %d ends, liveness judged from %d, capped %v", e.states, e.edges, e.ends, e.lively, e.capped)
}

// ticking are timings of one tick each.
func ticking() Timings {
	s := time.Second
	return Timings{RouteAge: s, Still: s, Apart: s, Rebalance: s, Invisible: s,
		CutLookAge: s, MaxGap: 2 * s, LookEvery: s, WatchEvery: s, IdleEvery: s, KeepEvery: s}
}

// small is a world of 2 brokers, 2 groups and at most 3 queues.
func small(start, target int, delay time.Duration, second model.Kind) *run {
	w := model.New(epoch, 2, 2, start, 3)
	w.RouteAge, w.LongestDelay = ticking().RouteAge, delay
	w.AddGroup("CG_0", model.Classic, true)
	w.AddGroup("CG_1", second, true)
	w.AddProducer(false)
	r := &run{w: w, spec: Spec{Topic: model.Topic, Generation: 1, Queues: start, LongestDelay: delay, Timings: ticking()}}
	r.cycle()
	r.target(target)
	return r
}

// Moves by what they do; p, b, q and g are indexes.
func send(p, b, q int, undispatched bool) move {
	return move{fmt.Sprintf("send %d/%d", b, q), 1, func(r *run) { r.w.Send(p, b, q, undispatched) }}
}

func late(p, b, q int, hidden bool) move {
	return move{fmt.Sprintf("late %d/%d", b, q), 1, func(r *run) { r.w.SendLate(p, b, q, hidden) }}
}

func act(g int) move {
	return move{fmt.Sprintf("group %d acts", g), 0, func(r *run) { r.w.Rebalance(g); r.w.Consume(g); r.w.Commit(g) }}
}

// actAll lets both groups take their queues, finish everything and commit.
var actAll = move{"groups act", 0, func(r *run) { clients(r.w) }}

func away(g int) move {
	return move{fmt.Sprintf("group %d leaves or joins", g), 1, func(r *run) {
		if r.w.Groups[g].Online {
			r.w.Leave(g)
		} else {
			r.w.Join(g)
		}
	}}
}

func restart(b int, forgetful bool) move {
	return move{fmt.Sprintf("broker %d stops or starts", b), 1, func(r *run) {
		if r.w.Brokers[b].Up {
			r.w.Stop(b)
			return
		}
		r.foreign = r.foreign || forgetful
		r.w.Start(b, forgetful)
	}}
}

func server(s int) move {
	return move{fmt.Sprintf("server %d stops or starts", s), 1, func(r *run) {
		if r.w.NameServers[s].Up {
			r.w.StopServer(s)
			return
		}
		r.w.StartServer(s)
		for b := range r.w.Brokers {
			r.w.Register(b, s)
		}
	}}
}

func faulty(f model.Fault) move {
	return move{fmt.Sprintf("fault %d", f), 1, func(r *run) { r.fault = f }}
}

var (
	crash  = move{"crash", 1, (*run).crash}
	freeze = move{"freeze", 1, (*run).freeze}
	wake   = move{"wake", 0, func(r *run) { r.foreign = r.foreign || r.frozen != nil; r.wake() }}
	lost   = move{"lost write", 1, func(r *run) { r.lostWrite = true }}
	tick   = move{"tick", 1, func(r *run) { r.w.Tick(time.Second) }}
	jump   = move{"jump", 1, (*run).jumpBack}
)

func retarget(n int) move {
	return move{fmt.Sprintf("target %d", n), 1, func(r *run) { r.target(n) }}
}

// statesAllowed bounds an exploration; LOCKSTEP_EXPLORE_STATES raises it, and 0
// takes the bound away.
func statesAllowed(t *testing.T) int { return setting(t, "LOCKSTEP_EXPLORE_STATES", 60_000) }

// moreEvents is how many events more than usual an exploration spends.
func moreEvents(t *testing.T) int { return setting(t, "LOCKSTEP_EXPLORE_EVENTS", 0) }

func setting(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestModel_Exhaustive visits every interleaving of a small world: 2 brokers,
// 3 queues, 2 groups, crashes between any two calls, clocks that jump, an old
// leader that wakes.
func TestModel_Exhaustive(t *testing.T) {
	clientsOf := []move{actAll}
	faults := []move{crash, freeze, wake, lost, tick, jump, restart(1, true), server(1), faulty(model.Partial), faulty(model.Backwards), faulty(model.Carried)}
	messages := []move{send(0, 0, 1, false), send(0, 1, 2, true), late(0, 1, 1, true), late(0, 0, 2, false), away(1)}
	for _, c := range []struct {
		name          string
		start, target int
		second        model.Kind
		budget        int
		operator      func(*run)
		moves         []move
	}{
		{"shrink 3 to 1, faults between any two calls", 3, 1, model.Classic, 2, operateWhole, slices.Concat(clientsOf, faults, messages)},
		{"shrink 2 to 1, events within looks", 2, 1, model.POP, 2, operate, slices.Concat(clientsOf, messages, []move{tick, restart(0, false)})},
		{"shrink 2 to 1, triples of events", 2, 1, model.Classic, 3, operateWhole, slices.Concat(clientsOf, []move{send(0, 0, 1, false), late(0, 0, 1, true), crash})},
		{"growth 1 to 3, faults between any two calls", 1, 3, model.Classic, 2, operateWhole, slices.Concat(clientsOf, faults, messages)},
		{"growth 1 to 2, triples of events", 1, 2, model.POP, 3, operateWhole, slices.Concat(clientsOf, []move{away(1), crash, lost, send(0, 0, 1, false)})},
		{"turn-round, triples of events", 3, 1, model.Broadcast, 3, operateWhole, slices.Concat(clientsOf, []move{retarget(2), retarget(3), crash})},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			e := explore(small(c.start, c.target, 2*time.Second, c.second), c.budget+moreEvents(t), statesAllowed(t), false, slices.Concat([]move{{"operate", 0, c.operator}}, c.moves))
			t.Logf("%s: %v, %.1f s", c.name, e, time.Since(began).Seconds())
			if e.found != "" {
				t.Error(e.found)
			}
			if e.ends == 0 {
				t.Error("no end was reached")
			}
		})
	}
}
