// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// call sends a request that the operator's client cannot express, and returns
// the answer, which must be a success.
func (s *scene) call(broker string, code int, ext map[string]string, body string) *remoting.Command {
	s.Helper()
	reply, err := s.wire.Invoke(s.Context(), s.master(broker).Addr, &remoting.Command{
		Code: code, Version: remoting.Version, ExtFields: ext, Body: []byte(body),
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(reply.Code).To(BeZero(), "%s: %s", remoting.RequestName(code), reply.Remark)
	return reply
}

// send stores a message on one queue, as a producer does that knows an old route.
func (s *scene) send(broker, topic string, queue int, properties map[string]string) map[string]string {
	s.Helper()
	var text strings.Builder
	for key, value := range properties {
		text.WriteString(key + "\x01" + value + "\x02")
	}
	flag := "0"
	if properties["TRAN_MSG"] == "true" {
		flag = "4"
	}
	return s.call(broker, remoting.ReqSendMessage, map[string]string{
		"producerGroup": producerGroup, "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
		"queueId": fmt.Sprint(queue), "sysFlag": flag, "bornTimestamp": "1700000000000", "flag": "0",
		"properties": text.String(), "reconsumeTimes": "0", "unitMode": "false", "batch": "false",
	}, "hello").ExtFields
}

// producerGroup is whose name stands on messages that tests send themselves.
const producerGroup = "PG_E2E"

// makeTopic makes a topic on every master as somebody else would.
func (s *scene) makeTopic(topic string, queues int) {
	s.Helper()
	s.Expect(s.w.RocketMQ.CreateTopic(s.Context(), topic, queues)).To(Succeed())
	s.counts(topic, queues, queues)
}

// makeGroup makes a consumer group on every master.
func (s *scene) makeGroup(group string) {
	s.Helper()
	for _, server := range s.w.RocketMQ.Masters() {
		_, err := s.mq.UpdateGroup(s.Context(), s.master(server.Name), group,
			func(current snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) { return current, nil })
		s.Expect(err).NotTo(HaveOccurred())
	}
}

// committed makes a group that once read every queue of the topic up to the
// present end and went away.
func (s *scene) committed(group, topic string, queues int) {
	s.Helper()
	s.makeGroup(group)
	for _, server := range s.w.RocketMQ.Masters() {
		for queue := range queues {
			end := s.end(server.Name, topic, queue)
			s.Expect(s.mq.CommitOffset(s.Context(), s.master(server.Name), topic, group, queue, end)).To(Succeed())
			at, found, err := s.mq.CommittedOffset(s.Context(), server.Addr, topic, group, queue)
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(found).To(BeTrue())
			s.Expect(at).To(Equal(end))
		}
	}
}

// end is the offset after the last message of a queue.
func (s *scene) end(broker, topic string, queue int) int64 {
	s.Helper()
	end, err := s.mq.MaxOffset(s.Context(), s.master(broker).Addr, topic, queue)
	s.Expect(err).NotTo(HaveOccurred())
	return end
}

// tables are the versions of the topic tables of brokers: they move with every
// change of any topic.
func (s *scene) tables(brokers ...string) map[string]rocketmq.DataVersion {
	s.Helper()
	out := map[string]rocketmq.DataVersion{}
	for _, broker := range brokers {
		table, err := s.mq.AllTopicConfigs(s.Context(), s.master(broker).Addr)
		s.Expect(err).NotTo(HaveOccurred())
		out[broker] = table.Version
	}
	return out
}
