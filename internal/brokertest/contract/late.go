// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func lateTests() []test {
	return []test{
		{"a delayed message lands on the queue it was stamped for, retired or not (Q19, R11)", func(s *scene, name string) {
			s.topic(name, 8, 8)
			s.send(name, 7, map[string]string{"DELAY": "2"})
			s.topic(name, 4, 4)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 7)).To(gomega.Equal(int64(1))) })
			body := string(s.ok(s.a, remoting.ReqGetTopicStatsInfo, fields{"topic": name}).Body)
			s.Expect(queuesIn(body)).To(gomega.Equal(4), "call 202 does not show it")
		}},
		{"28 shows the progress of a level that was used, on 4.9 only once it delivered (R15)", func(s *scene, name string) {
			s.topic(name, 8, 8)
			s.send(name, 6, map[string]string{"DELAY": "18"})
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf("SCHEDULE_TOPIC_XXXX", 17)).To(gomega.Equal(int64(1))) })
			if s.five() {
				s.soon(func(g gomega.Gomega) {
					runtime, err := s.client.Runtime(s.Context(), s.a)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					g.Expect(runtime.Delay).To(gomega.HaveKeyWithValue(18, snapshot.Progress{Delivered: 0, Max: 1}))
				})
			} else {
				runtime, err := s.client.Runtime(s.Context(), s.a)
				s.Expect(err).NotTo(gomega.HaveOccurred())
				s.Expect(runtime.Delay).NotTo(gomega.HaveKey(18))
			}
			end := s.maxOf("SCHEDULE_TOPIC_XXXX", 17)
			got, err := s.client.Pull(s.Context(), s.a, "SCHEDULE_TOPIC_XXXX", 17, end-1, 1)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(got.Messages).To(gomega.HaveLen(1))
			s.Expect(got.Messages[0].Properties).To(gomega.And(gomega.HaveKeyWithValue("REAL_TOPIC", name), gomega.HaveKeyWithValue("REAL_QID", "6")))
		}},
		{"61 counts timers by topic on 5.x, and they land on the retired queue", func(s *scene, name string) {
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqGetTimerMetrics, nil)
				return
			}
			s.topic(name, 8, 8)
			s.send(name, 6, map[string]string{"TIMER_DELAY_SEC": "6"})
			s.topic(name, 4, 4)
			s.Eventually(func(g gomega.Gomega) {
				counts, err := s.client.TimerMetrics(s.Context(), s.a)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(counts).To(gomega.HaveKeyWithValue(name, int64(1)))
			}).WithTimeout(s.Patience).Should(gomega.Succeed())
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 6)).To(gomega.Equal(int64(1))) })
			s.soon(func(g gomega.Gomega) {
				counts, err := s.client.TimerMetrics(s.Context(), s.a)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(counts[name]).To(gomega.BeZero())
			})
		}},
		{"a half message lands on the retired queue when it is committed, not before", func(s *scene, name string) {
			s.topic(name, 8, 8)
			half := s.send(name, 5, map[string]string{"TRAN_MSG": "true", "PGROUP": "contract", "UNIQ_KEY": name})
			s.topic(name, 4, 4)
			s.soon(func(g gomega.Gomega) {
				g.Expect(s.maxOf("RMQ_SYS_TRANS_HALF_TOPIC", 0)).To(gomega.BeNumerically(">", 0))
			})
			s.Expect(s.maxOf(name, 5)).To(gomega.BeZero())
			at, err := s.client.Pull(s.Context(), s.a, "RMQ_SYS_TRANS_HALF_TOPIC", 0, s.maxOf("RMQ_SYS_TRANS_HALF_TOPIC", 0)-1, 1)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(at.Messages).To(gomega.HaveLen(1))
			s.Expect(at.Messages[0].Properties).To(gomega.And(gomega.HaveKeyWithValue("REAL_TOPIC", name), gomega.HaveKeyWithValue("REAL_QID", "5")))
			s.ok(s.a, 37, fields{
				"producerGroup": "contract", "tranStateTableOffset": half["queueOffset"],
				"commitLogOffset": fmt.Sprint(at.Messages[0].Position), "commitOrRollback": "8", "fromTransactionCheck": "false",
				"msgId": half["msgId"], "transactionId": half["transactionId"],
			})
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 5)).To(gomega.Equal(int64(1))) })
		}},
		{"a priority is the queue id from 5.4 on", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.send(name, 2, map[string]string{"_SYS_MSG_PRIORITY_": "6"})
			landed := 2
			if s.Version >= v540 {
				landed = 3
			}
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, landed)).To(gomega.Equal(int64(1))) })
		}},
	}
}
