// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// fleet is a Deployment of clients.
type fleet struct {
	world.Workload
	produces bool
	running  world.Fleet
}

func (s *soak) kinds() []world.Kind {
	kinds := []world.Kind{world.Classic(s.options.version), world.Go}
	if s.five() {
		kinds = append(kinds, world.GRPC)
	}
	return kinds
}

// The consumer groups. The classic and the Go group read every topic, the gRPC
// group reads the topic of the gRPC producer.
const (
	groupJava = "CG_SOAK_JAVA"
	groupGo   = "CG_SOAK_GO"
	groupGRPC = "CG_SOAK_GRPC"
)

// readers are the groups of each topic.
func readers(five bool) map[string][]string {
	out := map[string][]string{}
	for _, t := range topics(five) {
		out[t.name] = []string{groupJava, groupGo}
	}
	if five {
		out[topicGRPC.name] = append(out[topicGRPC.name], groupGRPC)
	}
	return out
}

// cast makes the fleets: consumers first. A new group begins at the end of the
// queues, so a queue that a group has no position for shows as a loss.
func (s *soak) cast(programs world.Programs) []*fleet {
	classic := world.Classic(s.options.version)
	var names []string
	for _, t := range topics(s.five()) {
		names = append(names, t.name)
	}
	reads := "--topic=" + strings.Join(names, ",")
	var fleets []*fleet
	add := func(produces bool, name string, kind world.Kind, replicas int32, args ...string) {
		fleets = append(fleets, &fleet{produces: produces, Workload: world.Workload{
			Namespace: namespace, Name: name, Kind: kind, Program: programs[kind], Replicas: replicas, Args: args}})
	}
	const route, timeout = "--route-ms=1000", "--send-timeout-ms=4000"
	add(false, "read-java", classic, 2, "consume", reads, "--group="+groupJava, "--from=last", route)
	add(false, "read-go", world.Go, 2, "consume", reads, "--group="+groupGo, "--from=last")
	share := s.options.rate
	if s.five() {
		add(false, "read-grpc", world.GRPC, 1, "consume", "--topic="+topicGRPC.name, "--group="+groupGRPC)
		add(true, "send-grpc", world.GRPC, 1, "produce", "--topic="+topicGRPC.name, rate(share/5), "--threads=4", timeout)
		share -= share / 5
	}
	add(true, "send-java", classic, 1, "produce", "--topic="+topicJava.name, "--group=PG_SOAK_JAVA", rate(share/2), "--threads=4", route, timeout)
	add(true, "send-go", world.Go, 1, "produce", "--topic="+topicGo.name, "--group=PG_SOAK_GO", rate(share/2), "--threads=8")
	// Messages that land on their queue five seconds later (ShortDelays).
	add(true, "send-delayed", world.Go, 1, "produce", "--topic="+topicDelayed.name, "--group=PG_SOAK_DELAYED", rate(8), "--delay-level=5")
	add(true, "send-calm", world.Go, 1, "produce", "--topic="+topicCalm.name, "--group=PG_SOAK_CALM", rate(1), "--threads=1")
	return fleets
}

func rate(perSecond int) string { return fmt.Sprintf("--rate=%d", perSecond) }

// load starts the consumers, waits until each group has a position on every
// queue, and starts the producers.
func (s *soak) load(ctx context.Context, programs world.Programs) error {
	s.tally = newTally(s.world.LedgerDir(namespace), readers(s.five()))
	s.fleets = s.cast(programs)
	if err := s.deploy(ctx, false); err != nil {
		return err
	}
	if err := s.awaitPositions(ctx); err != nil {
		return err
	}
	return s.deploy(ctx, true)
}

func (s *soak) deploy(ctx context.Context, produces bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, f := range s.fleets {
		if f.produces != produces {
			continue
		}
		var err error
		if f.running, err = s.world.Deploy(ctx, f.Workload); err != nil {
			return err
		}
	}
	for _, f := range s.fleets {
		if f.produces != produces {
			continue
		}
		if err := world.WaitReady(ctx, f.running, f.Replicas); err != nil {
			return err
		}
		s.journal.event("clients", "%s × %d: %s", f.Name, f.Replicas, strings.Join(f.Args, " "))
	}
	return nil
}

// awaitPositions waits until every group has committed a position on every
// queue, as a group that has run for a while. What is sent from then on is theirs.
func (s *soak) awaitPositions(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		last = s.positions(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the groups' first positions: %w", errors.Join(last, err))
	}
	return nil
}

func (s *soak) positions(ctx context.Context) error {
	groups := readers(s.five())
	for _, master := range s.world.RocketMQ.Masters() {
		for _, t := range topics(s.five()) {
			for _, group := range groups[t.name] {
				for queue := range int(t.queues) {
					_, there, err := s.mq.CommittedOffset(ctx, master.Addr, t.name, group, queue)
					if err != nil {
						return err
					}
					if !there {
						return fmt.Errorf("%s has no position on %s %s/%d", group, t.name, master.Name, queue)
					}
				}
			}
		}
	}
	return nil
}

// stopProducers ends all producers in good order.
func (s *soak) stopProducers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, f := range s.fleets {
		if !f.produces {
			continue
		}
		if err := world.End(ctx, f.running); err != nil {
			return err
		}
	}
	return nil
}
