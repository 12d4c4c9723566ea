// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

func staleCases() []testCase {
	five := func(e *env) bool { return e.five }
	return []testCase{
		{name: "R05 a producer pinned to a retiring queue that never refreshes its route is named and holds the cut", run: pinned},
		{name: "R05 an idle proxy that sends by an old route loses nothing", needs: five, run: idleProxy},
	}
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// pinned shrinks a topic of which a producer uses one retiring queue, by a route
// that it reads once. The queue never stands still, so nothing is cut until the
// producer stops; and from the cut on the broker refuses such a send.
func pinned(s *scene) {
	name := s.name("TOPIC_PINNED")
	topic := s.topic(name, 4)
	s.asDeclared(topic)
	group := "CG_" + name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	producer := s.client(objectName(name)+"-producer", world.Classic(s.version), 1, "produce", "--topic="+name, "--group=PG_"+name,
		"--rate=10", "--queue=broker-b:3", "--never-refresh-route", sendTimeout)
	s.flows(name, 10, group)
	seen := s.follow("broker-b", name, func() {
		s.resize(topic, 2)
		s.Eventually(func() ([]v1alpha1.Hold, error) {
			err := s.w.Client.Get(s.Context(), keyOf(topic), topic)
			if topic.Status.Change == nil {
				return nil, err
			}
			return topic.Status.Change.WaitsFor, err
		}).Should(ContainElement(And(HaveField("Broker", "broker-b"), HaveField("Queue", HaveValue(Equal(int32(3)))),
			HaveField("Reason", v1alpha1.ReasonSettling))), func() string { return world.Describe(topic) })
		s.Logf("%s", topic.Status.Change.WaitsFor[0].Message)
		s.Consistently(func() int { return s.stored("broker-b", name).Config.ReadQueues }, quiet).Should(Equal(4))
		s.untouched(reader, producer)
		s.stop(producer)
		s.asDeclared(topic)
	})
	s.Expect(seen).To(Equal([]pair{{4, 4}, {4, 2}, {2, 2}}))
	s.nothingLost(name, group)

	end := s.end("broker-b", name, 3)
	_, err := s.wire.Invoke(s.Context(), s.master("broker-b").Addr, &remoting.Command{
		Code: remoting.ReqSendMessage, Version: remoting.Version, Body: []byte("hello"),
		ExtFields: map[string]string{"producerGroup": producerGroup, "topic": name, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
			"queueId": "3", "sysFlag": "0", "bornTimestamp": "1700000000000", "flag": "0", "reconsumeTimes": "0", "unitMode": "false", "batch": "false"},
	})
	s.Expect(err).To(MatchError(ContainSubstring("queueId[3] is illegal")), "the door is closed")
	s.Expect(s.end("broker-b", name, 3)).To(Equal(end))
}

// idleProxy shrinks a topic for which nobody asks the proxy between two sends of
// four messages each, ten seconds apart: the second four go by the route of the
// first, which still has 64 queues on each broker.
func idleProxy(s *scene) {
	const wide, narrow = 64, 1
	name := s.name("TOPIC_IDLE")
	topic := s.topic(name, wide)
	s.asDeclared(topic)
	group := "CG_" + name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	s.committedEverywhere(group, name, wide)
	producer := s.client(objectName(name)+"-grpc", world.GRPC, 1, "produce", "--topic="+name, "--rate=0.4", "--threads=4")
	s.untilOldRoute(topic, group, wide, narrow)
	s.asDeclared(topic)
	s.untouched(reader, producer)
	s.stop(producer)
	s.nothingLost(name, group)
	s.counts(name, narrow, narrow)
}

// untilOldRoute narrows the topic right after a send, until the next one goes by
// the route of the last. Whether it does is up to chance: the client asks the
// proxy for the route at moments of its own, which renews what the proxy keeps.
func (s *scene) untilOldRoute(topic *v1alpha1.Topic, group string, wide, narrow int) {
	s.Helper()
	const attempts = 5
	name := topic.EffectiveName()
	sent := func() int { return s.book(name, group).Sent }
	for range attempts {
		last := sent()
		s.Eventually(sent).Should(BeNumerically(">", last))
		s.resize(topic, int32(narrow))
		for _, master := range s.w.RocketMQ.Masters() {
			s.Eventually(func() int { return s.stored(master.Name, name).Config.WriteQueues }).Should(Equal(narrow))
		}
		before, last := s.retiring(name, narrow, wide), sent()
		s.Eventually(sent).Should(BeNumerically(">=", last+4))
		if s.retiring(name, narrow, wide) > before {
			return
		}
		s.Logf("the proxy had the new route already; again")
		s.asDeclared(topic)
		s.resize(topic, int32(wide))
		s.asDeclared(topic)
		s.committedEverywhere(group, name, wide)
	}
	s.Fatalf("no send went by an old route in %d attempts", attempts)
}

// retiring is how many messages were ever stored on queues from one number to
// another, over all masters.
func (s *scene) retiring(topic string, from, to int) int64 {
	s.Helper()
	sum := int64(0)
	for _, master := range s.w.RocketMQ.Masters() {
		for queue := from; queue < to; queue++ {
			sum += s.end(master.Name, topic, queue)
		}
	}
	return sum
}

// committedEverywhere waits until a group at work has a position on every queue.
func (s *scene) committedEverywhere(group, topic string, queues int) {
	s.Helper()
	s.Eventually(func(g Gomega) {
		for _, master := range s.w.RocketMQ.Masters() {
			for queue := range queues {
				_, there, err := s.mq.CommittedOffset(s.Context(), master.Addr, topic, group, queue)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(there).To(BeTrue(), "%s/%d", master.Name, queue)
			}
		}
	}).Should(Succeed())
}
