// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func disturbanceTests() []test {
	return []test{
		{"a name server that restarted knows a topic of a known broker only after registrations (O25)", func(s *scene, name string) {
			if s.RestartNameServer == nil {
				s.Skip("the target cannot restart a name server")
			}
			s.topic(name+"-old", 2, 2)
			s.RestartNameServer(s.T, 1)
			ns := s.NameServers[1]
			s.refused(remoting.RespTopicNotExist, ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name + "-old"})
			s.topic(name+"-new", 2, 2)
			fresh := s.call(ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name + "-new"})
			if s.five() {
				s.Expect(fresh.Code).To(gomega.Equal(remoting.RespTopicNotExist), "a single topic of an unknown broker is not taken")
				s.soon(func(g gomega.Gomega) {
					list, err := s.client.TopicList(s.Context(), ns)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					g.Expect(list).To(gomega.And(gomega.HaveKey(name+"-old"), gomega.HaveKey(name+"-new")))
				})
				return
			}
			s.Expect(fresh.Code).To(gomega.BeZero(), "a single topic is taken for the whole table")
			s.Consistently(func(g gomega.Gomega) {
				s.Pass(10 * time.Second)
				list, err := s.client.TopicList(s.Context(), ns)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(list).To(gomega.HaveKey(name + "-new"))
				g.Expect(list).NotTo(gomega.HaveKey(name + "-old"))
			}).WithTimeout(s.Stay).WithPolling(s.Poll).Should(gomega.Succeed())
			s.topic(name+"-next", 2, 2)
			list, err := s.client.TopicList(s.Context(), ns)
			s.Expect(err).NotTo(gomega.HaveOccurred())
			s.Expect(list).To(gomega.And(gomega.HaveKey(name+"-next"), gomega.Not(gomega.HaveKey(name+"-old"))))
			// Only a whole table in a new version mends it, which a broker sends
			// when it makes a topic itself.
			s.join(name, name+"@1", "").beat("CLUSTERING", sub{name + "-old", "*", 1, "TAG"})
			s.soon(func(g gomega.Gomega) {
				list, err := s.client.TopicList(s.Context(), ns)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(list).To(gomega.HaveKey(name + "-old"))
			})
		}},
		{"216 while the broker still has the topic: its next registration puts it back on 5.x, not on 4.9", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.ok(s.ns, remoting.ReqDeleteTopicInNamesrv, fields{"topic": name, "clusterName": s.Cluster})
			s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			if s.five() {
				s.soon(func(g gomega.Gomega) {
					route, err := s.client.TopicRoute(s.Context(), s.ns, name)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					g.Expect(route.Present).To(gomega.BeTrue())
				})
				return
			}
			s.Consistently(func(g gomega.Gomega) {
				s.Pass(10 * time.Second)
				route, err := s.client.TopicRoute(s.Context(), s.ns, name)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(route.Present).To(gomega.BeFalse())
			}).WithTimeout(s.Stay).WithPolling(s.Poll).Should(gomega.Succeed())
		}},
		{"17 waits for a name server that hangs, and its repeat mends nothing on 5.x (live 8)", func(s *scene, name string) {
			if s.HangNameServer == nil {
				s.Skip("the target cannot hang a name server")
			}
			resume := s.HangNameServer(s.T, 1)
			done := make(chan *remoting.Command, 1)
			go func() {
				if reply, err := s.try(s.a, time.Minute, write, topicFields(name, 2, 2)); err == nil {
					done <- reply
				}
			}()
			s.Eventually(func(g gomega.Gomega) {
				route, err := s.client.TopicRoute(s.Context(), s.ns, name)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(route.Present).To(gomega.BeTrue())
			}).WithTimeout(s.Patience).Should(gomega.Succeed())
			s.Expect(done).NotTo(gomega.Receive())
			var reply *remoting.Command
			s.soon(func(g gomega.Gomega) { g.Expect(done).To(gomega.Receive(&reply)) })
			s.Expect(reply.Code).To(gomega.BeZero(), reply.Remark)
			before := s.tableVersion()
			if s.five() {
				s.topic(name, 2, 2)
				s.Expect(s.tableVersion()).To(gomega.Equal(before))
			}
			resume()
			s.Eventually(func(g gomega.Gomega) {
				s.Pass(10 * time.Second)
				route, err := s.client.TopicRoute(s.Context(), s.NameServers[1], name)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(route.Present).To(gomega.BeTrue())
			}).WithTimeout(3 * s.Patience).WithPolling(s.Poll).Should(gomega.Succeed())
		}},
	}
}
