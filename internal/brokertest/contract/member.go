// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"encoding/json"
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// member is a consumer with a connection of its own.
type member struct {
	s     *scene
	wire  *remoting.Client
	id    string
	group string
	// told receives the requests that servers sent it.
	told chan *remoting.Command
}

// join makes a member. Its answer to call 307 is body; an empty one means that
// it does not answer.
func (s *scene) join(group, id, body string) *member {
	s.Helper()
	m := &member{s: s, id: id, group: group, told: make(chan *remoting.Command, 100)}
	m.wire = remoting.NewClient(remoting.Options{Handler: func(_ string, req *remoting.Command) *remoting.Command {
		select {
		case m.told <- req:
		default: // a test that does not look
		}
		if req.Code != remoting.ReqGetConsumerRunningInfo || body == "" {
			return nil
		}
		reply := remoting.NewResponse(req, remoting.RespSuccess, "")
		reply.Body = []byte(body)
		return reply
	}})
	s.Cleanup(m.leave)
	return m
}

// leave closes the member's connection without a word.
func (m *member) leave() { _ = m.wire.Close() }

// sub is a subscription in a heartbeat.
type sub struct {
	Topic          string `json:"topic"`
	SubString      string `json:"subString"`
	SubVersion     int64  `json:"subVersion"`
	ExpressionType string `json:"expressionType"`
}

// beat sends a heartbeat to broker-a.
func (m *member) beat(model string, subs ...sub) {
	m.s.Helper()
	if subs == nil {
		subs = []sub{}
	}
	body, err := json.Marshal(map[string]any{
		"clientID": m.id,
		"consumerDataSet": []any{map[string]any{
			"groupName": m.group, "consumeType": "CONSUME_PASSIVELY", "messageModel": model,
			"consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptionDataSet": subs, "unitMode": false,
		}},
		"producerDataSet": []any{map[string]any{"groupName": "p-" + m.group}},
	})
	m.s.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithTimeout(m.s.Context(), 20*time.Second)
	defer cancel()
	reply, err := m.wire.Invoke(ctx, m.s.a, &remoting.Command{Code: remoting.ReqHeartBeat, Version: 475, Language: "JAVA", Body: body})
	m.s.Expect(err).NotTo(gomega.HaveOccurred())
	m.s.Expect(reply.Code).To(gomega.BeZero(), reply.Remark)
}

// members is call 203 on broker-a.
func (s *scene) members(group string) snapshot.Membership {
	s.Helper()
	m, err := s.client.Members(s.Context(), s.a, group)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return m
}

func memberTests() []test {
	const clustering = "CLUSTERING"
	return []test{
		{"offline: 203 is 206, 38 and 307 are 1", func(s *scene, name string) {
			s.refused(remoting.RespConsumerNotOnline, s.a, remoting.ReqGetConsumerConnectionList, fields{"consumerGroup": name})
			remark := s.refused(remoting.RespSystemError, s.a, remoting.ReqGetConsumerListByGroup, fields{"consumerGroup": name})
			s.Expect(remark).To(gomega.ContainSubstring("no consumer for this group, " + name))
			remark = s.refused(remoting.RespSystemError, s.a, remoting.ReqGetConsumerRunningInfo, fields{"consumerGroup": name, "clientId": "x", "jstackEnable": "false"})
			s.Expect(remark).To(gomega.ContainSubstring("not online"))
		}},
		{"a heartbeat makes a member, its group and its retry topic", func(s *scene, name string) {
			s.topic(name, 2, 2)
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name, "A || B", 100, "TAG"}, sub{"%RETRY%" + name, "*", 100, "TAG"})
			got := s.members(name)
			s.Expect(got.Members).To(gomega.HaveLen(1))
			s.Expect(got.Members[0].ClientID).To(gomega.Equal(name + "@1"))
			s.Expect(got.Members[0].Version).To(gomega.Equal(475))
			s.Expect(got.Table[name]).To(gomega.And(gomega.HaveField("Expression", "A || B"), gomega.HaveField("Version", int64(100))))
			s.Expect(got.Broadcast()).To(gomega.BeFalse())
			ids, err := s.client.MemberIDs(s.Context(), s.a, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(ids).To(gomega.Equal([]string{name + "@1"}))
			s.Expect(s.groups()).To(gomega.HaveKey(name))
			s.Expect(s.stored("%RETRY%" + name)).To(gomega.And(gomega.HaveField("ReadQueues", 1), gomega.HaveField("WriteQueues", 1)))
			s.ok(s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": "%RETRY%" + name})
		}},
		{"one table per group: the higher version wins, missing topics go (trap 5)", func(s *scene, name string) {
			s.topic(name, 2, 2)
			one, two := s.join(name, name+"@1", ""), s.join(name, name+"@2", "")
			one.beat(clustering, sub{name, "A", 100, "TAG"})
			two.beat(clustering, sub{name, "C", 200, "TAG"})
			one.beat(clustering, sub{name, "A", 100, "TAG"})
			s.Expect(s.members(name).Table[name].Expression).To(gomega.Equal("C"))
			s.Expect(s.members(name).Members).To(gomega.HaveLen(2))
			one.beat(clustering, sub{name, "A", 200, "TAG"})
			s.Expect(s.members(name).Table[name].Expression).To(gomega.Equal("C"), "an equal version does not win")
			two.beat(clustering, sub{name + "-other", "*", 1, "TAG"})
			s.Expect(s.members(name).Table).To(gomega.And(gomega.HaveKey(name+"-other"), gomega.Not(gomega.HaveKey(name))))
		}},
		{"the last heartbeat's message model is the group's", func(s *scene, name string) {
			one, two := s.join(name, name+"@1", ""), s.join(name, name+"@2", "")
			one.beat(clustering, sub{name, "*", 1, "TAG"})
			two.beat("BROADCASTING", sub{name, "*", 1, "TAG"})
			s.Expect(s.members(name).Broadcast()).To(gomega.BeTrue())
			one.beat(clustering, sub{name, "*", 1, "TAG"})
			s.Expect(s.members(name).Broadcast()).To(gomega.BeFalse())
		}},
		{"members are told of one that joins or leaves, between two replies", func(s *scene, name string) {
			one, two := s.join(name, name+"@1", ""), s.join(name, name+"@2", "")
			one.beat(clustering, sub{name, "*", 1, "TAG"})
			told := gomega.And(gomega.HaveField("Code", remoting.ReqNotifyConsumerIdsChanged), gomega.HaveField("ExtFields", gomega.HaveKeyWithValue("consumerGroup", name)))
			s.soon(func(g gomega.Gomega) { g.Expect(one.told).To(gomega.Receive(told)) })
			two.beat(clustering, sub{name, "*", 1, "TAG"})
			s.soon(func(g gomega.Gomega) { g.Expect(one.told).To(gomega.Receive(told)) })
			two.leave()
			s.soon(func(g gomega.Gomega) { g.Expect(one.told).To(gomega.Receive(told)) })
		}},
		{"a closed connection ends membership at once", func(s *scene, name string) {
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name, "*", 1, "TAG"})
			s.Expect(s.members(name).Online()).To(gomega.BeTrue())
			m.leave()
			s.soon(func(g gomega.Gomega) {
				reply, err := s.try(s.a, 20*time.Second, remoting.ReqGetConsumerConnectionList, fields{"consumerGroup": name})
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(reply.Code).To(gomega.Equal(remoting.RespConsumerNotOnline))
			})
		}},
		{"307 is the client's own answer", func(s *scene, name string) {
			body := `{"mqTable":{{"brokerName":"broker-a","queueId":1,"topic":"` + name + `"}:{"cachedMsgCount":0,"commitOffset":-1,"droped":false,` +
				`"cachedMsgMinOffset":0,"cachedMsgMaxOffset":0,"locked":false,"lastPullTimestamp":0,"lastConsumeTimestamp":0}},` +
				`"properties":{"PROP_CONSUME_TYPE":"CONSUME_PASSIVELY"},"statusTable":{},"subscriptionSet":[{"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":7,"tagsSet":[],"topic":"` + name + `"}]}`
			m := s.join(name, name+"@1", body)
			m.beat(clustering, sub{name, "*", 7, "TAG"})
			got, err := s.client.RunningInfo(s.Context(), s.a, name, name+"@1")
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(got.Properties).To(gomega.HaveKeyWithValue("PROP_CONSUME_TYPE", "CONSUME_PASSIVELY"))
			s.Expect(got.Subscriptions).To(gomega.HaveLen(1))
			s.Expect(got.Queues).To(gomega.HaveKey(snapshot.Queue{Topic: name, Broker: "broker-a", ID: 1}))
		}},
		{"307 to a client that does not answer is 207 after ten seconds (P12)", func(s *scene, name string) {
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name, "*", 7, "TAG"})
			done := make(chan *remoting.Command, 1)
			go func() {
				reply, err := s.try(s.a, 30*time.Second, remoting.ReqGetConsumerRunningInfo, fields{"consumerGroup": name, "clientId": name + "@1", "jstackEnable": "false"})
				if err == nil {
					done <- reply
				}
			}()
			var reply *remoting.Command
			s.soon(func(g gomega.Gomega) { g.Expect(done).To(gomega.Receive(&reply)) })
			s.Expect(reply.Code).To(gomega.Equal(remoting.RespConsumeMsgTimeout))
		}},
		{"300 of an online group without offsets: the topic in place of the group on 5.3.3", func(s *scene, name string) {
			m := s.join(name+"-g", name+"@1", "")
			m.beat(clustering, sub{name, "*", 7, "TAG"})
			want := name + "-g"
			if s.Version == v533 {
				want = name
			}
			body := string(s.ok(s.a, remoting.ReqQueryTopicConsumeByWho, fields{"topic": name}).Body)
			s.Expect(body).To(gomega.Equal(`{"groupList":["` + want + `"]}`))
		}},
		{"208 hides a topic that the online group's table lacks (Q20)", func(s *scene, name string) {
			s.topic(name, 2, 2)
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name + "-other", "*", 7, "TAG"})
			body := string(s.ok(s.a, remoting.ReqGetConsumeStats, fields{"consumerGroup": name, "topic": name}).Body)
			s.Expect(queuesIn(body)).To(gomega.BeZero())
			if s.five() {
				body = string(s.ok(s.a, remoting.ReqGetConsumeStats, fields{"consumerGroup": name, "topicList": name + ";"}).Body)
				s.Expect(queuesIn(body)).To(gomega.Equal(2))
			}
		}},
		{"345 shows the table on 5.x", func(s *scene, name string) {
			if !s.five() {
				return
			}
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name, "A||B", 7, "TAG"})
			got, known, err := s.client.SubscriptionByConsumer(s.Context(), s.a, name, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(known).To(gomega.BeTrue())
			s.Expect(got.Expression).To(gomega.Equal("A||B"))
		}},
		{"204 and 328 know producers by group alone", func(s *scene, name string) {
			s.refused(remoting.RespSystemError, s.a, remoting.ReqGetProducerConnectionList, fields{"producerGroup": "p-" + name})
			m := s.join(name, name+"@1", "")
			m.beat(clustering, sub{name, "*", 7, "TAG"})
			body := string(s.ok(s.a, remoting.ReqGetProducerConnectionList, fields{"producerGroup": "p-" + name}).Body)
			s.Expect(body).To(gomega.ContainSubstring(`"clientId":"` + name + `@1"`))
			body = string(s.ok(s.a, remoting.ReqGetAllProducerInfo, nil).Body)
			s.Expect(body).To(gomega.ContainSubstring(`"p-` + name + `":[`))
		}},
		{"401 and 402 keep request modes on 5.x (R07)", func(s *scene, name string) {
			body := func(topic, group string) string {
				return `{"topic":"` + topic + `","consumerGroup":"` + group + `","mode":"POP","popShareQueueNum":0}`
			}
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqSetMessageRequestMode, nil, body(name, name))
				return
			}
			s.topic(name, 2, 2)
			s.group(name)
			s.ok(s.a, remoting.ReqSetMessageRequestMode, nil, body(name, name))
			modes, err := s.client.MessageRequestModes(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(modes[name]).To(gomega.HaveKeyWithValue(name, "POP"))
			s.refused(remoting.RespNoPermission, s.a, remoting.ReqSetMessageRequestMode, nil, body("%RETRY%"+name, name))
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqSetMessageRequestMode, nil, body(name+"-not", name))
		}},
	}
}
