// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

func shrinkCases() []testCase {
	return []testCase{
		{name: "Q01 Q18 a shrink under load loses nothing and restarts nobody", run: shrunk},
		{name: "a shrink turned round in the middle ends wide, and loses nothing", run: turned},
	}
}

// shrunk takes a topic to half its queues while classic Java, Go and, from 5.x
// on, gRPC consumers read it.
func shrunk(s *scene) {
	from, to := int32(16), int32(8)
	if s.version == "5.3.3" {
		from, to = 128, 64
	}
	name := s.name("TOPIC_LOAD")
	topic := s.topic(name, from)
	s.ready(topic)
	object := objectName(name)
	groups := []string{"CG_JAVA_" + name, "CG_GO_" + name}
	fleets := []world.Fleet{
		s.client(object+"-java", world.Classic(s.version), 2, "consume", "--topic="+name, "--group="+groups[0], routePeriod),
		s.client(object+"-go", world.Go, 2, "consume", "--topic="+name, "--group="+groups[1]),
	}
	if s.five {
		groups = append(groups, "CG_GRPC_"+name)
		fleets = append(fleets, s.client(object+"-grpc", world.GRPC, 1, "consume", "--topic="+name, "--group="+groups[2]))
	}
	producer := s.producer(name, 60)
	s.flows(name, 200, groups...)
	s.untouched(append(fleets, producer)...)

	seen := s.follow("broker-b", name, func() {
		s.resize(topic, to)
		s.asDeclared(topic)
	})
	s.Expect(seen).To(Equal([]pair{{int(from), int(from)}, {int(from), int(to)}, {int(to), int(to)}}), "writes first, then reads")
	s.counts(name, int(to), int(to))
	s.flows(name, s.book(name, groups[0]).Sent+50, groups...)
	s.untouched(append(fleets, producer)...)
	s.stop(producer)
	s.nothingLost(name, groups...)
	for key, counts := range s.book(name, groups[0]).Queues {
		s.Expect(counts.Lost).To(BeZero(), "%v", key)
	}
}

// turned edits the number back while the drain waits for a group.
func turned(s *scene) {
	name := s.name("TOPIC_TURN")
	topic := s.topic(name, 4)
	s.ready(topic)
	group := "CG_" + name
	s.committed(group, name, 4)
	s.send("broker-a", name, 3, map[string]string{"KEYS": "turn-1"})
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 2)
		s.is(topic, v1alpha1.ConditionDraining, metav1.ConditionTrue, v1alpha1.ReasonGroupOffline)
		s.resize(topic, 4)
		s.asDeclared(topic)
	})
	s.Expect(seen).To(Equal([]pair{{4, 4}, {4, 2}, {4, 4}}), "reads never left")
	at, there, err := s.mq.CommittedOffset(s.Context(), s.master("broker-a").Addr, name, group, 3)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(there).To(BeTrue())
	s.Expect(at).To(BeZero(), "the message is still unread")
}
