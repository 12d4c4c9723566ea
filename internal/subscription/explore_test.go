// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package subscription

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// dice are the choices of one walk; a walk is repeated by its number.
type dice struct{ *rand.Rand }

func walkOf(n uint64) *dice { return &dice{rand.New(rand.NewPCG(n, 7))} }

func pick(t *dice, n int, _ string) int { return t.IntN(n) }

type event struct {
	name   string
	weight int
	do     func(*dice, *run)
}

func events() []event {
	broker := func(t *dice, r *run) int { return pick(t, len(r.w.Brokers), "broker") }
	queue := func(t *dice, r *run) (int, int) {
		b := broker(t, r)
		return b, pick(t, len(r.w.Brokers[b].Queues), "queue")
	}
	member := func(t *dice, r *run) (int, bool) {
		live := r.w.Live()
		if len(live) == 0 {
			return 0, false
		}
		return live[pick(t, len(live), "member")], true
	}
	filters := []string{"P", "P||R", "P||S", "P||R||S"}
	return []event{
		{"tick", 6, func(_ *dice, r *run) { r.w.Now = r.w.Now.Add(time.Second) }},
		{"second", 8, func(_ *dice, r *run) { r.second() }},
		{"cycle", 6, func(_ *dice, r *run) { r.w.Now = r.w.Now.Add(time.Second); r.cycle() }},
		{"advance", 12, func(_ *dice, r *run) { r.advance() }},
		{"send", 10, func(t *dice, r *run) {
			b, q := queue(t, r)
			r.w.Send(b, q, []string{"P", "R", "S"}[pick(t, 3, "tag")])
		}},
		{"consume", 10, func(t *dice, r *run) { b, q := queue(t, r); r.w.Consume(b, q) }},
		{"persist", 5, func(t *dice, r *run) {
			if m, ok := member(t, r); ok {
				r.w.Persist(m)
			}
		}},
		{"table", 5, func(t *dice, r *run) {
			if m, ok := member(t, r); ok {
				r.w.PickTable(broker(t, r), m)
			}
		}},
		{"sync", 4, func(t *dice, r *run) { r.w.Sync(broker(t, r)) }},
		{"stale slave", 1, func(t *dice, r *run) { r.w.SwitchSlave(broker(t, r), true) }},
		{"target", 2, func(t *dice, r *run) { r.target(filters[pick(t, len(filters), "target")]) }},
		{"deploy", 2, func(t *dice, r *run) {
			if f := filters[pick(t, len(filters), "template")]; !r.spec.Door || r.spec.Published == Hash(filterSet(f)) {
				r.deploy(f)
			}
		}},
		{"follow", 4, func(_ *dice, r *run) {
			if !r.spec.Door || r.spec.Published == Hash(r.spec.Target) {
				r.deploy(strings.ReplaceAll(r.spec.Target.String()[len("TOPIC_MODEL with "):], " ", ""))
			}
		}},
		{"undo", 1, func(_ *dice, r *run) { r.deploy("P") }},
		{"replace", 6, func(t *dice, r *run) { r.replace(pick(t, 2, "surge") == 0, pick(t, 3, "killed") == 0) }},
		{"restart pod", 1, func(t *dice, r *run) {
			if m, ok := member(t, r); ok && r.w.Members[m].Seen {
				x := r.w.Members[m]
				r.w.Leave(m, pick(t, 2, "killed") == 0)
				r.w.Join(x.Filter, x.Revision, r.pop)
			}
		}},
		{"stop", 1, func(t *dice, r *run) { r.w.Stop(broker(t, r)) }},
		{"start", 4, func(t *dice, r *run) { r.w.Start(broker(t, r), pick(t, 2, "forgetful") == 0) }},
		{"crash", 1, func(_ *dice, r *run) { r.crash() }},
		{"lost write", 1, func(_ *dice, r *run) { r.lostWrite = true }},
		{"silent member", 2, func(_ *dice, r *run) { r.silent = true }},
		{"deaf broker", 2, func(_ *dice, r *run) { r.deaf = true }},
	}
}

func randomRun(t *dice, skip skips) *run {
	strategy, door := ByRewind, false
	if pick(t, 2, "fence") == 0 {
		strategy, door = ByFence, pick(t, 4, "door") > 0
	}
	exact := pick(t, 3, "exact") > 0
	r := newRun(strategy, door, 1+pick(t, 2, "brokers"), 1+pick(t, 3, "queues"), 1+pick(t, 3, "members"), exact, exact && pick(t, 3, "pop") == 0)
	r.spec.OnTimeout = []OnTimeout{HoldFence, LiftAndRewind}[pick(t, 2, "on timeout")]
	r.skip = skip
	return r
}

func draw(t *dice, all []event) event {
	sum := 0
	for _, e := range all {
		sum += e.weight
	}
	at := pick(t, sum, "event")
	for _, e := range all {
		if at -= e.weight; at < 0 {
			return e
		}
	}
	return all[0]
}

// walks is how many walks a test makes; LOCKSTEP_EXPLORE_WALKS raises it.
func walks(t *testing.T, usual int) (first, last uint64) {
	text := os.Getenv("LOCKSTEP_EXPLORE_WALKS")
	if text == "" {
		return 1, uint64(usual)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("LOCKSTEP_EXPLORE_WALKS: %v", err)
	}
	return uint64(usual) + 1, uint64(usual) + n
}

// stroll makes one walk of events, and then lets faults stop.
func stroll(r *run, t *dice, all []event, steps int) (bad string, trail []string) {
	for range steps {
		e := draw(t, all)
		trail = append(trail, e.name)
		e.do(t, r)
		if r.bad != "" {
			return r.bad, trail
		}
	}
	if bad := r.settleDown(); bad != "" {
		return "when faults stop: " + bad, trail
	}
	return "", trail
}

// TestModel_NothingIsLostNothingStaysFenced walks at random through rollouts,
// roll-backs, changes of mind, crashes, brokers that stop and answers that are
// missing. With Fence or Rewind no message of what all members end up with is
// skipped; nothing is fenced for ever when faults stop; no change rests on an
// unknown answer. The walks are the same in every run.
func TestModel_NothingIsLostNothingStaysFenced(t *testing.T) {
	all := events()
	ends, fenced, rewound := map[Outcome]int{}, 0, 0
	first, last := walks(t, 60)
	for n := first; n <= last; n++ {
		d := walkOf(n)
		r := randomRun(d, skips{})
		if bad, trail := stroll(r, d, all, 120); bad != "" {
			t.Fatalf("walk %d: %s\n%s", n, bad, strings.Join(trail, ", "))
		}
		for o, n := range r.ends {
			ends[o] += n
		}
		fenced += r.fenced
		rewound += r.rewound
	}
	t.Logf("walks %d to %d: %v, %d looks under a fence, %d rewinds", first, last, ends, fenced, rewound)
	if ends[Done] == 0 || ends[RolledBack] == 0 || fenced == 0 || rewound == 0 {
		t.Errorf("some ends were never reached: %v, %d looks under a fence, %d rewinds", ends, fenced, rewound)
	}
}
