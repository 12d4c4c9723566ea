// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

const second = time.Second

func growthCases() []testCase {
	return []testCase{
		{name: "R12 R13 a group that was stopped during a growth skips nothing when it comes back", run: stoppedDuringGrowth},
		{name: "R12 positions given to a stopped group survive a crash of the broker", alone: true, run: crashedAfterGrowth},
		{name: "R12 a shrink turned round twice, the second time after the cut, skips nothing", run: turnedAfterCut},
	}
}

// stoppedDuringGrowth grows a topic while one of its groups has no member.
// Messages fill the new queues; then the group comes back. Without an entry it
// would begin at their ends.
func stoppedDuringGrowth(s *scene) {
	name := s.name("TOPIC_STOPPED")
	topic := s.topic(name, 2)
	s.ready(topic)
	group := "CG_" + name
	consume := []string{"consume", "--topic=" + name, "--group=" + group, "--from=last"}
	reader := s.client(objectName(name)+"-go", world.Go, 1, consume...)
	s.committedEverywhere(group, name, 2)
	producer := s.producer(name, 20)
	s.flows(name, 20, group)
	s.stop(reader)
	s.resize(topic, 4)
	s.asDeclared(topic)
	s.Eventually(func() int64 { return s.retiring(name, 2, 4) }).Should(BeNumerically(">", 20), "the new queues are used")
	s.Expect(reader.Scale(s.Context(), 1)).To(Succeed())
	s.nothingLeft(name, group, producer)
}

// crashedAfterGrowth kills a broker as soon as a growth has opened its queues to
// writers. A broker writes down positions every 5 s (flushConsumerOffsetInterval),
// so the ones that were just set could be gone.
func crashedAfterGrowth(s *scene) {
	name := s.name("TOPIC_CRASHED")
	topic := s.topic(name, 2)
	s.asDeclared(topic)
	group := "CG_" + name
	s.committed(group, name, 2)
	s.makeGroup("CG_LAST_" + name)
	s.resize(topic, 4)
	killed := s.w.RocketMQ.Server("broker-a")
	s.Eventually(func() (int, error) {
		found, err := s.mq.TopicConfig(s.Context(), killed.Addr, name)
		return found.Config.WriteQueues, err
	}).WithPolling(10 * time.Millisecond).Should(Equal(4))
	last := "CG_LAST_" + name
	s.Expect(s.mq.CommitOffset(s.Context(), s.master(killed.Name), name, last, 0, 0)).To(Succeed())
	killed.Kill()
	s.Expect(killed.Start(s.Context())).To(Succeed())
	s.Eventually(func() error {
		_, there, err := s.mq.CommittedOffset(s.Context(), killed.Addr, name, last, 0)
		s.Logf("a position that was set just before the kill is there: %v, error %v", there, err)
		return err
	}).Should(Succeed())
	for queue := 2; queue < 4; queue++ {
		there := false
		s.Eventually(func() (err error) { // a broker that has just started fails a call or two
			_, there, err = s.mq.CommittedOffset(s.Context(), killed.Addr, name, group, queue)
			return err
		}).Should(Succeed())
		s.Expect(there).To(BeTrue(), "queue %d", queue)
	}
	s.asDeclared(topic)
}

// turnedAfterCut makes two queues of six, six again before the cut, then two,
// and six again while the retired queues are watched.
func turnedAfterCut(s *scene) {
	name := s.name("TOPIC_TWICE")
	topic := s.topic(name, 6, func(t *v1alpha1.Topic) { t.Spec.Resize.LongestDelaySeconds = ptr.To(int64(600)) })
	s.ready(topic)
	group := "CG_" + name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group, "--from=last")
	s.committedEverywhere(group, name, 6)
	producer := s.producer(name, 20)
	s.flows(name, 20, group)
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 2)
		s.reaches(topic, v1alpha1.StageSettling)
		s.resize(topic, 6)
		s.counts(name, 6, 6)
		s.resize(topic, 2)
		s.reaches(topic, v1alpha1.StageWatchingRetired)
		s.resize(topic, 6)
		s.asDeclared(topic)
	})
	s.neverBelow(seen)
	s.Expect(seen).To(Equal([]pair{{6, 6}, {6, 2}, {6, 6}, {6, 2}, {2, 2}, {6, 2}, {6, 6}}))
	s.counts(name, 6, 6)
	s.untouched(reader)
	s.nothingLeft(name, group, producer)
}

// nothingLeft ends the producer and waits until the group has read everything.
func (s *scene) nothingLeft(topic, group string, producer world.Fleet) {
	s.Helper()
	s.untouched(producer)
	s.stop(producer)
	s.nothingLost(topic, group)
}
