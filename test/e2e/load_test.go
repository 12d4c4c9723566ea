// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"context"
	"fmt"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// client starts a fleet of clients, waits until they work, and counts restarts
// from then on.
func (s *scene) client(name string, kind world.Kind, replicas int32, args ...string) world.Fleet {
	s.Helper()
	if c := s.credentials; c != nil {
		args = append(args, "--access-key="+c.AccessKey, "--secret-key="+c.SecretKey)
	}
	fleet, err := s.w.Deploy(s.Context(), world.Workload{
		Namespace: shop, Name: name, Kind: kind, Program: s.programs[kind], Args: args, Replicas: replicas,
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.Cleanup(func() { s.Expect(fleet.Scale(context.WithoutCancel(s.Context()), 0)).To(Succeed()) })
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.Expect(world.WaitReady(ctx, fleet, replicas)).To(Succeed())
	s.Expect(fleet.Restarts(s.Context())).To(BeZero())
	return fleet
}

// producer starts a classic producer that follows its route closely.
func (s *scene) producer(topic string, perSecond int, more ...string) world.Fleet {
	s.Helper()
	args := append([]string{"produce", "--topic=" + topic, "--group=" + producerGroup + "_" + topic,
		fmt.Sprintf("--rate=%d", perSecond), routePeriod, sendTimeout}, more...)
	return s.client(objectName(topic)+"-producer", world.Classic(s.version), 1, args...)
}

// stop ends a fleet in good order.
func (s *scene) stop(fleet world.Fleet) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.Expect(world.End(ctx, fleet)).To(Succeed())
}

// book reads what all clients noted.
func (s *scene) book(topic, group string) ledger.Counts {
	s.Helper()
	all, err := ledger.ReadDir(s.w.LedgerDir(shop))
	s.Expect(err).NotTo(HaveOccurred())
	return all.Count(ledger.Query{Topic: topic, Group: group})
}

// flows waits until each group has consumed some of at least so many messages.
func (s *scene) flows(topic string, sent int, groups ...string) {
	s.Helper()
	for _, group := range groups {
		s.Eventually(func(g Gomega) {
			counts := s.book(topic, group)
			g.Expect(counts.Sent).To(BeNumerically(">=", sent))
			g.Expect(counts.ConsumedOnce).To(BeNumerically(">", 0), group)
		}).Should(Succeed())
	}
}

// nothingLost waits until every group has consumed every message that was sent.
func (s *scene) nothingLost(topic string, groups ...string) {
	s.Helper()
	for _, group := range groups {
		s.Eventually(func() string {
			counts := s.book(topic, group)
			if counts.Sent > 0 && len(counts.Lost) == 0 {
				return "lost 0"
			}
			return counts.String()
		}).Should(Equal("lost 0"), group)
		s.Logf("%s: %s", group, s.book(topic, group))
	}
}

// untouched checks that no client ended that nobody had asked to.
func (s *scene) untouched(fleets ...world.Fleet) {
	s.Helper()
	for _, fleet := range fleets {
		s.Expect(fleet.Restarts(s.Context())).To(BeZero(), "%v", fleet)
	}
}
