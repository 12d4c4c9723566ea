// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// queuesIn counts the queue ids of a stats body.
func queuesIn(body string) int { return strings.Count(body, `"queueId":`) }

func statsTests() []test {
	return []test{
		{"202 shows the ids below max(read, write) on 5.x and below write on 4.9", func(s *scene, name string) {
			s.topic(name, 8, 4)
			body := string(s.ok(s.a, remoting.ReqGetTopicStatsInfo, fields{"topic": name}).Body)
			if s.five() {
				s.Expect(queuesIn(body)).To(gomega.Equal(8))
			} else {
				s.Expect(queuesIn(body)).To(gomega.Equal(4))
			}
			s.Expect(body).To(gomega.ContainSubstring(`{"brokerName":"broker-a","queueId":0,"topic":"` + name + `"}:{`))
			s.refused(remoting.RespTopicNotExist, s.a, remoting.ReqGetTopicStatsInfo, fields{"topic": name + "-not"})
		}},
		{"208 stops at the read count and shows never as 0 (Q20)", func(s *scene, name string) {
			s.topic(name, 4, 8)
			s.group(name)
			body := string(s.ok(s.a, remoting.ReqGetConsumeStats, fields{"consumerGroup": name, "topic": name}).Body)
			s.Expect(queuesIn(body)).To(gomega.Equal(4))
			s.Expect(body).To(gomega.ContainSubstring(`"consumerOffset":0`))
			s.Expect(strings.Contains(body, "pullOffset")).To(gomega.Equal(s.five()))
			none := string(s.ok(s.a, remoting.ReqGetConsumeStats, fields{"consumerGroup": name, "topic": name + "-not"}).Body)
			s.Expect(queuesIn(none)).To(gomega.BeZero())
		}},
		{"300 knows groups by their offsets", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name + "-g")
			s.commit(name, name+"-g", 0, 0)
			body := string(s.ok(s.a, remoting.ReqQueryTopicConsumeByWho, fields{"topic": name}).Body)
			s.Expect(body).To(gomega.Equal(`{"groupList":["` + name + `-g"]}`))
			s.ok(s.a, remoting.ReqQueryTopicConsumeByWho, fields{"topic": name + "-not"})
		}},
		{"343 and 345 exist on 5.x", func(s *scene, name string) {
			s.topic(name, 2, 2)
			s.group(name)
			s.commit(name, name, 0, 0)
			ask := fields{"group": name, "topic": name}
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqQueryTopicsByConsumer, ask)
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqQuerySubscriptionByConsumer, ask)
				return
			}
			s.Expect(string(s.ok(s.a, remoting.ReqQueryTopicsByConsumer, ask).Body)).To(gomega.ContainSubstring(`"topicList":["` + name + `"]`))
			s.Expect(string(s.ok(s.a, remoting.ReqQuerySubscriptionByConsumer, ask).Body)).NotTo(gomega.ContainSubstring("subscriptionData"))
		}},
		{"321 shows the entries of any queue id, and says by silence that one is not there", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.send(name, 3, nil)
			s.soon(func(g gomega.Gomega) { g.Expect(s.maxOf(name, 3)).To(gomega.Equal(int64(1))) })
			s.topic(name, 2, 2)
			ask := fields{"topic": name, "queueId": "3", "index": "0", "count": "5"}
			body := string(s.ok(s.a, remoting.ReqQueryConsumeQueue, ask).Body)
			s.Expect(body).To(gomega.And(gomega.ContainSubstring(`"maxQueueIndex":1`), gomega.ContainSubstring(`"physicOffset":`)))
			s.Expect(s.ok(s.a, remoting.ReqQueryConsumeQueue, ask.with("index", "7")).Body).To(gomega.BeEmpty())
			online := string(s.ok(s.a, remoting.ReqQueryConsumeQueue, ask.with("consumerGroup", name)).Body)
			s.Expect(online).To(gomega.ContainSubstring(name + "@" + name + " is not online!"))
		}},
	}
}
