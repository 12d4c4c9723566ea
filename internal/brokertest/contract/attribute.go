// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"time"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func attributeTests() []test {
	return []test{
		{"attributes are ignored on 4.9, stored without sign on 5.x", func(s *scene, name string) {
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
			if !s.five() {
				s.Expect(s.stored(name).Attributes).To(gomega.BeEmpty())
				return
			}
			s.Expect(s.stored(name).Attributes).To(gomega.Equal(map[string]string{"message.type": "FIFO"}))
		}},
		{"attributes left out are kept (Q28), and then the call is never idle", func(s *scene, name string) {
			if !s.five() {
				return
			}
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
			before := s.tableVersion()
			s.topic(name, 4, 4)
			s.Expect(s.stored(name).MessageType()).To(gomega.Equal("FIFO"))
			s.Expect(s.tableVersion()).To(gomega.Equal(before + 1))
		}},
		{"the same attribute again counts as a change (O12)", func(s *scene, name string) {
			if !s.five() {
				return
			}
			typed := topicFields(name, 4, 4).with("attributes", "+message.type=FIFO")
			s.ok(s.a, write, typed)
			before := s.tableVersion()
			s.ok(s.a, write, typed)
			s.Expect(s.tableVersion()).To(gomega.Equal(before + 1))
		}},
		{"an attribute changes and goes", func(s *scene, name string) {
			if !s.five() {
				return
			}
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=DELAY"))
			s.Expect(s.stored(name).MessageType()).To(gomega.Equal("DELAY"))
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "-message.type"))
			s.Expect(s.stored(name).Attributes).To(gomega.BeEmpty())
		}},
		{"bad attributes are 1 and change nothing", func(s *scene, name string) {
			if !s.five() {
				return
			}
			for attributes, why := range map[string]string{
				"message.type=FIFO":  "add/alter attribute format is wrong: message.type",
				"-message.type":      "only add attribute is supported while creating topic. key: message.type",
				"+no.such=1":         "unsupported key: no.such",
				"+message.type=NONE": "value is not in set",
			} {
				remark := s.refused(remoting.RespSystemError, s.a, write, topicFields(name, 4, 4).with("attributes", attributes))
				s.Expect(remark).To(gomega.ContainSubstring(why))
			}
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": name})
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+cleanup.policy=DELETE"))
			remark := s.refused(remoting.RespSystemError, s.a, write, topicFields(name, 4, 4).with("attributes", "+cleanup.policy=COMPACTION"))
			s.Expect(remark).To(gomega.ContainSubstring("attempt to update an unchangeable attribute. key: cleanup.policy"))
			remark = s.refused(remoting.RespSystemError, s.a, write, topicFields(name, 4, 4).with("attributes", "-message.type"))
			s.Expect(remark).To(gomega.ContainSubstring("attempt to delete a nonexistent key: message.type"))
		}},
		{"MIXED is refused while it is switched off", func(s *scene, name string) {
			typed := topicFields(name, 4, 4).with("attributes", "+message.type=MIXED")
			if !s.five() {
				s.ok(s.a, write, typed)
				return
			}
			s.Expect(s.refused(remoting.RespInvalidParameter, s.a, write, typed)).To(gomega.ContainSubstring("MIXED message type is not supported"))
		}},
		{"a slave takes a topic with attributes, except on 5.3.3, which loses topics by it (O23)", func(s *scene, name string) {
			addr := s.slave()
			if !s.five() {
				return
			}
			s.topic(name+"-plain", 4, 4)
			slaveHas := func(want, not string) {
				s.Eventually(func(g gomega.Gomega) {
					s.Pass(5 * time.Second)
					all, err := s.client.AllTopicConfigs(s.Context(), addr)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					if want != "" {
						g.Expect(all.Topics).To(gomega.HaveKey(want))
					}
					if not != "" {
						g.Expect(all.Topics).NotTo(gomega.HaveKey(not))
					}
				}).WithTimeout(3 * s.Patience).WithPolling(s.Poll).Should(gomega.Succeed())
			}
			if s.Version == v533 {
				s.ok(addr, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
				s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
				slaveHas("", name)
				return
			}
			s.ok(s.a, write, topicFields(name, 4, 4).with("attributes", "+message.type=FIFO"))
			slaveHas(name, "")
		}},
		{"message types by release", func(s *scene, name string) {
			if !s.five() {
				return
			}
			for kind, since := range map[string]int{"PRIORITY": v540, "LITE": v550} {
				reply := s.call(s.a, write, topicFields(name+kind, 4, 4).with("attributes", "+message.type="+kind))
				s.Expect(reply.Code == 0).To(gomega.Equal(s.Version >= since), "%s: %s", kind, reply.Remark)
			}
		}},
	}
}

const batch = remoting.ReqUpdateAndCreateTopicList

func batchTests() []test {
	const four = `"readQueueNums":4,"writeQueueNums":4`
	entry := func(topic string) string {
		return `{"topicName":"` + topic + `",` + four + `,"perm":6,"topicFilterType":"SINGLE_TAG","topicSysFlag":0,"order":false,"attributes":{}}`
	}
	return []test{
		{"18 creates all, and every name server routes them", func(s *scene, name string) {
			body := `{"topicConfigList":[` + entry(name+"x") + `,` + entry(name+"y") + `]}`
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, batch, nil, body)
				return
			}
			s.ok(s.a, batch, nil, body)
			for _, topic := range []string{name + "x", name + "y"} {
				s.Expect(s.stored(topic).WriteQueues).To(gomega.Equal(4))
				for _, ns := range s.NameServers {
					s.ok(ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": topic})
				}
			}
		}},
		{"18 with one unchanged entry does nothing at all and says success (P11, R17)", func(s *scene, name string) {
			if !s.five() {
				return
			}
			s.topic(name+"same", 4, 4)
			before := s.tableVersion()
			s.ok(s.a, batch, nil, `{"topicConfigList":[`+entry(name+"x")+`,`+entry(name+"same")+`,`+entry(name+"y")+`]}`)
			for _, topic := range []string{name + "x", name + "y"} {
				s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": topic})
			}
			s.Expect(s.tableVersion()).To(gomega.Equal(before))
		}},
		{"18 with one bad name does nothing and is 29", func(s *scene, name string) {
			if !s.five() {
				return
			}
			s.refused(remoting.RespInvalidParameter, s.a, batch, nil, `{"topicConfigList":[`+entry(name+"x")+`,`+entry("a.b")+`]}`)
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": name + "x"})
		}},
		{"18 with a bad attribute keeps what came before it and routes nothing", func(s *scene, name string) {
			if !s.five() {
				return
			}
			bad := `{"topicName":"` + name + `bad",` + four + `,"perm":6,"topicFilterType":"SINGLE_TAG","attributes":{"+no.such":"1"}}`
			s.refused(remoting.RespSystemError, s.a, batch, nil, `{"topicConfigList":[`+entry(name+"x")+`,`+bad+`]}`)
			s.ok(s.a, remoting.ReqGetTopicConfig, fields{"topic": name + "x"})
			s.refused(remoting.RespTopicNotExist, s.ns, remoting.ReqGetRouteInfoByTopic, fields{"topic": name + "x"})
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicConfig, fields{"topic": name + "bad"})
		}},
	}
}
