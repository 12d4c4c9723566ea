// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"fmt"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

func placementCases() []testCase {
	return []testCase{{name: "R14 a topic moves from one broker to another under load and loses nothing", run: moved}}
}

// moved adds a broker to a topic, and then takes the first one away, while a
// producer and a consumer are at work and another group is stopped.
func moved(s *scene) {
	name := s.name("TOPIC_MOVED")
	topic := s.topic(name, 3, on("broker-a"))
	s.asDeclared(topic)
	s.Expect(s.stored("broker-b", name).Present).To(BeFalse())
	group, stopped := "CG_"+name, "CG_STOPPED_"+name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	s.makeGroup(stopped)
	for queue := range 3 {
		s.Expect(s.mq.CommitOffset(s.Context(), s.master("broker-a"), name, stopped, queue, 0)).To(Succeed())
	}
	producer := s.producer(name, 20)
	s.flows(name, 20, group)

	s.edit(topic, on("broker-a", "broker-b"))
	s.asDeclared(topic)
	added := s.stored("broker-b", name)
	s.Expect(fmt.Sprintln(added.Config.ReadQueues, added.Config.WriteQueues, added.Config.Perm)).To(Equal(fmt.Sprintln(3, 3, snapshot.PermReadWrite)))
	for queue := range 3 {
		at, there, err := s.mq.CommittedOffset(s.Context(), s.master("broker-b").Addr, name, stopped, queue)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(there).To(BeTrue(), "R14: queue %d", queue)
		s.Expect(at).To(BeZero())
	}
	s.Eventually(func() int64 { return s.end("broker-b", name, 0) }).Should(BeNumerically(">", 0), "producers use the new broker")

	// The stopped group has unread messages there, so broker-a stays until it is
	// waived; it takes no more writes.
	s.edit(topic, on("broker-b"))
	s.Eventually(func() snapshot.Perm { return s.stored("broker-a", name).Config.Perm }).Should(Equal(snapshot.Perm(4)))
	s.Eventually(func() ([]v1alpha1.Hold, error) {
		err := s.w.Client.Get(s.Context(), keyOf(topic), topic)
		if topic.Status.Change == nil {
			return nil, err
		}
		return topic.Status.Change.WaitsFor, err
	}).Should(ContainElement(And(HaveField("Group", stopped), HaveField("Reason", v1alpha1.ReasonGroupOffline))), func() string { return world.Describe(topic) })
	s.Expect(s.stored("broker-a", name).Present).To(BeTrue())
	s.edit(topic, func(t *v1alpha1.Topic) {
		t.Spec.Resize.Waivers = []v1alpha1.Waiver{{Group: stopped, ToQueues: 3, Reason: "it has served"}}
	})
	s.asDeclared(topic)
	s.Expect(s.stored("broker-a", name).Present).To(BeFalse())
	s.untouched(reader, producer)
	s.stop(producer)
	s.nothingLost(name, group)
}

// on places a Topic on brokers.
func on(brokers ...v1alpha1.BrokerName) func(*v1alpha1.Topic) {
	return func(t *v1alpha1.Topic) { t.Spec.Placement = &v1alpha1.Placement{Brokers: brokers} }
}
