// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package rocketmq_test

import (
	"encoding/json"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// answerRunningInfo is a consumer's answer to request 307 from the broker.
func answerRunningInfo(_ string, request *remoting.Command) *remoting.Command {
	if request.Code != remoting.ReqGetConsumerRunningInfo {
		return nil
	}
	reply := remoting.NewResponse(request, remoting.RespSuccess, "")
	reply.Body = []byte(`{"mqTable":{{"brokerName":"broker-a","queueId":3,"topic":"orders"}:{"cachedMsgCount":0,"commitOffset":2,"droped":false,"locked":false}},` +
		`"properties":{"PROP_CONSUME_TYPE":"CONSUME_PASSIVELY"},"statusTable":{},"subscriptionSet":[{"classFilterMode":false,"codeSet":[2448076],"expressionType":"TAG","subString":"PAID","subVersion":1,"tagsSet":["PAID"],"topic":"orders"}]}`)
	return reply
}

func (s *scene) members() {
	const id, group = "10.0.0.9@1#2", "payments"
	heartbeat := map[string]any{
		"clientID": id,
		"consumerDataSet": []any{map[string]any{
			"consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "consumeType": "CONSUME_PASSIVELY", "groupName": group,
			"messageModel": "CLUSTERING", "unitMode": false,
			"subscriptionDataSet": []any{map[string]any{
				"topic": "orders", "subString": "PAID", "expressionType": "TAG", "tagsSet": []string{"PAID"},
				"codeSet": []int{2448076}, "subVersion": 1, "classFilterMode": false,
			}},
		}},
		"producerDataSet": []any{},
	}
	body, err := json.Marshal(heartbeat)
	s.Expect(err).NotTo(HaveOccurred())
	_, err = s.wire.Invoke(s.ctx(), s.at.Addr, &remoting.Command{Code: remoting.ReqHeartBeat, Body: body})
	s.Expect(err).NotTo(HaveOccurred())

	m := must[snapshot.Membership](s)(s.client.Members(s.ctx(), s.at.Addr, group))
	s.Expect(m.Members).To(HaveLen(1))
	s.Expect(m.Members[0].ClientID).To(Equal(id))
	s.Expect(m.Members[0].Language).To(Equal("GO"))
	s.Expect(m.Broadcast()).To(BeFalse())
	s.Expect(m.Table["orders"]).To(Equal(snapshot.Subscription{
		Topic: "orders", ExpressionType: "TAG", Expression: "PAID", Tags: []string{"PAID"}, Version: 1,
	}))
	s.Expect(must[[]string](s)(s.client.MemberIDs(s.ctx(), s.at.Addr, group))).To(ConsistOf(id))
	report := must[snapshot.MemberReport](s)(s.client.RunningInfo(s.ctx(), s.at.Addr, group, id))
	s.Expect(report.Queues).To(HaveKeyWithValue(snapshot.Queue{Topic: "orders", Broker: "broker-a", ID: 3}, snapshot.QueueWork{Committed: 2}))
	s.Expect(report.Subscriptions).To(HaveLen(1))

	sub, found, err := s.client.SubscriptionByConsumer(s.ctx(), s.at.Addr, group, "orders")
	if !s.can.SubscriptionRead {
		s.Expect(err).To(MatchError(remoting.Unsupported))
		return
	}
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(found).To(BeTrue())
	s.Expect(sub.Expression).To(Equal("PAID"))
}

func (s *scene) resets() {
	const topic, group = "orders", "payments"
	err := s.client.ResetOffset(s.ctx(), s.at, topic, group, 3, 1)
	if !s.can.ExactReset {
		s.Expect(err).To(MatchError(remoting.Unsupported))
		// The broker wants an entry on every queue and connected members.
		err = s.client.ResetToTime(s.ctx(), s.at, topic, group, time.Now())
		s.Expect(err).To(MatchError(remoting.NotFound))
		return
	}
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.client.CommitOffset(s.ctx(), s.at, topic, group, 3, 4)).To(MatchError(rocketmq.ErrResetPending))
	offset, found, err := s.client.CommittedOffset(s.ctx(), s.at.Addr, topic, group, 3)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(found).To(BeTrue())
	s.Expect(offset).To(BeEquivalentTo(1))
	var refused *rocketmq.NotSentError
	for queue, offset := range map[int]int64{8: 0, -1: 0, 3: -1} {
		s.Expect(s.client.ResetOffset(s.ctx(), s.at, topic, group, queue, offset)).To(BeAssignableToTypeOf(refused))
	}
	s.Expect(s.client.ResetToTime(s.ctx(), s.at, topic, group, time.Now())).To(BeAssignableToTypeOf(refused))
}
