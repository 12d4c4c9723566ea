// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"strings"
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func clusterTests() []test {
	return []test{
		{"106 shows every master, with bare integers as broker ids (P02)", func(s *scene, _ string) {
			for _, ns := range s.NameServers {
				info, err := s.client.ClusterInfo(s.Context(), ns)
				s.Expect(err).NotTo(gomega.HaveOccurred())
				brokers := info.Of(s.Cluster)
				for name, addr := range s.Masters {
					master, has := brokers[name].Master()
					s.Expect(has).To(gomega.BeTrue())
					s.Expect(master).To(gomega.Equal(addr))
				}
				s.Expect(string(s.ok(ns, remoting.ReqGetBrokerClusterInfo, nil).Body)).To(gomega.MatchRegexp(`"brokerAddrs":\{0:"`))
			}
		}},
		{"105 of a topic that is nowhere is 17", func(s *scene, name string) {
			remark := s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			s.Expect(remark).To(gomega.ContainSubstring("No topic route info in name server for the topic: " + name))
			route, err := s.client.TopicRoute(s.Context(), s.ns, name)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(route.Present).To(gomega.BeFalse())
		}},
		{"105 is standard JSON for callers from 4.9.4 on, fastjson before", func(s *scene, name string) {
			s.topic(name, 4, 4)
			ask := func(version int) string {
				reply, err := s.wire.Invoke(s.Context(), s.ns, &remoting.Command{
					Code: remoting.ReqGetRouteInfoByTopic, Version: version, ExtFields: fields{"topic": name},
				})
				s.Expect(err).NotTo(gomega.HaveOccurred())
				s.Expect(reply.Code).To(gomega.BeZero())
				return string(reply.Body)
			}
			s.Expect(ask(remoting.Version)).To(gomega.ContainSubstring(`"brokerAddrs":{"0":`))
			s.Expect(ask(317)).To(gomega.ContainSubstring(`"brokerAddrs":{0:`))
		}},
		{"206 lists users' and the servers' own topics", func(s *scene, name string) {
			s.topic(name, 1, 1)
			for _, ns := range s.NameServers {
				list, err := s.client.TopicList(s.Context(), ns)
				s.Expect(err).NotTo(gomega.HaveOccurred())
				for _, topic := range []string{name, "SCHEDULE_TOPIC_XXXX", "SELF_TEST_TOPIC", "broker-a", s.Cluster} {
					s.Expect(list).To(gomega.HaveKey(topic))
				}
			}
		}},
		{"an unknown code is 3; a 4.9 name server does not answer at all", func(s *scene, _ string) {
			remark := s.refused(remoting.RespRequestCodeNotSupported, s.a, 9999, nil)
			s.Expect(remark).To(gomega.ContainSubstring("request type 9999 not supported"))
			if s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.ns, remoting.ReqUpdateAndCreateTopic, nil)
				return
			}
			_, err := s.try(s.ns, 500*time.Millisecond, remoting.ReqUpdateAndCreateTopic, nil)
			s.Expect(errors.Is(err, remoting.Timeout)).To(gomega.BeTrue(), "%v", err)
		}},
		{"order configuration is kept by each name server for itself", func(s *scene, name string) {
			entry := fields{"namespace": "ORDER_TOPIC_CONFIG", "key": name}
			s.refused(remoting.RespQueryNotFound, s.ns, remoting.ReqGetKVConfig, entry)
			s.ok(s.ns, remoting.ReqPutKVConfig, entry.with("value", "broker-a:4"))
			s.Expect(s.ok(s.ns, remoting.ReqGetKVConfig, entry).ExtFields).To(gomega.HaveKeyWithValue("value", "broker-a:4"))
			s.refused(remoting.RespQueryNotFound, s.NameServers[1], remoting.ReqGetKVConfig, entry)
			list := s.ok(s.ns, remoting.ReqGetKVListByNamespace, fields{"namespace": "ORDER_TOPIC_CONFIG"})
			s.Expect(string(list.Body)).To(gomega.ContainSubstring(`"` + name + `":"broker-a:4"`))
			s.ok(s.ns, remoting.ReqDeleteKVConfig, entry)
			s.refused(remoting.RespQueryNotFound, s.ns, remoting.ReqGetKVConfig, entry)
		}},
		{"224 lists the topics of one cluster, 304 the names of clusters and brokers", func(s *scene, name string) {
			s.topic(name, 1, 1)
			list := string(s.ok(s.ns, remoting.ReqGetTopicsByCluster, fields{"cluster": s.Cluster}).Body)
			s.Expect(list).To(gomega.ContainSubstring(`"` + name + `"`))
			own := string(s.ok(s.ns, remoting.ReqGetSystemTopicListFromNS, nil).Body)
			s.Expect(own).To(gomega.And(gomega.ContainSubstring(`"broker-b"`), gomega.ContainSubstring(`"`+s.Cluster+`"`)))
			s.Expect(own).NotTo(gomega.ContainSubstring(name))
		}},
		{"305 lists what the broker keeps for itself", func(s *scene, _ string) {
			topics, err := s.client.SystemTopics(s.Context(), s.a)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			want := []string{"TBW102", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "OFFSET_MOVED_EVENT", "broker-a", s.Cluster, s.Cluster + "_REPLY_TOPIC"}
			if s.five() {
				want = append(want, "rmq_sys_wheel_timer", "rmq_sys_REVIVE_LOG_"+s.Cluster, "CHECKPOINT_TOPIC")
			}
			for _, topic := range want {
				s.Expect(topics).To(gomega.HaveKey(topic))
			}
			for topic := range topics {
				s.Expect(strings.HasPrefix(topic, "%")).To(gomega.BeFalse(), topic)
			}
		}},
	}
}
