// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// proxy is a proxy's remoting port, or skips the test where there is none.
func (s *scene) proxy() string {
	s.Helper()
	if len(s.Proxies) == 0 {
		s.Skip("the target runs without proxies")
	}
	return s.Proxies[0]
}

func proxyTests() []test {
	return []test{
		{"a proxy answers 203 and 38 of a group without members as a broker does", func(s *scene, name string) {
			addr := s.proxy()
			s.refused(remoting.RespConsumerNotOnline, addr, remoting.ReqGetConsumerConnectionList, fields{"consumerGroup": name})
			s.refused(remoting.RespSystemError, addr, remoting.ReqGetConsumerListByGroup, fields{"consumerGroup": name})
		}},
		{"a proxy knows no admin calls", func(s *scene, name string) {
			addr := s.proxy()
			s.refused(remoting.RespRequestCodeNotSupported, addr, write, topicFields(name, 1, 1))
			s.refused(remoting.RespRequestCodeNotSupported, addr, remoting.ReqGetBrokerRuntimeInfo, nil)
			s.refused(remoting.RespRequestCodeNotSupported, addr, remoting.ReqGetConsumerRunningInfo,
				fields{"consumerGroup": name, "clientId": "x", "jstackEnable": "false"})
		}},
		{"proxies keep a heartbeat topic of one queue on every master", func(s *scene, _ string) {
			s.proxy()
			for _, addr := range s.Masters {
				topic, err := s.client.TopicConfig(s.Context(), addr, "DefaultHeartBeatSyncerTopic")
				s.Expect(err).NotTo(gomega.HaveOccurred())
				s.Expect(topic.Present).To(gomega.BeTrue())
				s.Expect(topic.Config).To(gomega.And(gomega.HaveField("ReadQueues", 1), gomega.HaveField("WriteQueues", 1)))
			}
		}},
	}
}
