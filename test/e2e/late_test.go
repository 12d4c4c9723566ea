// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"fmt"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/ledger"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// Half messages and delay levels are shared by all topics of a broker, so these
// cases would hold the shrinks of others.
func lateCases() []testCase {
	return []testCase{
		{name: "Q19 R11 a message that lands on a retired queue after the cut is delivered after re-opening", alone: true, run: late},
		{name: "Q19 R15 delayed messages that are seen pending hold the cut", alone: true, run: pending},
	}
}

// The names of RocketMQ's own that half messages go by.
const (
	halfTopic      = "RMQ_SYS_TRANS_HALF_TOPIC"
	endTransaction = 37
	commit         = "8"
)

// late commits a half message of a retiring queue after the cut. The brokers
// have discarded it by then (transactionCheckMax), so that nothing is seen
// pending; it can be committed all the same (R15).
func late(s *scene) {
	name := s.name("TOPIC_LATE")
	topic := s.topic(name, 4, func(t *v1alpha1.Topic) { t.Spec.Resize.LongestDelaySeconds = ptr.To(int64(600)) })
	s.ready(topic)
	group := "CG_" + name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	// Every queue has an entry of the group, as in a group that has run for a while.
	s.Eventually(func(g Gomega) {
		for queue := range 4 {
			_, there, err := s.mq.CommittedOffset(s.Context(), s.master("broker-a").Addr, name, group, queue)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(there).To(BeTrue(), "queue %d", queue)
		}
	}).Should(Succeed())
	key := "late-" + name
	half := s.send("broker-a", name, 3, map[string]string{"TRAN_MSG": "true", "PGROUP": producerGroup, "UNIQ_KEY": key, "KEYS": key})
	position := s.halfPosition(half["queueOffset"], name)

	s.resize(topic, 2)
	s.reaches(topic, v1alpha1.StageWatchingRetired)
	s.counts(name, 2, 2)
	s.Expect(s.end("broker-a", name, 3)).To(BeZero())

	s.call("broker-a", endTransaction, map[string]string{
		"producerGroup": producerGroup, "tranStateTableOffset": half["queueOffset"], "commitLogOffset": position,
		"commitOrRollback": commit, "fromTransactionCheck": "false", "msgId": half["msgId"], "transactionId": half["transactionId"],
	}, "")
	s.Eventually(func() (int64, error) {
		return s.mq.MaxOffset(s.Context(), s.master("broker-a").Addr, name, 3)
	}).Should(Equal(int64(1)), "the message is on the retired queue now")

	said := s.is(topic, v1alpha1.ConditionLateMessages, metav1.ConditionTrue, v1alpha1.ReasonLateMessage)
	s.Expect(said.Message).To(And(ContainSubstring("broker-a/3"), ContainSubstring("no message is lost")))
	s.Eventually(func(g Gomega) {
		all, err := ledger.ReadDir(s.w.LedgerDir(shop))
		g.Expect(err).NotTo(HaveOccurred())
		consumed := 0
		for _, entry := range all.Entries {
			if entry.Event == ledger.Consumed && entry.Group == group && entry.Key == key {
				consumed++
			}
		}
		g.Expect(consumed).To(BeNumerically(">=", 1))
	}).Should(Succeed(), func() string { return world.Describe(topic) })
	// Consumed: reads are narrowed again, and the window begins anew.
	s.counts(name, 2, 2)
	s.reaches(topic, v1alpha1.StageWatchingRetired)
	s.untouched(reader)
}

// halfPosition is where the half message stands in the broker's log.
func (s *scene) halfPosition(queueOffset, topic string) string {
	s.Helper()
	var at int64
	_, err := fmt.Sscan(queueOffset, &at)
	s.Expect(err).NotTo(HaveOccurred())
	position := ""
	s.Eventually(func(g Gomega) {
		found, err := s.mq.Pull(s.Context(), s.master("broker-a").Addr, halfTopic, 0, at, 1)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Messages).To(HaveLen(1))
		g.Expect(found.Messages[0].Properties).To(HaveKeyWithValue("REAL_TOPIC", topic))
		position = fmt.Sprint(found.Messages[0].Position)
	}).Should(Succeed())
	return position
}

// pending sends a delayed message to a retiring queue: while it waits nothing is
// cut, and it is there before reads go.
func pending(s *scene) {
	name := s.name("TOPIC_PENDING")
	topic := s.topic(name, 4, func(t *v1alpha1.Topic) { t.Spec.Resize.LongestDelaySeconds = ptr.To(int64(60)) })
	s.ready(topic)
	group := "CG_" + name
	reader := s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	const level30s = "9" // of the short levels of these servers
	s.send("broker-b", name, 3, map[string]string{"DELAY": level30s, "KEYS": "pending-" + name})
	seen := s.follow("broker-b", name, func() {
		s.resize(topic, 2)
		if s.five { // 4.9 shows a level only after its first delivery
			s.reaches(topic, v1alpha1.StageLookingForPending)
			s.Expect(s.end("broker-b", name, 3)).To(BeZero())
		}
		s.reaches(topic, v1alpha1.StageWatchingRetired)
	})
	s.neverBelow(seen)
	s.Eventually(func() int { return s.book(name, group).Unconfirmed }).Should(Equal(1), "the message was consumed; no ledger knows it as sent")
	s.untouched(reader)
	s.is(topic, v1alpha1.ConditionReady, metav1.ConditionTrue, "")
}
