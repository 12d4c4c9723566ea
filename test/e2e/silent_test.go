// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	rig "github.com/lockstep-dev/lockstep/test/rig/rocketmq"
)

// quiet is how long nothing must be written: several sweeps and looks.
const quiet = 12 * time.Second

func silentCases() []testCase {
	return []testCase{
		{name: "O27 a broker that does not answer leads to no write at all", alone: true, run: func(s *scene) {
			silent(s, "broker-b", v1alpha1.ConditionBrokersReachable, "broker-a")
		}},
		{name: "O19 a name server that does not answer leads to no write at all", alone: true, run: func(s *scene) {
			silent(s, "ns-2", v1alpha1.ConditionNameServersAgree, "broker-a", "broker-b")
		}},
	}
}

// silent stops a server so that its port stays open and nothing answers, then
// wants a shrink, a growth, a new topic and the repair of a drift. No topic table
// of a broker that answers may change. When the server goes on, all of it is done.
func silent(s *scene, server, condition string, answering ...string) {
	shrinks, grows, drifts, fresh := s.name("TOPIC_SHRINKS"), s.name("TOPIC_GROWS"), s.name("TOPIC_DRIFTS"), s.name("TOPIC_FRESH")
	shrinking, growing, drifting := s.topic(shrinks, 4), s.topic(grows, 2), s.topic(drifts, 2)
	for _, topic := range []*v1alpha1.Topic{shrinking, growing, drifting} {
		s.asDeclared(topic)
	}
	stopped := s.w.RocketMQ.Server(server)
	s.Expect(stopped.Pause()).To(Succeed())
	s.Cleanup(func() { s.Expect(stopped.Resume()).To(Succeed()) })
	declared := &v1alpha1.BrokerCluster{ObjectMeta: metav1.ObjectMeta{Namespace: platform, Name: cluster}}
	said := s.is(declared, condition, metav1.ConditionFalse, "")
	s.Expect(said.Message).To(ContainSubstring(stopped.Addr))
	s.Logf("%s: %s", said.Reason, said.Message)

	if stopped.Kind == rig.Broker {
		s.update("broker-a", drifts, 2, 2, 4)
	}
	before := s.tables(answering...)
	s.resize(shrinking, 2)
	s.resize(growing, 4)
	created := s.topic(fresh, 2)
	for _, topic := range []*v1alpha1.Topic{shrinking, growing, created} {
		s.Eventually(func() (metav1.ConditionStatus, error) {
			return s.w.Condition(s.Context(), topic, v1alpha1.ConditionReady)
		}).ShouldNot(Or(BeEmpty(), Equal(metav1.ConditionTrue)), "the wish is seen and not granted")
	}
	s.Consistently(func() any { return s.tables(answering...) }, quiet, time.Second).Should(Equal(any(before)))

	s.Expect(stopped.Resume()).To(Succeed())
	for _, topic := range []*v1alpha1.Topic{shrinking, growing, drifting, created} {
		s.asDeclared(topic)
	}
	s.counts(shrinks, 2, 2)
	s.counts(grows, 4, 4)
	s.counts(drifts, 2, 2)
	s.counts(fresh, 2, 2)
	s.Expect(int(s.stored("broker-a", drifts).Config.Perm)).To(Equal(6))
}
