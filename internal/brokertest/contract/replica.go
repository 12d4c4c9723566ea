// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// slave is the slave of broker-a, or skips the test where the target has none.
func (s *scene) slave() string {
	s.Helper()
	addr := s.Slaves["broker-a"]
	if addr == "" {
		s.Skip("the target runs without slaves")
	}
	return addr
}

func replicaTests() []test {
	return []test{
		{"106 shows the slave beside the master", func(s *scene, _ string) {
			addr := s.slave()
			info, err := s.client.ClusterInfo(s.Context(), s.ns)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(info.Of(s.Cluster)["broker-a"].Replicas).To(gomega.ContainElement(addr))
		}},
		{"a slave says that it is one (R03)", func(s *scene, _ string) {
			addr := s.slave()
			s.soon(func(g gomega.Gomega) {
				id, err := s.client.Identify(s.Context(), addr)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(id.Process.Name).To(gomega.Equal("broker-a"))
				g.Expect(id.Process.BrokerID).To(gomega.Equal(int64(1)))
			})
		}},
		{"changes to a slave: refused on 4.9, taken and undone on 5.x", func(s *scene, name string) {
			addr := s.slave()
			if !s.five() {
				for code, ext := range map[int]fields{write: topicFields(name, 1, 1), remoting.ReqDeleteTopicInBroker: {"topic": name}} {
					s.Expect(s.refused(remoting.RespSystemError, addr, code, ext)).To(gomega.ContainSubstring("from slave broker"))
				}
				return
			}
			s.ok(addr, write, topicFields(name, 1, 1))
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": name})
			s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
		}},
		{"a slave copies the master's topics later, and takes no messages", func(s *scene, name string) {
			addr := s.slave()
			s.topic(name, 1, 1)
			s.Eventually(func(g gomega.Gomega) {
				s.Pass(5 * time.Second)
				all, err := s.client.AllTopicConfigs(s.Context(), addr)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(all.Topics).To(gomega.HaveKey(name))
			}).WithTimeout(3 * s.Patience).WithPolling(s.Poll).Should(gomega.Succeed())
			want := remoting.RespSystemBusy
			if !s.five() {
				want = remoting.RespServiceNotAvailable
			}
			s.refused(want, addr, remoting.ReqSendMessage, sendFields(name, 0, nil), "x")
		}},
	}
}
