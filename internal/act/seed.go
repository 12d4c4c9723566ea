// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// SeedResult is an offset that was not set, or is not known to be.
type SeedResult struct {
	Seed resize.Seed
	Err  error
}

// SeedError says why one offset is not what was asked for.
type SeedError struct {
	Seed resize.Seed
	// Why is a phrase; Err is the cause, if there is one.
	Why string
	Err error
}

// Error implements error.
func (e *SeedError) Error() string {
	s := fmt.Sprintf("offset %d of group %s on %s/%d: %s", e.Seed.Offset, e.Seed.Group, e.Seed.Broker, e.Seed.Queue, e.Why)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *SeedError) Unwrap() error { return e.Err }

// seeding is the offsets to be set on one broker.
type seeding struct {
	*Actor
	order  Order
	master rocketmq.Master
	seeds  []resize.Seed
	until  deadline

	sent   bool
	failed []SeedResult
}

func (a *Actor) seedJob(order Order, until deadline) (job, error) {
	byBroker := map[string]*seeding{}
	for _, s := range order.Step.Seeds {
		if byBroker[s.Broker] == nil {
			master, err := a.master(order.Look, s.Broker)
			if err != nil {
				return job{}, err
			}
			byBroker[s.Broker] = &seeding{Actor: a, order: order, master: master, until: until}
		}
		byBroker[s.Broker].seeds = append(byBroker[s.Broker].seeds, s)
	}
	if len(byBroker) == 0 {
		return job{}, &StepError{Kind: order.Step.Kind, Why: "it sets no offset"}
	}
	var all []*seeding
	for _, broker := range slices.Sorted(maps.Keys(byBroker)) {
		all = append(all, byBroker[broker])
	}
	return job{run: func(ctx context.Context, out *Outcome) bool {
		if err := a.vacant(ctx, order); err != nil {
			for _, s := range order.Step.Seeds {
				out.Seeds = append(out.Seeds, SeedResult{s, err})
			}
			return false
		}
		forEach(maxBrokers, all, func(_ int, s *seeding) { s.run(ctx) })
		sent := false
		for _, s := range all {
			out.Seeds = append(out.Seeds, s.failed...)
			sent = sent || s.sent
		}
		return sent
	}}, nil
}

// vacant makes sure that the groups of the step that must have no member have
// none, on any broker or proxy.
func (a *Actor) vacant(ctx context.Context, order Order) error {
	servers := a.cluster.Proxies()
	for _, broker := range slices.Sorted(maps.Keys(order.Look.Brokers)) {
		addr, known := order.Look.Brokers[broker].Master.Get()
		if !known && len(order.Step.Vacant) > 0 {
			return &OccupiedError{Group: order.Step.Vacant[0], Why: "the master of " + broker + " is not known, so its members are not"}
		}
		servers = append(servers, addr)
	}
	for _, group := range order.Step.Vacant {
		for _, server := range servers {
			m, err := read(ctx, a, func(ctx context.Context) (snapshot.Membership, error) { return a.client.Members(ctx, server, group) })
			switch {
			case err != nil:
				return &OccupiedError{Group: group, Why: "whether one is is not known: " + err.Error()}
			case m.Online():
				return &OccupiedError{Group: group, Why: fmt.Sprintf("%d are, among them %.200q", len(m.Members), m.Members[0].ClientID)}
			}
		}
	}
	return nil
}

func (s *seeding) fail(seed resize.Seed, why string, err error) {
	s.failed = append(s.failed, SeedResult{seed, &SeedError{Seed: seed, Why: why, Err: err}})
}

func (s *seeding) failAll(err error) {
	for _, seed := range s.seeds {
		s.failed = append(s.failed, SeedResult{seed, err})
	}
}

// run sets the offsets of one broker and reads them back.
func (s *seeding) run(ctx context.Context) {
	leave, err := s.writers.enter(ctx, place{s.master.Name, s.order.Topic})
	if err != nil {
		s.failAll(err)
		return
	}
	defer leave()
	decided := s.order.Look.Brokers[s.master.Name].Committed
	if !decided.IsKnown() {
		s.failAll(&StepError{Kind: s.order.Step.Kind, Why: "the look does not know the offsets of " + s.master.Name})
		return
	}
	if _, err := s.meet(ctx, s.master, decided.Origin().From); err != nil {
		s.failAll(err)
		return
	}
	ctx = withCheck(ctx, s.until.check)
	now, err := s.offsets(ctx)
	if err != nil {
		s.failAll(fmt.Errorf("the offsets of %s are not known, nothing was sent: %w", s.master.Name, err))
		return
	}
	before, _ := decided.Get()
	due := slices.DeleteFunc(slices.Clone(s.seeds), func(seed resize.Seed) bool { return !s.due(seed, before, now) })
	due = s.withGroup(ctx, due)
	var done []resize.Seed
	for _, seed := range due {
		if s.commit(ctx, seed) {
			done = append(done, seed)
		}
	}
	s.readBack(ctx, done)
}

// due reports whether a seed is still to be sent. A group that has got an entry
// of its own since the look needs none; an entry that moved is left alone.
func (s *seeding) due(seed resize.Seed, before, now map[string]map[int]int64) bool {
	was, had := before[seed.Group][seed.Queue]
	is, has := now[seed.Group][seed.Queue]
	switch {
	case has && is == seed.Offset, has && !had:
		return false
	case has != had || is != was:
		s.fail(seed, fmt.Sprintf("its entry has moved from %d to %d since this was decided; it was left alone", was, is), nil)
		return false
	}
	return true
}

func (s *seeding) commit(ctx context.Context, seed resize.Seed) bool {
	err := s.send(ctx, func(ctx context.Context) error {
		return s.client.CommitOffset(ctx, s.master, s.order.Topic, seed.Group, seed.Queue, seed.Offset)
	})
	if err != nil && !maySent(err) || errors.Is(err, rocketmq.ErrResetPending) {
		s.fail(seed, "it was not set", err)
		return false
	}
	// What was sent is judged by what the broker shows afterwards.
	s.sent = true
	return true
}

// readBack asks for all offsets once: a member that owns the queue may have put
// its own value over the one that was set (live 6).
func (s *seeding) readBack(ctx context.Context, done []resize.Seed) {
	if len(done) == 0 {
		return
	}
	now, err := s.offsets(ctx)
	for _, seed := range done {
		is, has := now[seed.Group][seed.Queue]
		switch {
		case err != nil:
			s.fail(seed, "whether it was set is not known", err)
		case !has:
			s.fail(seed, "it was set and is not there", nil)
		case is != seed.Offset:
			s.fail(seed, fmt.Sprintf("it was set and is %d now; a member has put its own over it", is), nil)
		}
	}
}

func (s *seeding) offsets(ctx context.Context) (map[string]map[int]int64, error) {
	all, err := read(ctx, s.Actor, func(ctx context.Context) (rocketmq.CommittedOffsets, error) {
		return s.client.AllCommittedOffsets(ctx, s.master.Addr)
	})
	return all.Committed[s.order.Topic], err
}
