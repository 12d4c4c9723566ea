// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// sendFields are those of call 10.
func sendFields(topic string, queue int, props map[string]string) fields {
	var text strings.Builder
	for k, v := range props {
		text.WriteString(k + "\x01" + v + "\x02")
	}
	flag := "0"
	if props["TRAN_MSG"] == "true" {
		flag = "4"
	}
	return fields{
		"producerGroup": "contract", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
		"queueId": fmt.Sprint(queue), "sysFlag": flag, "bornTimestamp": "1700000000000", "flag": "0",
		"properties": text.String(), "reconsumeTimes": "0", "unitMode": "false", "batch": "false",
	}
}

// send stores a message on broker-a and returns the reply's fields.
func (s *scene) send(topic string, queue int, props map[string]string) map[string]string {
	s.Helper()
	return s.ok(s.a, remoting.ReqSendMessage, sendFields(topic, queue, props), "hello").ExtFields
}

func pullFields(topic, group string, queue int, from int64) fields {
	return fields{
		"consumerGroup": group, "topic": topic, "queueId": fmt.Sprint(queue), "queueOffset": fmt.Sprint(from),
		"maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0",
		"subVersion": "0", "subscription": "*", "expressionType": "TAG",
	}
}

const pull = remoting.ReqPullMessage

func messageTests() []test {
	return []test{
		{"10 takes any id below max(read, write), none above (Q18)", func(s *scene, name string) {
			s.topic(name, 8, 4)
			s.send(name, 7, nil)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 7)).To(gomega.Equal(int64(1))) })
			remark := s.refused(s.invalid(), s.a, remoting.ReqSendMessage, sendFields(name, 8, nil), "x")
			s.Expect(remark).To(gomega.ContainSubstring("request queueId[8] is illegal"))
			s.topic(name, 4, 4)
			s.refused(s.invalid(), s.a, remoting.ReqSendMessage, sendFields(name, 7, nil), "x")
			s.Expect(s.maxOf(name, 7)).To(gomega.Equal(int64(1)))
		}},
		{"10 without write permission on the topic is taken (Q29)", func(s *scene, name string) {
			s.ok(s.a, write, topicFields(name, 4, 4).with("perm", "4"))
			s.send(name, 0, nil)
		}},
		{"10 to a topic that does not exist is 17", func(s *scene, name string) {
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqSendMessage, sendFields(name, 0, nil), "x")
		}},
		{"11 reads what was sent, with the place and the properties", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.send(name, 1, map[string]string{"KEYS": "k1", "TAGS": "A"})
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 1)).To(gomega.Equal(int64(1))) })
			got, err := s.client.Pull(s.Context(), s.a, name, 1, 0, 32)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(got.Messages).To(gomega.HaveLen(1))
			m := got.Messages[0]
			s.Expect(string(m.Body)).To(gomega.Equal("hello"))
			s.Expect(m.Properties).To(gomega.And(gomega.HaveKeyWithValue("KEYS", "k1"), gomega.HaveKeyWithValue("TAGS", "A")))
			s.Expect(got.Next).To(gomega.Equal(int64(1)))
			s.Expect(got.Max).To(gomega.Equal(int64(1)))
		}},
		{"11 at the end is 19, beyond it 21 with the end", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.send(name, 0, nil)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 0)).To(gomega.Equal(int64(1))) })
			end := s.call(s.a, pull, pullFields(name, "TOOLS_CONSUMER", 0, 1))
			s.Expect(end.Code).To(gomega.Equal(remoting.RespPullNotFound), end.Remark)
			s.Expect(end.ExtFields).To(gomega.HaveKeyWithValue("nextBeginOffset", "1"))
			beyond := s.call(s.a, pull, pullFields(name, "TOOLS_CONSUMER", 0, 5))
			s.Expect(beyond.Code).To(gomega.Equal(remoting.RespPullOffsetMoved), beyond.Remark)
			s.Expect(beyond.ExtFields).To(gomega.HaveKeyWithValue("nextBeginOffset", "1"))
		}},
		{"11 leaves no committed offset", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.group(name)
			s.send(name, 0, nil)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 0)).To(gomega.Equal(int64(1))) })
			s.ok(s.a, pull, pullFields(name, name, 0, 0))
			s.Expect(s.entries(name, name)).To(gomega.BeEmpty())
			all, err := s.client.AllCommittedOffsets(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			if s.Version >= v550 {
				s.Expect(all.Pulled[name]).To(gomega.HaveKey(name))
			} else {
				s.Expect(all.Pulled).To(gomega.BeEmpty())
			}
		}},
		{"11 of a retired queue is refused", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.topic(name, 2, 2)
			remark := s.refused(s.invalid(), s.a, pull, pullFields(name, "TOOLS_CONSUMER", 3, 0))
			s.Expect(remark).To(gomega.ContainSubstring("queueId[3] is illegal"))
		}},
		{"11 without a subscription of its own, of a group that is offline, is 24", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.group(name)
			s.refused(remoting.RespSubscriptionNotExist, s.a, pull, pullFields(name, name, 0, 0).with("sysFlag", "0"))
		}},
		{"11 of a disabled group is 16", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`","consumeEnable":false}`)
			remark := s.refused(remoting.RespNoPermission, s.a, pull, pullFields(name, name, 0, 0))
			s.Expect(remark).To(gomega.ContainSubstring("subscription group no permission, " + name))
		}},
		{"11 of a topic without read permission is 16", func(s *scene, name string) {
			s.ok(s.a, write, topicFields(name, 1, 1).with("perm", "2"))
			s.refused(remoting.RespNoPermission, s.a, pull, pullFields(name, "TOOLS_CONSUMER", 0, 0))
		}},
		{"11 creates an unknown group", func(s *scene, name string) {
			s.topic(name, 1, 1)
			s.call(s.a, pull, pullFields(name, name, 0, 0))
			s.Expect(s.groups()).To(gomega.HaveKey(name))
		}},
	}
}
