// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// groupStore is a broker that stores groups: what call 200 sends replaces the
// object, except for attributes.
type groupStore struct {
	*fakeWire
	groups map[string]map[string]any
}

func newGroupStore(version int) *groupStore {
	s := &groupStore{fakeWire: newFake(version), groups: map[string]map[string]any{}}
	s.on(remoting.ReqGetAllSubscriptionGroupConfig, func(*remoting.Command) *remoting.Command {
		return bodyOf(map[string]any{"dataVersion": map[string]any{"counter": 1, "timestamp": 1}, "subscriptionGroupTable": s.groups})
	})
	s.on(remoting.ReqUpdateAndCreateSubscriptionGroup, func(r *remoting.Command) *remoting.Command {
		var group map[string]any
		if err := json.Unmarshal(r.Body, &group); err != nil {
			panic(err)
		}
		return s.put(group)
	})
	if version >= v531 {
		s.on(remoting.ReqUpdateAndCreateSubscriptionList, func(r *remoting.Command) *remoting.Command {
			var list struct {
				Groups []map[string]any `json:"groupConfigList"`
			}
			if err := json.Unmarshal(r.Body, &list); err != nil {
				panic(err)
			}
			for _, group := range list.Groups {
				s.put(group)
			}
			return &remoting.Command{}
		})
	}
	return s
}

func (s *groupStore) put(group map[string]any) *remoting.Command {
	if _, ok := group["attributes"]; ok {
		return &remoting.Command{Code: 1, Remark: "wrong format key"}
	}
	stored := map[string]any{
		"consumeEnable": true, "consumeFromMinEnable": true, "consumeBroadcastEnable": true,
		"notifyConsumerIdsChangedEnable": true, "retryQueueNums": 1, "retryMaxTimes": 16, "brokerId": 0,
		"whichBrokerWhenConsumeSlowly": 1,
	}
	if s.version >= v500 {
		maps.Copy(stored, map[string]any{
			"consumeMessageOrderly": false, "groupSysFlag": 0, "consumeTimeoutMinute": 15,
			"groupRetryPolicy": map[string]any{"type": "CUSTOMIZED"}, "attributes": map[string]any{},
		})
		if old, ok := s.groups[group["groupName"].(string)]; ok {
			stored["attributes"] = old["attributes"]
		}
	}
	maps.Copy(stored, group)
	s.groups[group["groupName"].(string)] = stored
	return &remoting.Command{}
}

func (s *groupStore) update(t contexter, change func(*snapshot.GroupConfig)) (GroupChange, error) {
	return s.client().UpdateGroup(t.Context(), fakeMaster(), "G", func(c snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) {
		change(&c)
		return c, nil
	})
}

func TestUpdateGroup_Create(t *testing.T) {
	g := NewWithT(t)
	s := newGroupStore(407)
	done, err := s.client().UpdateGroup(t.Context(), fakeMaster(), "G", func(c snapshot.GroupConfig, exists bool) (snapshot.GroupConfig, error) {
		g.Expect(exists).To(BeFalse())
		g.Expect(c).To(Equal(snapshot.DefaultGroup("G")))
		c.RetryMax = 3
		return c, nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done.Before).To(BeNil())
	g.Expect(done.Sent).To(BeTrue())
	g.Expect(s.codes()).To(Equal([]int{26, 201, 200}))
	g.Expect(s.of(200)[0].body).To(MatchJSON(`{"groupName":"G","retryMaxTimes":3}`), "what is RocketMQ's default is left to it")
	all, err := s.client().AllGroups(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all.Groups["G"]).To(Equal(done.Wanted))
}

func TestUpdateGroup_KeepsWhatItDoesNotKnow(t *testing.T) {
	g := NewWithT(t)
	s := newGroupStore(513)
	s.put(map[string]any{"groupName": "G", "retryMaxTimes": 7, "fromTheFuture": map[string]any{"deep": []any{1.0, "two"}}, "subscriptionDataSet": []any{
		map[string]any{"topic": "T", "expressionType": "TAG", "expression": "A", "version": 5},
	}})
	s.groups["G"]["attributes"] = map[string]any{"priority.factor": "50"}
	before := maps.Clone(s.groups["G"])
	done, err := s.update(t, func(c *snapshot.GroupConfig) {
		g.Expect(c.Attributes).To(Equal(map[string]string{"priority.factor": "50"}))
		g.Expect(c.Subscriptions).To(HaveLen(1))
		c.ConsumeEnable = false
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done.Before.RetryMax).To(Equal(7))
	before["consumeEnable"] = false
	g.Expect(mustJSON(s.groups["G"])).To(MatchJSON(mustJSON(before)))
	var body map[string]any
	g.Expect(json.Unmarshal([]byte(s.of(200)[0].body), &body)).To(Succeed())
	g.Expect(body).NotTo(HaveKey("attributes"))
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestO12_UnchangedGroupIsNotSent(t *testing.T) {
	g := NewWithT(t)
	s := newGroupStore(513)
	s.put(map[string]any{"groupName": "G"})
	done, err := s.update(t, func(*snapshot.GroupConfig) {})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done.Sent).To(BeFalse())
	g.Expect(s.changing()).To(BeEmpty())
}

func TestUpdateGroup_EveryField(t *testing.T) {
	for name, change := range map[string]func(*snapshot.GroupConfig){
		"consume enable":    func(c *snapshot.GroupConfig) { c.ConsumeEnable = false },
		"consume from min":  func(c *snapshot.GroupConfig) { c.ConsumeFromMin = false },
		"consume broadcast": func(c *snapshot.GroupConfig) { c.ConsumeBroadcast = false },
		"orderly":           func(c *snapshot.GroupConfig) { c.ConsumeOrderly = true },
		"notify":            func(c *snapshot.GroupConfig) { c.NotifyMembers = false },
		"retry queues":      func(c *snapshot.GroupConfig) { c.RetryQueues = 0 },
		"retry max":         func(c *snapshot.GroupConfig) { c.RetryMax = -1 },
		"read from":         func(c *snapshot.GroupConfig) { c.ReadFrom, c.ReadSlowFrom = 1, 2 },
		"sys flag":          func(c *snapshot.GroupConfig) { c.SysFlag = 1 },
		"timeout":           func(c *snapshot.GroupConfig) { c.ConsumeTimeout = time.Hour },
		"exponential": func(c *snapshot.GroupConfig) {
			c.Retry = snapshot.RetryPolicy{Type: "EXPONENTIAL", Initial: 5 * time.Second, Max: 2 * time.Hour, Multiplier: 2}
		},
		"customized": func(c *snapshot.GroupConfig) {
			c.Retry = snapshot.RetryPolicy{Type: "CUSTOMIZED", Next: []time.Duration{time.Second, time.Minute}}
		},
		"subscriptions": func(c *snapshot.GroupConfig) {
			c.Subscriptions = []snapshot.GroupSubscription{{Topic: "T", ExpressionType: "SQL92", Expression: "a > 1", Version: 3}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newGroupStore(513)
			s.put(map[string]any{"groupName": "G"})
			done, err := s.update(t, change)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(done.Sent).To(BeTrue())
			all, err := s.client().AllGroups(t.Context(), fakeAddr)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(all.Groups["G"]).To(Equal(done.Wanted))
			g.Expect(all.Groups["G"].Equal(*done.Before)).To(BeFalse())
		})
	}
}

// TestUpdateGroup_RoundTrip sets any fields of any stored group, and back.
func TestUpdateGroup_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newGroupStore(513)
		for i := range rapid.IntRange(1, 4).Draw(t, "changes") {
			label := fmt.Sprint(i)
			done, err := s.update(t, func(c *snapshot.GroupConfig) {
				c.ConsumeEnable = rapid.Bool().Draw(t, "enable"+label)
				c.ConsumeOrderly = rapid.Bool().Draw(t, "orderly"+label)
				c.RetryMax = rapid.IntRange(-1, 50).Draw(t, "max"+label)
				c.RetryQueues = rapid.IntRange(0, 8).Draw(t, "queues"+label)
				c.ConsumeTimeout = time.Duration(rapid.IntRange(0, 100).Draw(t, "timeout"+label)) * time.Minute
				if rapid.Bool().Draw(t, "subscribe"+label) {
					c.Subscriptions = append(c.Subscriptions, snapshot.GroupSubscription{Topic: "T" + label})
				} else {
					c.Subscriptions = nil
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.client().AllGroups(t.Context(), fakeAddr)
			if err != nil {
				t.Fatal(err)
			}
			if got := all.Groups["G"]; !got.Equal(done.Wanted) {
				t.Fatalf("stored %+v, wanted %+v", got, done.Wanted)
			}
		}
	})
}

func TestUpdateGroup_Refused(t *testing.T) {
	refused := func(t *testing.T, s *groupStore, err error) {
		g := NewWithT(t)
		var e *NotSentError
		g.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
		g.Expect(s.changing()).To(BeEmpty())
	}
	for name, change := range map[string]func(*snapshot.GroupConfig){
		"another name":          func(c *snapshot.GroupConfig) { c.Name = "H" },
		"attributes":            func(c *snapshot.GroupConfig) { c.Attributes = map[string]string{"priority.factor": "1"} },
		"negative retry queues": func(c *snapshot.GroupConfig) { c.RetryQueues = -1 },
		"parts of a minute":     func(c *snapshot.GroupConfig) { c.ConsumeTimeout = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			s := newGroupStore(513)
			_, err := s.update(t, change)
			refused(t, s, err)
		})
	}
	for _, name := range []string{"", "a.b", "TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS", "CID_DefaultHeartBeatSyncerTopic"} {
		t.Run("name "+name, func(t *testing.T) {
			s := newGroupStore(513)
			_, err := s.client().UpdateGroup(t.Context(), fakeMaster(), name, func(c snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) {
				return c, nil
			})
			refused(t, s, err)
			NewWithT(t).Expect(s.codes()).To(BeEmpty())
		})
	}
}

func TestUpdateGroup_ChangeMayRefuse(t *testing.T) {
	g := NewWithT(t)
	s := newGroupStore(513)
	no := errors.New("no")
	_, err := s.client().UpdateGroup(t.Context(), fakeMaster(), "G", func(c snapshot.GroupConfig, _ bool) (snapshot.GroupConfig, error) {
		return c, no
	})
	g.Expect(err).To(MatchError(no))
	g.Expect(s.changing()).To(BeEmpty())
}

func TestCreateGroups(t *testing.T) {
	wanted := func() []snapshot.GroupConfig {
		var groups []snapshot.GroupConfig
		for i := range 40 {
			config := snapshot.DefaultGroup(fmt.Sprintf("G-%d", i))
			config.RetryMax = 4
			groups = append(groups, config)
		}
		return groups
	}
	for _, tc := range []struct {
		version                  int
		together, singly, tables int
	}{{407, 0, 39, 3}, {473, 0, 39, 3}, {479, 1, 0, 1}, {513, 1, 0, 1}} {
		t.Run(fmt.Sprint(tc.version), func(t *testing.T) {
			g := NewWithT(t)
			s := newGroupStore(tc.version)
			s.put(map[string]any{"groupName": "G-7"})
			batch, err := s.client().CreateGroups(t.Context(), fakeMaster(), wanted())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(batch.Sent).To(HaveLen(39))
			g.Expect(batch.Existing).To(HaveLen(1))
			g.Expect(batch.Existing["G-7"].RetryMax).To(Equal(16))
			g.Expect(s.of(225)).To(HaveLen(tc.together))
			g.Expect(s.of(200)).To(HaveLen(tc.singly))
			g.Expect(s.of(201)).To(HaveLen(tc.tables))
			all, err := s.client().AllGroups(t.Context(), fakeAddr)
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range wanted() {
				if want.Name != "G-7" {
					g.Expect(all.Groups[want.Name]).To(Equal(want))
				}
			}
			s.reset()
			batch, err = s.client().CreateGroups(t.Context(), fakeMaster(), wanted())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(batch.Existing).To(HaveLen(40))
			g.Expect(s.changing()).To(BeEmpty())
		})
	}
}

func TestCreateGroups_Failures(t *testing.T) {
	g := NewWithT(t)
	s := newGroupStore(513)
	batch, err := s.client().CreateGroups(t.Context(), fakeMaster(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(batch.Sent).To(BeEmpty())

	one := snapshot.DefaultGroup("G")
	for _, bad := range [][]snapshot.GroupConfig{{one, one}, {one, snapshot.DefaultGroup("a.b")}, {one, {Name: "H", RetryQueues: -1}}} {
		_, err = s.client().CreateGroups(t.Context(), fakeMaster(), bad)
		g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
	}
	g.Expect(s.codes()).To(BeEmpty())

	s.fail(225, &remoting.Error{Addr: fakeAddr, Code: 225, Kind: remoting.Timeout, Sent: true})
	batch, err = s.client().CreateGroups(t.Context(), fakeMaster(), []snapshot.GroupConfig{one})
	g.Expect(err).To(MatchError(remoting.Timeout))
	g.Expect(batch.Sent).To(Equal([]string{"G"}))

	s = newGroupStore(407)
	s.refuse(200, remoting.RespSystemError, "Can't modify topic or subscription group from slave broker")
	batch, err = s.client().CreateGroups(t.Context(), fakeMaster(), []snapshot.GroupConfig{one})
	g.Expect(err).To(MatchError(remoting.Refused))
	g.Expect(batch.Sent).To(Equal([]string{"G"}))
}

func TestDecodeGroups_OfReleasedBrokers(t *testing.T) {
	for _, version := range versionsCaptured() {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			body, ok := captured(t, version, remoting.ReqGetAllSubscriptionGroupConfig)
			g.Expect(ok).To(BeTrue())
			all, err := decodeGroups(body)
			g.Expect(err).NotTo(HaveOccurred())
			want := snapshot.DefaultGroup("group-3")
			want.RetryMax = 4
			g.Expect(all.groups["group-3"].config).To(Equal(want))
			g.Expect(all.groups).To(HaveKey("TOOLS_CONSUMER"))
			g.Expect(all.version.Counter).To(BeNumerically(">", 20))
		})
	}
}
