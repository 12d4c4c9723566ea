// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"strconv"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// commit stores a committed offset on broker-a.
func (s *scene) commit(topic, group string, queue int, offset int64) {
	s.Helper()
	s.ok(s.a, remoting.ReqUpdateConsumerOffset, fields{
		"consumerGroup": group, "topic": topic, "queueId": fmt.Sprint(queue), "commitOffset": fmt.Sprint(offset),
	})
}

// entries are a group's committed offsets on broker-a by call 43.
func (s *scene) entries(topic, group string) map[int]int64 {
	s.Helper()
	all, err := s.client.AllCommittedOffsets(s.Context(), s.a)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return all.Committed[topic][group]
}

// maxOf is a queue's end on broker-a.
func (s *scene) maxOf(topic string, queue int) int64 {
	s.Helper()
	n, err := s.client.MaxOffset(s.Context(), s.a, topic, queue)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return n
}

func offsetTests() []test {
	query := func(topic, group string, queue int, more ...string) fields {
		return fields{"consumerGroup": group, "topic": topic, "queueId": fmt.Sprint(queue)}.with(more...)
	}
	return []test{
		{"30 and 31 answer for any queue id of any topic", func(s *scene, name string) {
			s.topic(name, 2, 2)
			for _, topic := range []string{name, name + "-not"} {
				for _, code := range []int{remoting.ReqGetMaxOffset, remoting.ReqGetMinOffset} {
					reply := s.ok(s.a, code, fields{"topic": topic, "queueId": "17"})
					s.Expect(reply.ExtFields).To(gomega.HaveKeyWithValue("offset", "0"))
				}
			}
		}},
		{"15 checks topic and group on 5.x, nothing on 4.9", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			set := func(topic, group string) int {
				return s.call(s.a, remoting.ReqUpdateConsumerOffset, query(topic, group, 0, "commitOffset", "3")).Code
			}
			if s.five() {
				s.Expect(set(name, name+"-not")).To(gomega.Equal(remoting.RespSubscriptionGroupNotExist))
				s.Expect(set(name+"-not", name)).To(gomega.Equal(remoting.RespTopicNotExist))
				s.Expect(s.entries(name+"-not", name)).To(gomega.BeEmpty())
				return
			}
			s.Expect(set(name, name+"-not")).To(gomega.BeZero())
			s.Expect(set(name+"-not", name)).To(gomega.BeZero())
			s.Expect(s.entries(name+"-not", name)).To(gomega.HaveKeyWithValue(0, int64(3)))
		}},
		{"15 takes any offset on any queue id, and goes back", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			s.commit(name, name, 0, 900)
			s.commit(name, name, 9, 5)
			s.commit(name, name, 0, 2)
			s.Expect(s.entries(name, name)).To(gomega.Equal(map[int]int64{0: 2, 9: 5}))
		}},
		{"14 tells a missing entry from zero on 5.x when asked to", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			s.commit(name, name, 1, 4)
			s.Expect(s.ok(s.a, remoting.ReqQueryConsumerOffset, query(name, name, 1)).ExtFields).To(gomega.HaveKeyWithValue("offset", "4"))
			reply := s.call(s.a, remoting.ReqQueryConsumerOffset, query(name, name, 0, "setZeroIfNotFound", "false"))
			if s.five() {
				s.Expect(reply.Code).To(gomega.Equal(remoting.RespQueryNotFound))
			} else {
				s.Expect(reply.Code).To(gomega.BeZero())
				s.Expect(reply.ExtFields).To(gomega.HaveKeyWithValue("offset", "0"))
			}
		}},
		{"14 says 0 for a group that never committed while the queue's start is in memory (Q07)", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			s.send(name, 0, nil)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 0)).To(gomega.Equal(int64(1))) })
			reply := s.ok(s.a, remoting.ReqQueryConsumerOffset, query(name, name, 0))
			s.Expect(reply.ExtFields).To(gomega.HaveKeyWithValue("offset", "0"))
			empty := s.call(s.a, remoting.ReqQueryConsumerOffset, query(name, name, 1))
			if s.five() {
				s.Expect(empty.Code).To(gomega.Equal(remoting.RespQueryNotFound))
			} else {
				s.Expect(empty.Code).To(gomega.BeZero())
			}
		}},
		{"43 by release", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			s.commit(name, name, 1, 6)
			body := string(s.ok(s.a, remoting.ReqGetAllConsumerOffset, nil).Body)
			s.Expect(body).To(gomega.ContainSubstring(`"` + name + `@` + name + `":{1:6}`))
			for member, since := range map[string]int{"dataVersion": v500, "groupTopicMap": v500, "pullOffsetTable": v550} {
				if s.Version >= since {
					s.Expect(body).To(gomega.ContainSubstring(`"` + member + `":`))
				} else {
					s.Expect(body).NotTo(gomega.ContainSubstring(`"` + member + `":`))
				}
			}
		}},
		{"29 finds the first offset of a moment", func(s *scene, name string) {
			s.topic(name, 1, 1)
			reply := s.ok(s.a, remoting.ReqSearchOffsetByTimestamp, fields{"topic": name, "queueId": "0", "timestamp": strconv.Itoa(0)})
			s.Expect(reply.ExtFields).To(gomega.HaveKeyWithValue("offset", "0"))
		}},
	}
}
