// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"strings"

	"github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const writeGroup = remoting.ReqUpdateAndCreateSubscriptionGroup

// groups are the groups of broker-a.
func (s *scene) groups() map[string]snapshot.GroupConfig {
	s.Helper()
	all, err := s.client.AllGroups(s.Context(), s.a)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return all.Groups
}

func groupTests() []test {
	return []test{
		{"200 creates with defaults; every member left out returns to its default", func(s *scene, name string) {
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`","retryMaxTimes":3,"consumeEnable":false,"retryQueueNums":2}`)
			g := s.groups()[name]
			s.Expect(g.RetryMax).To(gomega.Equal(3))
			s.Expect(g.ConsumeEnable).To(gomega.BeFalse())
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`"}`)
			s.Expect(s.groups()[name].Equal(snapshot.DefaultGroup(name))).To(gomega.BeTrue())
		}},
		{"201 lists the built-in groups", func(s *scene, _ string) {
			for _, g := range []string{"TOOLS_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONSAPI_PULL"} {
				s.Expect(s.groups()).To(gomega.HaveKey(g))
			}
			if s.five() {
				s.Expect(s.groups()).To(gomega.HaveKey("CID_RMQ_SYS_TRANS"))
			}
			body := string(s.ok(s.a, remoting.ReqGetAllSubscriptionGroupConfig, nil).Body)
			s.Expect(strings.Contains(body, "groupRetryPolicy")).To(gomega.Equal(s.five()))
		}},
		{"200 checks names from 5.4 on only", func(s *scene, name string) {
			for _, bad := range []string{name + " X/..", strings.Repeat("g", 121)} {
				reply := s.call(s.a, writeGroup, nil, `{"groupName":"`+bad+`"}`)
				if s.Version >= v540 {
					s.Expect(reply.Code).To(gomega.Equal(remoting.RespInvalidParameter), reply.Remark)
				} else {
					s.Expect(reply.Code).To(gomega.BeZero(), reply.Remark)
				}
			}
		}},
		{"225 creates groups together on 5.x", func(s *scene, name string) {
			body := `{"groupConfigList":[{"groupName":"` + name + `x"},{"groupName":"` + name + `y"}]}`
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, remoting.ReqUpdateAndCreateSubscriptionList, nil, body)
				return
			}
			s.ok(s.a, remoting.ReqUpdateAndCreateSubscriptionList, nil, body)
			s.Expect(s.groups()).To(gomega.And(gomega.HaveKey(name+"x"), gomega.HaveKey(name+"y")))
		}},
		{"352 creates the group that it is asked for (P: traps 9)", func(s *scene, name string) {
			if !s.five() {
				s.refused(remoting.RespRequestCodeNotSupported, s.a, 352, fields{"group": name})
				return
			}
			s.ok(s.a, 352, fields{"group": name})
			s.Expect(s.groups()).To(gomega.HaveKey(name))
		}},
		{"group attributes by release", func(s *scene, name string) {
			if !s.five() {
				return
			}
			reply := s.call(s.a, writeGroup, nil, `{"groupName":"`+name+`","attributes":{"+priority.factor":"50"}}`)
			if s.Version < v540 {
				s.Expect(reply.Code).To(gomega.Equal(remoting.RespSystemError))
				s.Expect(reply.Remark).To(gomega.ContainSubstring("unsupported key"))
				return
			}
			s.Expect(reply.Code).To(gomega.BeZero(), reply.Remark)
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`","retryMaxTimes":5}`)
			s.Expect(s.groups()[name].Attributes).To(gomega.HaveKeyWithValue("priority.factor", "50"))
			remark := s.refused(remoting.RespSystemError, s.a, writeGroup, nil, `{"groupName":"`+name+`","attributes":{"priority.factor":"50"}}`)
			s.Expect(remark).To(gomega.ContainSubstring("wrong format key"))
			s.Expect(s.groups()[name].RetryMax).To(gomega.Equal(5))
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`","attributes":{"-priority.factor":""}}`)
			s.Expect(s.groups()[name].Attributes).To(gomega.BeEmpty())
		}},
		{"207 keeps the offsets unless told to clean", func(s *scene, name string) {
			s.topic(name, 4, 4)
			s.group(name)
			s.commit(name, name, 1, 7)
			s.ok(s.a, remoting.ReqDeleteSubscriptionGroup, fields{"groupName": name})
			s.Expect(s.entries(name, name)).To(gomega.HaveKeyWithValue(1, int64(7)))
			s.ok(s.a, remoting.ReqDeleteSubscriptionGroup, fields{"groupName": name, "cleanOffset": "true", "removeOffset": "true"})
			s.Expect(s.entries(name, name)).To(gomega.BeEmpty())
			s.Expect(s.groups()).NotTo(gomega.HaveKey(name))
		}},
		{"207 that does not clean creates the group again on 5.5", func(s *scene, name string) {
			s.ok(s.a, writeGroup, nil, `{"groupName":"`+name+`","retryMaxTimes":3}`)
			s.ok(s.a, remoting.ReqDeleteSubscriptionGroup, fields{"groupName": name})
			if s.Version < v550 {
				s.Expect(s.groups()).NotTo(gomega.HaveKey(name))
				return
			}
			s.Expect(s.groups()[name].RetryMax).To(gomega.Equal(16), "with defaults")
		}},
		{"207 leaves the retry topic", func(s *scene, name string) {
			s.group(name)
			s.topic("%RETRY%"+name, 1, 1)
			s.ok(s.a, remoting.ReqDeleteSubscriptionGroup, fields{"groupName": name})
			s.Expect(s.stored("%RETRY%" + name).ReadQueues).To(gomega.Equal(1))
		}},
	}
}
