// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"fmt"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// Like lateCases, these would hold the shrinks of others.
func arrivalCases() []testCase {
	five := func(e *env) bool { return e.five }
	return []testCase{
		{name: "Q19 R15 a timer that waits in the wheel holds the cut", alone: true, needs: five, run: timed},
		{name: "Q19 R15 half messages hold the cut, and one that is committed meanwhile is delivered", alone: true, run: halved},
	}
}

// arriving declares a topic that is read by one group.
func (s *scene) arriving(prefix string) (topic *v1alpha1.Topic, name, group string, reader world.Fleet) {
	s.Helper()
	name = s.name(prefix)
	topic = s.topic(name, 4, func(t *v1alpha1.Topic) { t.Spec.Resize.LongestDelaySeconds = ptr.To(int64(60)) })
	s.ready(topic)
	group = "CG_" + name
	reader = s.client(objectName(name)+"-go", world.Go, 1, "consume", "--topic="+name, "--group="+group)
	s.committedEverywhere(group, name, 4)
	return topic, name, group, reader
}

// pendingOn waits until the change is held by what is pending on a broker.
func (s *scene) pendingOn(topic *v1alpha1.Topic, broker string) {
	s.Helper()
	var found v1alpha1.Hold
	s.Eventually(func() (bool, error) {
		if err := s.w.Client.Get(s.Context(), keyOf(topic), topic); err != nil || topic.Status.Change == nil {
			return false, err
		}
		for _, hold := range topic.Status.Change.WaitsFor {
			if hold.Reason == v1alpha1.ReasonPending && hold.Broker == broker {
				found = hold
				return true, nil
			}
		}
		return false, nil
	}).Should(BeTrue(), func() string { return world.Describe(topic) })
	s.Logf("%s: %s\n%s", found.Broker, found.Message, world.Describe(topic))
}

// timed sends a message of 25 s to a retiring queue.
func timed(s *scene) {
	topic, name, group, reader := s.arriving("TOPIC_TIMED")
	s.send("broker-b", name, 3, map[string]string{"TIMER_DELAY_SEC": "25", "KEYS": "timed-" + name})
	seen := s.follow("broker-b", name, func() {
		s.resize(topic, 2)
		s.pendingOn(topic, "broker-b")
		s.Expect(s.end("broker-b", name, 3)).To(BeZero(), "it is not there yet")
		s.reaches(topic, v1alpha1.StageWatchingRetired)
	})
	s.Expect(seen).To(Equal([]pair{{4, 4}, {4, 2}, {2, 2}}))
	s.Expect(s.end("broker-b", name, 3)).To(Equal(int64(1)), "it landed on the retiring queue")
	s.Eventually(func() int { return s.book(name, group).Unconfirmed }).Should(Equal(1), "it was consumed; no ledger knows it as sent")
	s.untouched(reader)
}

// halved sends half messages to a retiring queue until they are seen to hold the
// cut, and commits the last one. The others are discarded after two checks.
func halved(s *scene) {
	topic, name, group, reader := s.arriving("TOPIC_HALVED")
	key := ""
	var half map[string]string
	send := func() {
		key = fmt.Sprintf("half-%d-%s", s.serial.Add(1), name)
		half = s.send("broker-a", name, 3, map[string]string{"TRAN_MSG": "true", "PGROUP": producerGroup, "UNIQ_KEY": key, "KEYS": key})
	}
	seen := s.follow("broker-a", name, func() {
		s.resize(topic, 2)
		s.Eventually(func() (bool, error) {
			send()
			if err := s.w.Client.Get(s.Context(), keyOf(topic), topic); err != nil || topic.Status.Change == nil {
				return false, err
			}
			for _, hold := range topic.Status.Change.WaitsFor {
				if hold.Reason == v1alpha1.ReasonPending && hold.Broker == "broker-a" {
					s.Logf("%s: %s", hold.Broker, hold.Message)
					return true, nil
				}
			}
			return false, nil
		}).WithPolling(second).Should(BeTrue(), func() string { return world.Describe(topic) })
		s.Expect(s.stored("broker-a", name).Config.ReadQueues).To(Equal(4))
		s.call("broker-a", endTransaction, map[string]string{
			"producerGroup": producerGroup, "tranStateTableOffset": half["queueOffset"], "commitLogOffset": s.halfPosition(half["queueOffset"], name),
			"commitOrRollback": commit, "fromTransactionCheck": "false", "msgId": half["msgId"], "transactionId": half["transactionId"],
		}, "")
		s.reaches(topic, v1alpha1.StageWatchingRetired)
	})
	s.Expect(seen).To(Equal([]pair{{4, 4}, {4, 2}, {2, 2}}))
	s.Expect(s.end("broker-a", name, 3)).To(Equal(int64(1)))
	s.Eventually(func() int { return s.book(name, group).Unconfirmed }).Should(Equal(1))
	s.untouched(reader)
}
