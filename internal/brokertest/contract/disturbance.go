// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	. "github.com/onsi/gomega"

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
				s.Expect(fresh.Code).To(Equal(remoting.RespTopicNotExist), "a single topic of an unknown broker is not taken")
				s.soon(func(g Gomega) {
					list, err := s.client.TopicList(s.Context(), ns)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(list).To(And(HaveKey(name+"-old"), HaveKey(name+"-new")))
				})
				return
			}
			s.Expect(fresh.Code).To(BeZero(), "a single topic is taken for the whole table")
			s.Consistently(func(g Gomega) {
				s.Pass(10 * time.Second)
				list, err := s.client.TopicList(s.Context(), ns)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(list).To(HaveKey(name + "-new"))
				g.Expect(list).NotTo(HaveKey(name + "-old"))
			}).WithTimeout(s.Stay).WithPolling(s.Poll).Should(Succeed())
			s.topic(name+"-next", 2, 2)
			list, err := s.client.TopicList(s.Context(), ns)
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(list).To(And(HaveKey(name+"-next"), Not(HaveKey(name+"-old"))))
			// Only a whole table in a new version mends it, which a broker sends
			// when it makes a topic itself.
			s.join(name, name+"@1", "").beat("CLUSTERING", sub{name + "-old", "*", 1, "TAG"})
			s.soon(func(g Gomega) {
				list, err := s.client.TopicList(s.Context(), ns)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(list).To(HaveKey(name + "-old"))
			})
		}},
		{"216 while the broker still has the topic: its next registration puts it back on 5.x, not on 4.9", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.ok(s.ns, remoting.ReqDeleteTopicInNamesrv, fields{"topic": name, "clusterName": s.Cluster})
			s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name})
			if s.five() {
				s.soon(func(g Gomega) {
					route, err := s.client.TopicRoute(s.Context(), s.ns, name)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(route.Present).To(BeTrue())
				})
				return
			}
			s.Consistently(func(g Gomega) {
				s.Pass(10 * time.Second)
				route, err := s.client.TopicRoute(s.Context(), s.ns, name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(route.Present).To(BeFalse())
			}).WithTimeout(s.Stay).WithPolling(s.Poll).Should(Succeed())
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
			s.Eventually(func(g Gomega) {
				route, err := s.client.TopicRoute(s.Context(), s.ns, name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(route.Present).To(BeTrue())
			}).WithTimeout(s.Patience).Should(Succeed())
			s.Expect(done).NotTo(Receive())
			var reply *remoting.Command
			s.soon(func(g Gomega) { g.Expect(done).To(Receive(&reply)) })
			s.Expect(reply.Code).To(BeZero(), reply.Remark)
			before := s.tableVersion()
			if s.five() {
				s.topic(name, 2, 2)
				s.Expect(s.tableVersion()).To(Equal(before))
			}
			resume()
			s.Eventually(func(g Gomega) {
				s.Pass(10 * time.Second)
				route, err := s.client.TopicRoute(s.Context(), s.NameServers[1], name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(route.Present).To(BeTrue())
			}).WithTimeout(3 * s.Patience).WithPolling(s.Poll).Should(Succeed())
		}},
	}
}
