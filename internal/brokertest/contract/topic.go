// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// stored is the topic as broker-a has it.
func (s *scene) stored(topic string) snapshot.TopicConfig {
	s.Helper()
	got, err := s.client.TopicConfig(s.Context(), s.a, topic)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(got.Present).To(gomega.BeTrue())
	return got.Config
}

// tableVersion is the counter of broker-a's topic table.
func (s *scene) tableVersion() int64 {
	s.Helper()
	all, err := s.client.AllTopicConfigs(s.Context(), s.a)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return all.Version.Counter
}

const write = remoting.ReqUpdateAndCreateTopic

func topicTests() []test {
	return []test{
		{"17 creates, and every name server routes it before the reply", func(s *scene, name string) {
			s.topic(name, 8, 8)
			s.Expect(s.stored(name)).To(gomega.Equal(snapshot.TopicConfig{
				Name: name, ReadQueues: 8, WriteQueues: 8, Perm: 6, FilterType: "SINGLE_TAG",
			}))
			for _, ns := range s.NameServers {
				route, err := s.client.TopicRoute(s.Context(), ns, name)
				s.Expect(err).NotTo(gomega.HaveOccurred())
				s.Expect(route.Queues).To(gomega.HaveLen(1))
				s.Expect(route.Queues["broker-a"]).To(gomega.Equal(snapshot.RouteQueues{Read: 8, Write: 8, Perm: 6}))
				s.Expect(route.Masters).To(gomega.HaveKeyWithValue("broker-a", s.a))
			}
		}},
		{"17 replaces every field it stores", func(s *scene, name string) {
			s.topic(name, 8, 8)
			s.ok(s.a, write, topicFields(name, 8, 2).with("perm", "4", "topicFilterType", "MULTI_TAG", "topicSysFlag", "1"))
			s.Expect(s.stored(name)).To(gomega.Equal(snapshot.TopicConfig{
				Name: name, ReadQueues: 8, WriteQueues: 2, Perm: 4, FilterType: "MULTI_TAG", SysFlag: 1,
			}))
			route, err := s.client.TopicRoute(s.Context(), s.ns, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(route.Queues["broker-a"]).To(gomega.Equal(snapshot.RouteQueues{Read: 8, Write: 2, Perm: 4}))
		}},
		{"17 stores the order flag on 5.x and drops it on 4.9", func(s *scene, name string) {
			s.ok(s.a, write, topicFields(name, 4, 4).with("order", "true"))
			s.Expect(s.stored(name).Order).To(gomega.Equal(s.five()))
		}},
		{"17 again with the same fields: nothing on 5.x, a new registration on 4.9 (O12)", func(s *scene, name string) {
			s.topic(name, 8, 8)
			before := s.tableVersion()
			s.topic(name, 8, 8)
			if s.five() {
				s.Expect(s.tableVersion()).To(gomega.Equal(before))
			} else {
				s.Expect(s.tableVersion()).To(gomega.BeNumerically(">", before))
			}
		}},
		{"17 takes any queue count, and routes it", func(s *scene, name string) {
			s.topic(name, 0, -1)
			s.Expect(s.stored(name)).To(gomega.And(gomega.HaveField("ReadQueues", 0), gomega.HaveField("WriteQueues", -1)))
			reply := s.ok(s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			s.Expect(string(reply.Body)).To(gomega.ContainSubstring(`"writeQueueNums":-1`))
		}},
		{"17 takes write > read (Q03)", func(s *scene, name string) {
			s.topic(name, 2, 8)
			s.Expect(s.stored(name)).To(gomega.And(gomega.HaveField("ReadQueues", 2), gomega.HaveField("WriteQueues", 8)))
		}},
		{"17 without a count is 1, by the broker's own exception", func(s *scene, name string) {
			remark := s.refused(remoting.RespSystemError, s.a, write, topicFields(name, 8, 8).with("writeQueueNums", ""))
			s.Expect(remark).To(gomega.ContainSubstring("null"))
		}},
		{"17 with an unknown filter type is 1", func(s *scene, name string) {
			s.refused(remoting.RespSystemError, s.a, write, topicFields(name, 8, 8).with("topicFilterType", "X"))
		}},
		{"17 refuses bad names: 1 on 4.9, 29 on 5.x", func(s *scene, _ string) {
			for name, why := range map[string]string{
				"with.dot": "contains illegal characters", "with space": "contains illegal characters",
				strings.Repeat("t", 128): "longer than topic max length",
			} {
				s.Expect(s.refused(s.invalid(), s.a, write, topicFields(name, 1, 1))).To(gomega.ContainSubstring(why))
			}
			s.topic(strings.Repeat("t", 127), 1, 1)
		}},
		{"17 refuses the broker's own topics, not retry topics", func(s *scene, name string) {
			for _, topic := range []string{"TBW102", "SCHEDULE_TOPIC_XXXX", "broker-a", s.Cluster, "rmq_sys_x"} {
				s.Expect(s.refused(s.invalid(), s.a, write, topicFields(topic, 1, 1))).To(gomega.ContainSubstring("is conflict with system topic"))
			}
			s.topic("%RETRY%"+name, 2, 2)
			s.topic("%DLQ%"+name, 1, 1)
		}},
		{"351 reads one topic on 5.x and is unknown on 4.9 (P08)", func(s *scene, name string) {
			s.topic(name, 3, 3)
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqGetTopicConfig, fields{"topic": name})
				return
			}
			s.Expect(string(s.ok(s.a, remoting.ReqGetTopicConfig, fields{"topic": name}).Body)).To(gomega.ContainSubstring(`"readQueueNums":3`))
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": name + "-not"})
		}},
		{"21 lists users' and the broker's own topics with their version", func(s *scene, name string) {
			before := s.tableVersion()
			s.topic(name, 3, 3)
			all, err := s.client.AllTopicConfigs(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(all.Topics).To(gomega.HaveKey(name))
			s.Expect(all.Topics["BenchmarkTest"].ReadQueues).To(gomega.Equal(1024))
			s.Expect(all.Version.Counter).To(gomega.Equal(before + 1))
			body := string(s.ok(s.a, remoting.ReqGetAllTopicConfig, nil).Body)
			s.Expect(strings.Contains(body, "attributes")).To(gomega.Equal(s.five()))
			s.Expect(strings.Contains(body, "topicQueueMappingDetailMap")).To(gomega.Equal(s.five()))
		}},
		{"215 leaves the route; 216 removes it, on that name server only (O35)", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.ok(s.a, remoting.ReqDeleteTopicInBroker, fields{"topic": name})
			got, err := s.client.TopicConfig(s.Context(), s.a, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(got.Present).To(gomega.BeFalse())
			route, err := s.client.TopicRoute(s.Context(), s.ns, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(route.Present).To(gomega.BeTrue())
			s.ok(s.ns, remoting.ReqDeleteTopicInNamesrv, fields{"topic": name, "clusterName": s.Cluster})
			s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			s.ok(s.NameServers[1], remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			s.ok(s.ns, remoting.ReqDeleteTopicInNamesrv, fields{"topic": name, "clusterName": s.Cluster})
			s.ok(s.a, remoting.ReqDeleteTopicInBroker, fields{"topic": name})
		}},
		{"215 refuses the broker's own topics", func(s *scene, _ string) {
			remark := s.refused(s.invalid(), s.a, remoting.ReqDeleteTopicInBroker, fields{"topic": "SCHEDULE_TOPIC_XXXX"})
			s.Expect(remark).To(gomega.ContainSubstring("conflict with system topic"))
		}},
		{"215 clears the topic's committed offsets on 5.x and leaves them on 4.9", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.group(name)
			s.commit(name, name, 2, 5)
			s.ok(s.a, remoting.ReqDeleteTopicInBroker, fields{"topic": name})
			all, err := s.client.AllCommittedOffsets(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			if s.five() {
				s.Expect(all.Committed[name]).NotTo(gomega.HaveKey(name))
			} else {
				s.Expect(all.Committed[name][name]).To(gomega.HaveKeyWithValue(2, int64(5)))
			}
		}},
	}
}
