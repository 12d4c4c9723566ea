// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// soak is one run.
type soak struct {
	options options
	journal *journal
	log     io.Writer

	world  *world.World
	wire   *remoting.Client
	mq     *rocketmq.Client
	fleets []*fleet
	tally  *tally
	counts counts
	// began is when the faults began; chaos is how long faults and resizes went on.
	began time.Time
	chaos time.Duration
	// counted is set when producers have ended and groups had their time.
	counted bool
}

// five tells whether the servers have proxies.
func (s *soak) five() bool { return !strings.HasPrefix(s.options.version, "4.") }

// dice are the choices of one part of the run. Each part has its own, so that
// its choices are the same for the same seed whatever the others do.
func (s *soak) dice(part string) *rand.Rand {
	stream := uint64(14695981039346656037)
	for _, c := range []byte(part) {
		stream = (stream ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(s.options.seed, stream))
}

// between is a random time.
func between(dice *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(dice.Int64N(int64(most-least)+1))
}

// pause waits; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// inWorld starts the world, soaks it, and ends it, whatever happens.
func (s *soak) inWorld(ctx context.Context) (err error) {
	s.journal.event("run", "seed %d, RocketMQ %s, %s of faults, then at most %s to come to rest; files in %s",
		s.options.seed, s.options.version, s.options.duration, s.options.rest, s.options.dir)
	programs, err := world.BuildClients(ctx, s.log, s.kinds()...)
	if err != nil {
		return err
	}
	if s.world, err = world.Start(ctx, s.worldOptions()); err != nil {
		return err
	}
	s.wire = remoting.NewClient(remoting.Options{DialTimeout: lookTimeout})
	s.mq = rocketmq.New(s.wire)
	defer func() {
		s.journal.event("run", "stopping everything that was started")
		err = errors.Join(err, s.wire.Close(), s.world.Stop())
	}()
	if err := s.declare(ctx); err != nil {
		return err
	}
	if err := s.load(ctx, programs); err != nil {
		return err
	}
	return s.act(ctx)
}

// act is the run proper: faults and resizes, rest, and the count. The guard
// looks on from the first to the last.
func (s *soak) act(ctx context.Context) error {
	guarding, stop := context.WithCancel(ctx)
	var guard sync.WaitGroup
	for _, master := range s.world.RocketMQ.Masters() {
		guard.Go(func() { s.guard(guarding, master) })
	}
	guard.Go(func() { s.progress(guarding) })
	err := s.shake(ctx)
	if err == nil {
		err = s.settle(ctx)
	}
	stop()
	guard.Wait()
	if err != nil {
		return err
	}
	return s.verdict()
}

// shake breaks and resizes until the time is over, and leaves nothing broken.
func (s *soak) shake(ctx context.Context) error {
	s.began = time.Now()
	defer func() { s.chaos = time.Since(s.began) }()
	shaking, cancel := context.WithTimeout(ctx, s.options.duration)
	defer cancel()
	parts := []func() error{
		func() error { return s.breakServers(shaking, ctx) },
		func() error { return s.breakOperator(shaking, ctx) },
		func() error { return s.breakClients(shaking, ctx) },
	}
	for _, t := range topics(s.five()) {
		parts = append(parts, func() error { return s.resizeTopic(shaking, t) })
	}
	var wg sync.WaitGroup
	errs := make([]error, len(parts))
	for i, part := range parts {
		wg.Go(func() {
			if errs[i] = part(); errs[i] != nil {
				cancel() // the run has failed; the others put things back
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("while the world was shaken: %w", err)
	}
	return context.Cause(ctx)
}

// progressPeriod is how often the run says how far it is.
const progressPeriod = 30 * time.Second

// progress follows the ledgers and says what they tell.
func (s *soak) progress(ctx context.Context) {
	for pause(ctx, progressPeriod) {
		if err := s.tally.update(); err != nil {
			s.journal.event("ledger", "%v", err)
			continue
		}
		now := s.tally.counts()
		waiting, _ := s.tally.lost()
		s.journal.event("ledger", "sent %s, consumed %s, on the way %s, duplicates %s, sends failed %s",
			thousands(now.sent), thousands(now.consumed), thousands(waiting), thousands(now.duplicates), thousands(now.failed))
	}
}
