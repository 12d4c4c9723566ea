// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

const reset = remoting.ReqInvokeBrokerToResetOffset

func resetTests() []test {
	ask := func(topic, group string, more ...string) fields {
		return fields{"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}.with(more...)
	}
	// filled is a topic with four messages in queue 0 that the group committed.
	filled := func(s *scene, name string) {
		s.topic(name, 2, 2)
		s.group(name)
		for range 4 {
			s.send(name, 0, nil)
		}
		s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 0)).To(gomega.Equal(int64(4))) })
		s.commit(name, name, 0, 4)
	}
	return []test{
		{"222 to an offset stays pending and swallows commits until a pull takes it (live 10.3)", func(s *scene, name string) {
			if !s.five() {
				return
			}
			filled(s, name)
			s.ok(s.a, reset, ask(name, name, "queueId", "0", "offset", "1"))
			s.Expect(s.entries(name, name)).To(gomega.HaveKeyWithValue(0, int64(1)))
			late := s.ok(s.a, remoting.ReqUpdateConsumerOffset, fields{"consumerGroup": name, "topic": name, "queueId": "0", "commitOffset": "3"})
			s.Expect(late.Remark).To(gomega.Equal("Offset has been previously reset"))
			s.Expect(s.entries(name, name)).To(gomega.HaveKeyWithValue(0, int64(1)))
			taken := s.call(s.a, pull, pullFields(name, name, 0, 4))
			s.Expect(taken.Code).To(gomega.Equal(remoting.RespPullOffsetMoved))
			s.Expect(taken.ExtFields).To(gomega.HaveKeyWithValue("nextBeginOffset", "1"))
			s.commit(name, name, 0, 3)
			s.Expect(s.entries(name, name)).To(gomega.HaveKeyWithValue(0, int64(3)))
		}},
		{"222 outside the queue is 1 and changes nothing", func(s *scene, name string) {
			if !s.five() {
				return
			}
			filled(s, name)
			remark := s.refused(remoting.RespSystemError, s.a, reset, ask(name, name, "queueId", "0", "offset", "200"))
			s.Expect(remark).To(gomega.ContainSubstring("Target offset 200 not in consume queue range [0-4]"))
			s.Expect(s.entries(name, name)).To(gomega.Equal(map[int]int64{0: 4}))
		}},
		{"222 of an unknown topic or group", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			topic, group := remoting.RespTopicNotExist, remoting.RespSubscriptionGroupNotExist
			if !s.five() {
				topic, group = remoting.RespSystemError, remoting.RespSystemError
			}
			s.refused(topic, s.a, reset, ask(name+"-not", name))
			s.refused(group, s.a, reset, ask(name, name+"-not"))
		}},
		{"222 on 4.9 needs an entry on every write queue, and members", func(s *scene, name string) {
			if s.five() {
				return
			}
			filled(s, name)
			remark := s.refused(remoting.RespSystemError, s.a, reset, ask(name, name))
			s.Expect(remark).To(gomega.ContainSubstring("THe consumer group <" + name + "> not exist"))
			s.commit(name, name, 1, 0)
			s.refused(remoting.RespConsumerNotOnline, s.a, reset, ask(name, name))
			m := s.join(name, name+"@1", "")
			m.beat("CLUSTERING", sub{name, "*", 1, "TAG"})
			reply := s.ok(s.a, reset, ask(name, name))
			s.Expect(string(reply.Body)).To(gomega.ContainSubstring(`"queueId":0,"topic":"` + name + `"}:0`))
			s.soon(func(g gomega.Gomega) {
				var req *remoting.Command
				g.Expect(m.told).To(gomega.Receive(&req))
				g.Expect(req.Code).To(gomega.Equal(remoting.ReqResetConsumerClientOffset))
				g.Expect(string(req.Body)).To(gomega.ContainSubstring(`"offsetTable"`))
			})
			s.Expect(s.entries(name, name)).To(gomega.HaveKeyWithValue(0, int64(4)), "the members do it, or nobody")
		}},
		{"207 with clean also clears what is pending", func(s *scene, name string) {
			if !s.five() {
				return
			}
			filled(s, name)
			s.ok(s.a, reset, ask(name, name, "queueId", "1", "offset", fmt.Sprint(0)))
			s.ok(s.a, remoting.ReqDeleteSubscriptionGroup, fields{"groupName": name, "cleanOffset": "true"})
			s.group(name)
			s.commit(name, name, 1, 0)
			s.Expect(s.entries(name, name)).To(gomega.Equal(map[int]int64{1: 0}))
		}},
	}
}
