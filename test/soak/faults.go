// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// How servers are broken.
const (
	sigkill = "SIGKILL"
	sigterm = "SIGTERM"
	hang    = "hang"
)

const (
	// endTime bounds an end in good order. After it the server is killed, as a
	// kubelet does.
	endTime = 30 * time.Second
	// startTime bounds a start on a loaded machine.
	startTime = 5 * time.Minute
)

// The weather: a change needs its windows undisturbed (rule R05), so faults of
// servers and of the operator come in storms with calm between. Calm lasts
// about twice as long as a growth takes on a free machine; what the next storm meets is up to chance.
const (
	calm  = 120 * time.Second
	storm = 40 * time.Second
)

// awaitStorm waits for a moment within a storm; false when shaking ends first.
func (s *soak) awaitStorm(shaking context.Context) bool {
	for {
		at := time.Since(s.began) % (calm + storm)
		if at >= calm {
			return shaking.Err() == nil
		}
		if !pause(shaking, calm-at) {
			return false
		}
	}
}

// breakServers breaks one server after the other until shaking ends, and puts
// each right again: never is more than one of them away.
func (s *soak) breakServers(shaking, ctx context.Context) error {
	dice := s.dice("servers")
	all := append([]*rig.Server{}, s.world.RocketMQ.Servers()...)
	// Masters and proxies as often as name servers, which restart in a second.
	all = append(append(all, s.world.RocketMQ.Brokers...), s.world.RocketMQ.Proxies...)
	for s.awaitStorm(shaking) && pause(shaking, between(dice, time.Second, 10*time.Second)) {
		server := all[dice.IntN(len(all))]
		how := []string{sigkill, sigkill, sigterm, sigterm, hang}[dice.IntN(5)]
		away := between(dice, 0, 12*time.Second)
		if dice.IntN(3) == 0 {
			away = 0
		}
		if err := s.breakServer(ctx, server, how, away); err != nil {
			return err
		}
	}
	return nil
}

// breakServer breaks a server, leaves it so for a time, and brings it back.
func (s *soak) breakServer(ctx context.Context, server *rig.Server, how string, away time.Duration) error {
	s.counts.add(string(server.Kind)+" "+how, 1)
	began := time.Now()
	s.journal.event(server.Name, "%s, away for %.1f s", how, away.Seconds())
	var err error
	switch how {
	case sigkill:
		server.Kill()
	case sigterm:
		ending, cancel := context.WithTimeout(ctx, endTime)
		err = server.Stop(ending)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			s.journal.event(server.Name, "did not end within %s and was killed", endTime)
			err = nil
		}
	case hang:
		err = server.Pause()
	}
	if err != nil {
		return fmt.Errorf("%s of %s: %w", how, server.Name, err)
	}
	pause(ctx, away)
	if how == hang {
		err = server.Resume()
	} else {
		starting, cancel := context.WithTimeout(ctx, startTime)
		err = server.Start(starting)
		cancel()
	}
	if err != nil {
		return fmt.Errorf("bringing %s back: %w", server.Name, err)
	}
	s.journal.event(server.Name, "serves again, %.1f s after the %s", time.Since(began).Seconds(), how)
	return nil
}

// breakOperator kills and stops the operator until shaking ends.
func (s *soak) breakOperator(shaking, ctx context.Context) error {
	dice := s.dice("operator")
	for s.awaitStorm(shaking) && pause(shaking, between(dice, time.Second, 30*time.Second)) {
		if err := s.breakOperatorOnce(ctx, dice); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) breakOperatorOnce(ctx context.Context, dice *rand.Rand) error {
	how := []string{sigkill, sigkill, sigterm}[dice.IntN(3)]
	away, wait := between(dice, 0, 5*time.Second), dice.IntN(3) == 0
	s.counts.add("operator "+how, 1)
	if how == sigterm {
		s.journal.event("operator", "%s, away for %.1f s", how, away.Seconds())
		s.world.Operator.Stop()
	} else {
		s.world.Operator.Kill()
		said := "its lease is taken away"
		if wait {
			said = "its lease has to run out"
		} else if err := s.world.ReleaseLease(ctx); err != nil {
			return err
		}
		s.journal.event("operator", "%s, away for %.1f s, %s", how, away.Seconds(), said)
	}
	pause(ctx, away)
	if err := s.world.Operator.Start(ctx); err != nil {
		return err
	}
	s.journal.event("operator", "runs again")
	return nil
}
