// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

func crashCases() []testCase {
	return []testCase{
		{name: "O22 R05 the operator killed at each stage of a shrink ends in the right state", alone: true, run: crashed},
		{name: "O22 the operator killed while the first broker was changed ends in the right state", alone: true, run: torn},
	}
}

// crashed kills the operator when the Topic first shows a stage, one stage after
// the other, while a producer and a consumer are at work. Every new process
// begins its windows again, and goes through the stages again.
func crashed(s *scene) {
	name := s.name("TOPIC_CRASH")
	topic := s.topic(name, 8)
	s.ready(topic)
	group, offline := "CG_"+name, "CG_OFFLINE_"+name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	producer := s.producer(name, 20)
	s.flows(name, 20, group)
	// A group that is away makes the drain last until it is waived.
	s.committed(offline, name, 8)
	for _, master := range s.w.RocketMQ.Masters() {
		s.send(master.Name, name, 7, nil)
	}

	killed := s.killAtStages(topic, offline)
	s.Logf("killed at %v", killed)
	must := []v1alpha1.Stage{v1alpha1.StageNarrowingWrites, v1alpha1.StageSettling, v1alpha1.StageDraining, v1alpha1.StageNarrowingReads}
	s.Expect(killed).To(ContainElements(must))

	s.counts(name, 4, 4)
	s.untouched(reader, producer)
	s.stop(producer)
	s.nothingLost(name, group)
}

// killAtStages shrinks the topic to half and returns the stages at which it
// killed the operator.
func (s *scene) killAtStages(topic *v1alpha1.Topic, offline string) []v1alpha1.Stage {
	s.Helper()
	var killed []v1alpha1.Stage
	states := s.watch(topic)
	half := topic.Spec.Queues.PerBroker / 2
	seen := s.follow("broker-a", string(topic.Spec.TopicName), func() {
		s.resize(topic, half)
		generation := topic.Generation
		s.Eventually(func(g Gomega) {
			state, open := <-states
			g.Expect(open).To(BeTrue())
			*topic = *state
			g.Expect(topic.Generation).To(BeNumerically(">=", generation), "a state from before the edit")
			if change := topic.Status.Change; change != nil && !slices.Contains(killed, change.Stage) {
				killed = append(killed, change.Stage)
				s.kill()
				if change.Stage == v1alpha1.StageDraining {
					s.edit(topic, func(t *v1alpha1.Topic) {
						t.Spec.Resize.Waivers = []v1alpha1.Waiver{{Group: offline, ToQueues: half, Reason: "it has served"}}
					})
				}
			}
			g.Expect(stageOf(topic)).To(BeEmpty())
			g.Expect(asDeclared(topic)).To(BeTrue())
		}).WithTimeout(3*patience).WithPolling(1).Should(Succeed(), func() string { return world.Describe(topic) })
	})
	s.neverBelow(seen)
	s.Expect(seen[0]).To(Equal(pair{int(2 * half), int(2 * half)}))
	s.Expect(seen[len(seen)-1]).To(Equal(pair{int(half), int(half)}))
	return killed
}

// stageOf is the stage of the running change; empty at rest.
func stageOf(topic *v1alpha1.Topic) v1alpha1.Stage {
	if topic.Status.Change == nil {
		return ""
	}
	return topic.Status.Change.Stage
}

func asDeclared(topic *v1alpha1.Topic) bool {
	for _, c := range topic.Status.Conditions {
		if c.Type == v1alpha1.ConditionAsDeclared {
			return c.Status == "True" && c.ObservedGeneration == topic.Generation
		}
	}
	return false
}

// kill ends the operator as a crash does, and starts it again. The lease of the
// dead one is taken away: waiting for it each time would take 15 s.
func (s *scene) kill() {
	s.Helper()
	s.w.Operator.Kill()
	s.Expect(s.w.ReleaseLease(s.Context())).To(Succeed())
	s.Expect(s.w.Operator.Start(s.Context())).To(Succeed())
}

// watch sends every state of a Topic from now on.
func (s *scene) watch(topic *v1alpha1.Topic) <-chan *v1alpha1.Topic {
	s.Helper()
	out := make(chan *v1alpha1.Topic)
	ctx, cancel := context.WithCancel(s.Context())
	s.Cleanup(cancel)
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			events, err := s.w.Client.Watch(ctx, &v1alpha1.TopicList{}, client.InNamespace(topic.Namespace), client.MatchingFields{"metadata.name": topic.Name})
			if err != nil {
				return
			}
			for event := range events.ResultChan() {
				state, ok := event.Object.(*v1alpha1.Topic)
				if !ok {
					continue
				}
				select {
				case out <- state:
				case <-ctx.Done():
				}
			}
			events.Stop()
		}
	}()
	return out
}

// torn kills the operator as soon as any broker shows the first narrowing, of
// writes and then of reads, when the other broker may or may not have its call.
func torn(s *scene) {
	name := s.name("TOPIC_TORN")
	topic := s.topic(name, 4)
	s.asDeclared(topic)
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 2)
		s.killAtChange(name, func(p pair) bool { return p.write < 4 })
		s.killAtChange(name, func(p pair) bool { return p.read < 4 })
		s.asDeclared(topic)
	})
	s.neverBelow(seen)
	s.counts(name, 2, 2)
}

// killAtChange kills the operator when a broker shows what is wanted.
func (s *scene) killAtChange(topic string, wanted func(pair) bool) {
	s.Helper()
	var states []pair
	s.Eventually(func() (bool, error) {
		states = nil
		any := false
		for _, master := range s.w.RocketMQ.Masters() {
			found, err := s.mq.TopicConfig(s.Context(), master.Addr, topic)
			if err != nil {
				return false, err
			}
			p := pair{found.Config.ReadQueues, found.Config.WriteQueues}
			states = append(states, p)
			any = any || wanted(p)
		}
		return any, nil
	}).WithPolling(5 * time.Millisecond).Should(BeTrue())
	s.Logf("killed when brokers showed %v", states)
	s.kill()
}
