// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"strconv"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func driftCases() []testCase {
	return []testCase{
		{name: "Q27 Q28 drift of every field is put back", run: drifted},
		{name: "Q03 an out-of-band -r 2 -w 8 is repaired by raising reads first", run: repaired},
	}
}

func drifted(s *scene) {
	name := s.name("TOPIC_DRIFT")
	topic := s.topic(name, 4, func(t *v1alpha1.Topic) {
		if s.five {
			t.Spec.MessageType = v1alpha1.MessageTypeDelay
		}
	})
	s.asDeclared(topic)
	s.update("broker-b", name, 4, 4, 4)
	if s.five {
		s.call("broker-a", remoting.ReqUpdateAndCreateTopic, updateFields(name, 4, 4, 6, "+message.type=NORMAL"), "")
	}
	s.Eventually(func(g Gomega) {
		b, err := s.mq.TopicConfig(s.Context(), s.master("broker-b").Addr, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Config.Perm).To(Equal(snapshot.PermReadWrite))
		a, err := s.mq.TopicConfig(s.Context(), s.master("broker-a").Addr, name)
		g.Expect(err).NotTo(HaveOccurred())
		if s.five {
			g.Expect(a.Config.MessageType()).To(Equal("DELAY"))
		}
	}).Should(Succeed())
	s.counts(name, 4, 4)
	s.asDeclared(topic)
}

func repaired(s *scene) {
	name := s.name("TOPIC_REPAIR")
	topic := s.topic(name, 8)
	s.asDeclared(topic)
	group := "CG_" + name
	s.committed(group, name, 8)
	seen := s.follow("broker-a", name, func() {
		s.update("broker-a", name, 2, 8, 6) // as mqadmin updateTopic -r 2 -w 8 does
		s.Eventually(func() (int, error) {
			found, err := s.mq.TopicConfig(s.Context(), s.master("broker-a").Addr, name)
			return found.Config.ReadQueues, err
		}).Should(BeNumerically(">=", 8))
		s.asDeclared(topic)
	})
	s.Expect(seen[:3]).To(Equal([]pair{{8, 8}, {2, 8}, {8, 8}}), "reads first, and nothing else")
	s.neverBelow(seen[2:])
	s.counts(name, 8, 8)
}

// update changes a topic on one broker as somebody else would.
func (s *scene) update(broker, topic string, read, write, perm int) {
	s.Helper()
	s.call(broker, remoting.ReqUpdateAndCreateTopic, updateFields(topic, read, write, perm, ""), "")
}

// updateFields are those of call 17, which replaces every field.
func updateFields(topic string, read, write, perm int, attributes string) map[string]string {
	fields := map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": strconv.Itoa(read), "writeQueueNums": strconv.Itoa(write),
		"perm": strconv.Itoa(perm), "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	}
	if attributes != "" {
		fields["attributes"] = attributes
	}
	return fields
}
