// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// These tests observe and change released servers, one version after the other:
// go test -tags e2e ./internal/act. They are slow and are not run by default.
package act_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"

	"github.com/lockstep-dev/lockstep/internal/act"
	"github.com/lockstep-dev/lockstep/internal/observe"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// patience bounds what servers on a loaded machine may take.
const patience = 3 * time.Minute

func e2eVersions() []string {
	if chosen := strings.Fields(os.Getenv("LOCKSTEP_E2E_VERSIONS")); len(chosen) > 0 {
		return chosen
	}
	return []string{"4.9.7", "5.3.3", "5.5.0"}
}

// scene is a real cluster, observed, and an actor on it.
type scene struct {
	*testing.T
	*WithT
	servers *rig.Cluster
	o       *observe.Observer
	actor   *act.Actor
	client  *rocketmq.Client
	five    bool
}

const e2eTopic, e2eGroup = "TOPIC_E2E", "CG_E2E"

func TestE2E_ReleasedServers(t *testing.T) {
	for _, version := range e2eVersions() {
		t.Run(version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			servers, err := rig.Start(ctx, rig.Options{Version: version, NameServers: 2, Masters: 1, BrokerProperties: rig.ShortDelays()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = servers.Stop() })
			s := &scene{T: t, WithT: NewWithT(t), servers: servers, five: !strings.HasPrefix(version, "4.")}
			s.lead()
			for _, step := range []struct {
				name string
				run  func(*scene)
			}{
				{"a sweep without a problem", (*scene).sweep},
				{"K41 first creations in batches", (*scene).create},
				{"a look that a proof can rest on", (*scene).lookWell},
				{"steps of a shrink and a growth", (*scene).steps},
				{"R12 seeds", (*scene).seeds},
				{"O12 Q28 amendments", (*scene).amend},
				{"O25 a name server that starts", (*scene).warmUp},
				{"O35 deletion", (*scene).remove},
			} {
				if !t.Run(step.name, func(t *testing.T) {
					at := *s
					at.T, at.WithT = t, NewWithT(t)
					step.run(&at)
				}) {
					break
				}
			}
		})
	}
}

func (s *scene) lead() {
	m := observe.NewManager(observe.Options{})
	id := observe.ID{Name: "e2e"}
	var err error
	s.o, err = m.Ensure(id, observe.Config{
		ClusterName: "DefaultCluster", NameServers: s.servers.NameServerAddresses(),
		Connect: func() (observe.Wire, error) { return remoting.NewClient(remoting.Options{}), nil },
	})
	s.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	s.Cleanup(func() { cancel(); <-done })
	s.actor = act.New(s.o, s.o.Wire(), clock.RealClock{})
	s.client = rocketmq.New(s.o.Wire())
}

// seen waits for a sweep of which ok is true.
func (s *scene) seen(ok func(Gomega, *snapshot.Cluster)) *snapshot.Cluster {
	s.Helper()
	s.Eventually(func(g Gomega) {
		s.o.Poke()
		ok(g, s.o.Cluster())
	}).WithTimeout(patience).WithPolling(200 * time.Millisecond).Should(Succeed())
	return s.o.Cluster()
}

func (s *scene) sweep() {
	c := s.seen(func(g Gomega, c *snapshot.Cluster) {
		g.Expect(c.Problems).To(BeEmpty())
		g.Expect(c.Brokers["broker-a"].Topics.IsKnown()).To(BeTrue())
		for _, ns := range c.NameServers {
			g.Expect(ns.WarmUp).To(BeEmpty())
			g.Expect(ns.Topics.IsKnown()).To(BeTrue())
		}
	})
	settings, _ := c.Brokers["broker-a"].Settings.Get()
	s.Expect(settings.NameServers).To(ConsistOf(s.servers.NameServerAddresses()))
	s.Expect(s.o.NameServersComplete(s.Context(), []string{"broker-a"})).To(Succeed())
}

func (s *scene) master() rocketmq.Master {
	addr, _ := s.o.Cluster().Brokers["broker-a"].Master.Get()
	return rocketmq.Master{Addr: addr, Name: "broker-a", Cluster: "DefaultCluster"}
}

func (s *scene) create() {
	b := act.NewBatcher(s.actor, clock.RealClock{})
	defer b.Close()
	names := []string{e2eTopic}
	for i := range 40 {
		names = append(names, fmt.Sprintf("TOPIC_E2E_%02d", i))
	}
	var mu sync.Mutex
	results := map[string]act.Created{}
	for _, n := range names {
		s.Expect(b.Create(act.Creation{Master: s.master(), Done: func(c act.Created) {
			mu.Lock()
			defer mu.Unlock()
			results[c.Topic] = c
		}, Config: snapshot.TopicConfig{Name: n, ReadQueues: 8, WriteQueues: 8, Perm: 6, FilterType: rocketmq.SingleTag,
			Attributes: map[string]string{"message.type": "NORMAL"}}})).To(Succeed())
	}
	s.Eventually(func() int { mu.Lock(); defer mu.Unlock(); return len(results) }).WithTimeout(patience).Should(Equal(len(names)))
	for _, c := range results {
		s.Expect(c.Err).NotTo(HaveOccurred())
		s.Expect(c.Existed).To(BeFalse())
	}
	s.seen(func(g Gomega, c *snapshot.Cluster) {
		topics, _ := c.Brokers["broker-a"].Topics.Get()
		g.Expect(topics).To(HaveKey(names[40]))
		g.Expect(c.Problems).To(BeEmpty())
	})
	for _, fact := range s.o.Routes(s.Context(), names[40]) {
		route, _ := fact.Get()
		s.Expect(route.Queues["broker-a"].Write).To(Equal(8))
	}
}

func (s *scene) look() snapshot.TopicLook {
	s.Helper()
	look, err := s.o.TopicLook(s.Context(), e2eTopic, observe.LookOptions{Queues: 8, Declared: []observe.DeclaredGroup{{Name: e2eGroup}}})
	s.Expect(err).NotTo(HaveOccurred())
	return look
}

func (s *scene) lookWell() {
	s.Eventually(func(g Gomega) {
		look := s.look()
		b := look.Brokers["broker-a"]
		for name, why := range map[string]string{
			"config": b.Config.Why(), "queues": b.Queues.Why(), "committed": b.Committed.Why(), "pulled": b.Pulled.Why(),
			"pending": b.Pending.Why(), "runtime": b.Runtime.Why(), "settings": b.Settings.Why(), "groups": look.Groups.Why(),
		} {
			g.Expect(why).To(BeEmpty(), name)
		}
		queues, _ := b.Queues.Get()
		g.Expect(queues).To(HaveLen(8))
		pending, _ := b.Pending.Get()
		g.Expect(pending.Zero()).To(BeTrue(), "%+v", pending)
		runtime, _ := b.Runtime.Get()
		g.Expect(runtime.DispatchBehind).To(BeZero())
		g.Expect(look.WarmUp).To(BeEmpty())
		groups, _ := look.Groups.Get()
		g.Expect(groups).To(HaveKey(e2eGroup))
		g.Expect(look.Finished.Sub(look.Started)).To(BeNumerically("<", 10*time.Second))
	}).WithTimeout(patience).Should(Succeed())
	one, two := s.look(), s.look()
	s.Expect(one.Brokers["broker-a"].Config.Origin().From.Same(two.Brokers["broker-a"].Config.Origin().From)).To(BeTrue())
}

// do carries out a step from one pair of counts to another.
func (s *scene) do(kind resize.StepKind, read, write int) {
	s.Helper()
	look := s.look()
	stored, _ := look.Brokers["broker-a"].Config.Get()
	from := resize.Shown{Present: true, Read: stored.Config.ReadQueues, Write: stored.Config.WriteQueues, Perm: stored.Config.Perm}
	to := from
	to.Read, to.Write = read, write
	out, err := s.actor.Do(s.Context(), act.Order{Topic: e2eTopic, Look: look, Intent: time.Now(), Step: resize.Step{
		Kind: kind, NotAfter: look.Started.Add(10 * time.Second),
		Changes: []resize.BrokerChange{{Broker: "broker-a", Expect: from, Want: to, Process: look.Brokers["broker-a"].Config.Origin().From}},
	}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out.Err()).NotTo(HaveOccurred())
	s.Expect(out.Sent()).To(BeTrue())
	for server, fact := range out.Routes {
		route, known := fact.Get()
		s.Expect(known).To(BeTrue(), server)
		s.Expect(route.Queues["broker-a"]).To(Equal(snapshot.RouteQueues{Read: read, Write: write, Perm: 6}), server)
	}
}

func (s *scene) steps() {
	s.do(resize.StepNarrowWrites, 8, 4)
	s.do(resize.StepNarrowReads, 4, 4)
	queues, _ := s.look().Brokers["broker-a"].Queues.Get()
	s.Expect(queues).To(HaveLen(8), "retired queues are still seen")
	s.do(resize.StepReopenReads, 8, 4)
	s.do(resize.StepWidenWrites, 8, 8)
}

func (s *scene) seeds() {
	_, err := s.client.UpdateGroup(s.Context(), s.master(), e2eGroup, func(c snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) { return c, nil })
	s.Expect(err).NotTo(HaveOccurred())
	var all []resize.Seed
	for q := range 8 {
		all = append(all, resize.Seed{Group: e2eGroup, Broker: "broker-a", Queue: q, Offset: int64(q)})
	}
	out, err := s.actor.Do(s.Context(), act.Order{Topic: e2eTopic, Look: s.look(), Step: resize.Step{
		Kind: resize.StepSetOffsets, Seeds: all, Vacant: []string{e2eGroup}}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out.Err()).NotTo(HaveOccurred())
	committed, _ := s.look().Brokers["broker-a"].Committed.Get()
	s.Expect(committed[e2eGroup]).To(HaveLen(8))
	s.Expect(committed[e2eGroup]).To(HaveKeyWithValue(7, int64(7)))
}

func (s *scene) amend() {
	amend := func() act.Result {
		config := s.look().Brokers["broker-a"].Config
		stored, _ := config.Get()
		return s.actor.Amend(s.Context(), act.Amendment{Master: s.master(), Process: config.Origin().From, Expect: stored.Config,
			Amend: func(c snapshot.TopicConfig) snapshot.TopicConfig {
				c.Perm = snapshot.PermRead
				if s.five {
					c.Attributes = map[string]string{"message.type": "FIFO"}
				}
				return c
			}})
	}
	first := amend()
	s.Expect(first.Err).NotTo(HaveOccurred())
	s.Expect(first.Sent).To(BeTrue())
	again := amend()
	s.Expect(again.Err).NotTo(HaveOccurred())
	s.Expect(again.Sent).To(BeFalse())
}

func (s *scene) warmUp() {
	var server *rig.Server
	for _, one := range s.servers.Servers() {
		if slices.Contains(s.servers.NameServerAddresses(), one.Addr) {
			server = one
		}
	}
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.Expect(server.Restart(ctx)).To(Succeed())
	s.Eventually(func() error { return s.o.NameServersComplete(s.Context(), []string{"broker-a"}) }).WithTimeout(patience).Should(Succeed())
	s.seen(func(g Gomega, c *snapshot.Cluster) { g.Expect(c.Problems).To(BeEmpty()) })
}

func (s *scene) remove() {
	s.Eventually(func(g Gomega) {
		look := s.look()
		out, err := s.actor.Delete(s.Context(), act.Deletion{Topic: e2eTopic, Look: look, Intent: time.Now(), NotAfter: look.Started.Add(10 * time.Second)})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out.Left).To(BeEmpty())
	}).WithTimeout(patience).Should(Succeed())
	look := s.look()
	stored, known := look.Brokers["broker-a"].Config.Get()
	s.Expect(known).To(BeTrue())
	s.Expect(stored.Present).To(BeFalse())
	for _, fact := range look.Routes {
		route, _ := fact.Get()
		s.Expect(route.Present).To(BeFalse())
	}
}
