// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// topicStore is a broker that stores topics as its version does.
type topicStore struct {
	*fakeWire
	topics map[string]snapshot.TopicConfig
	writes int
}

func newTopicStore(version int, topics ...snapshot.TopicConfig) *topicStore {
	s := &topicStore{fakeWire: newFake(version), topics: map[string]snapshot.TopicConfig{}}
	for _, config := range topics {
		s.topics[config.Name] = config
	}
	if version >= v500 {
		s.on(remoting.ReqGetTopicConfig, s.get)
	}
	if version >= v530 {
		s.on(remoting.ReqUpdateAndCreateTopicList, s.list)
	}
	s.on(remoting.ReqGetAllTopicConfig, s.all)
	s.on(remoting.ReqUpdateAndCreateTopic, s.put)
	return s
}

func wireTopic(c snapshot.TopicConfig) map[string]any {
	w := map[string]any{
		"topicName": c.Name, "readQueueNums": c.ReadQueues, "writeQueueNums": c.WriteQueues, "perm": int(c.Perm),
		"topicFilterType": c.FilterType, "topicSysFlag": c.SysFlag, "order": c.Order,
	}
	if c.Attributes != nil {
		w["attributes"] = c.Attributes
	}
	return w
}

func bodyOf(v any) *remoting.Command {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return &remoting.Command{Body: body}
}

func (s *topicStore) get(r *remoting.Command) *remoting.Command {
	config, ok := s.topics[r.ExtFields["topic"]]
	if !ok {
		return &remoting.Command{Code: remoting.RespTopicNotExist}
	}
	w := wireTopic(config)
	if config.Static {
		w["mappingDetail"] = map[string]any{"bname": "broker-a"}
	}
	return bodyOf(w)
}

func (s *topicStore) all(*remoting.Command) *remoting.Command {
	table, static := map[string]any{}, map[string]any{}
	for name, config := range s.topics {
		table[name] = wireTopic(config)
		if config.Static {
			static[name] = map[string]any{"bname": "broker-a"}
		}
	}
	return bodyOf(map[string]any{
		"dataVersion": map[string]any{"counter": s.writes, "timestamp": 1}, "topicConfigTable": table,
		"topicQueueMappingDetailMap": static,
	})
}

func (s *topicStore) put(r *remoting.Command) *remoting.Command {
	number := func(key string) int {
		n, err := strconv.Atoi(r.ExtFields[key])
		if err != nil {
			panic("a broker dies of the missing field " + key)
		}
		return n
	}
	name := r.ExtFields["topic"]
	config := snapshot.TopicConfig{
		Name: name, ReadQueues: number("readQueueNums"), WriteQueues: number("writeQueueNums"),
		Perm: snapshot.Perm(number("perm")), FilterType: r.ExtFields["topicFilterType"], SysFlag: number("topicSysFlag"),
	}
	if s.version >= v500 {
		config.Order = r.ExtFields["order"] == "true"
		if after := applySigned(s.topics[name].Attributes, r.ExtFields["attributes"]); len(after) > 0 {
			config.Attributes = after
		}
	}
	s.topics[name] = config
	s.writes++
	return &remoting.Command{Remark: "not set any response code"}
}

// list stops at the first topic that is stored as it is, and says success.
func (s *topicStore) list(r *remoting.Command) *remoting.Command {
	var body struct {
		Topics []topicEntry `json:"topicConfigList"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		panic(err)
	}
	for _, w := range body.Topics {
		config := snapshot.TopicConfig{
			Name: w.Name, ReadQueues: w.Read, WriteQueues: w.Write, Perm: snapshot.Perm(w.Perm), FilterType: w.FilterType,
			SysFlag: w.SysFlag, Order: w.Order,
		}
		if after := applySigned(s.topics[w.Name].Attributes, signedText(w.Attributes)); len(after) > 0 {
			config.Attributes = after
		}
		if old, ok := s.topics[w.Name]; ok && old.Equal(config) {
			return &remoting.Command{}
		}
		s.topics[w.Name] = config
		s.writes++
	}
	return &remoting.Command{}
}

func plainTopic(name string) snapshot.TopicConfig {
	return snapshot.TopicConfig{Name: name, ReadQueues: 8, WriteQueues: 8, Perm: snapshot.PermReadWrite, FilterType: SingleTag}
}

// to is a change to exactly this config.
func to(want snapshot.TopicConfig) func(snapshot.StoredTopic) (snapshot.TopicConfig, error) {
	return func(snapshot.StoredTopic) (snapshot.TopicConfig, error) { return want, nil }
}

func TestCreateOrUpdateTopic_Create(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(513)
	want := plainTopic("T")
	want.Attributes = map[string]string{"message.type": "FIFO"}
	done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(want))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(Equal(TopicChange{Wanted: want, Sent: true}))
	g.Expect(s.codes()).To(Equal([]int{26, 28, 351, 17}))
	g.Expect(s.of(17)[0].ext).To(Equal(map[string]string{
		"topic": "T", "defaultTopic": "TBW102", "readQueueNums": "8", "writeQueueNums": "8", "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false", "force": "false",
		"attributes": "+message.type=FIFO",
	}))
	g.Expect(s.topics["T"]).To(Equal(want))
}

func TestO12_NothingDiffersNothingIsSent(t *testing.T) {
	for _, version := range []int{407, 479, 513} {
		g := NewWithT(t)
		config := plainTopic("T")
		config.Order, config.SysFlag, config.Perm = true, 1, snapshot.PermRead
		if version >= v500 {
			config.Attributes = map[string]string{"message.type": "FIFO"}
		}
		s := newTopicStore(version, config)
		c := s.client()
		for range 10 {
			done, err := c.CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(config))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(done.Sent).To(BeFalse())
		}
		g.Expect(s.changing()).To(BeEmpty())
		g.Expect(s.writes).To(BeZero())
	}
}

// TestQ27_ChangeOfOneFieldKeepsTheOthers sends all fields from what is there.
func TestQ27_ChangeOfOneFieldKeepsTheOthers(t *testing.T) {
	g := NewWithT(t)
	before := snapshot.TopicConfig{
		Name: "T", ReadQueues: 32, WriteQueues: 16, Perm: snapshot.PermRead, FilterType: MultiTag, SysFlag: 2, Order: true,
		Attributes: map[string]string{"message.type": "FIFO", "cleanup.policy": "DELETE"},
	}
	s := newTopicStore(479, before)
	_, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		g.Expect(current).To(Equal(snapshot.StoredTopic{Present: true, Config: before}))
		want := current.Config.Clone()
		want.WriteQueues = 8
		return want, nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	after := before.Clone()
	after.WriteQueues = 8
	g.Expect(s.topics["T"]).To(Equal(after))
	g.Expect(s.of(17)[0].ext).NotTo(HaveKey("attributes"), "attributes that stay are not sent")
}

func TestQ28_AttributesLostToATool(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(479, plainTopic("T"))
	want := plainTopic("T")
	want.Attributes = map[string]string{"message.type": "FIFO"}
	_, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(want))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.topics["T"].Attributes).To(Equal(want.Attributes))
}

// TestQ28_49StoresNoAttributesAndNoOrder does not write for ever what 4.9 drops.
func TestQ28_49StoresNoAttributesAndNoOrder(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(407)
	want := plainTopic("T")
	want.Attributes, want.Order = map[string]string{"message.type": "FIFO"}, true
	c := s.client()
	done, err := c.CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(want))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done.Wanted).To(Equal(plainTopic("T")))
	g.Expect(s.of(17)[0].ext).NotTo(HaveKey("attributes"))
	done, err = c.CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(want))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done.Sent).To(BeFalse())
	g.Expect(want.Attributes).To(HaveLen(1), "what the caller gave is not changed")
}

// TestTopicRoundTrip writes any config over any other and finds it stored.
func TestTopicRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := func(label string) snapshot.TopicConfig {
			write := rapid.IntRange(1, 300).Draw(t, label+" write")
			c := snapshot.TopicConfig{
				Name: "T", WriteQueues: write, ReadQueues: write + rapid.IntRange(0, 300).Draw(t, label+" more"),
				Perm:       rapid.SampledFrom([]snapshot.Perm{2, 4, 6}).Draw(t, label+" perm"),
				FilterType: rapid.SampledFrom([]string{SingleTag, MultiTag}).Draw(t, label+" filter"),
				SysFlag:    rapid.IntRange(0, 3).Draw(t, label+" flag"),
				Order:      rapid.Bool().Draw(t, label+" order"),
			}
			if a := attributes().Draw(t, label+" attributes"); len(a) > 0 {
				c.Attributes = a
			}
			return c
		}
		version := rapid.SampledFrom([]int{407, 413, 479, 513}).Draw(t, "version")
		var there []snapshot.TopicConfig
		if rapid.Bool().Draw(t, "exists") {
			old := config("old")
			if version < v500 {
				old.Attributes = nil
			}
			there = append(there, old)
		}
		s := newTopicStore(version, there...)
		done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(config("want")))
		if err != nil {
			t.Fatal(err)
		}
		stored := s.topics["T"]
		if version < v500 {
			// 4.9 resets order at every write, whatever is sent.
			stored.Order = done.Wanted.Order
		}
		if !stored.Equal(done.Wanted) {
			t.Fatalf("stored %+v, wanted %+v", stored, done.Wanted)
		}
		if done.Sent != (s.writes == 1) {
			t.Fatalf("sent %t, writes %d", done.Sent, s.writes)
		}
	})
}

func TestCreateOrUpdateTopic_Refused(t *testing.T) {
	with := func(change func(*snapshot.TopicConfig)) snapshot.TopicConfig {
		config := plainTopic("T")
		change(&config)
		return config
	}
	static := with(func(c *snapshot.TopicConfig) { c.Static = true })
	for name, tc := range map[string]struct {
		topic string
		want  snapshot.TopicConfig
		there []snapshot.TopicConfig
	}{
		"no queues":            {"T", with(func(c *snapshot.TopicConfig) { c.ReadQueues, c.WriteQueues = 0, 0 }), nil},
		"negative":             {"T", with(func(c *snapshot.TopicConfig) { c.WriteQueues = -1 }), nil},
		"no write queue":       {"T", with(func(c *snapshot.TopicConfig) { c.WriteQueues = 0 }), nil},
		"more write than read": {"T", with(func(c *snapshot.TopicConfig) { c.WriteQueues = 9 }), nil},
		"too many":             {"T", with(func(c *snapshot.TopicConfig) { c.ReadQueues = MaxQueues + 1 }), nil},
		"no permission":        {"T", with(func(c *snapshot.TopicConfig) { c.Perm = 0 }), nil},
		"unknown permission":   {"T", with(func(c *snapshot.TopicConfig) { c.Perm = 8 }), nil},
		"unknown filter":       {"T", with(func(c *snapshot.TopicConfig) { c.FilterType = "" }), nil},
		"bad attribute":        {"T", with(func(c *snapshot.TopicConfig) { c.Attributes = map[string]string{"a": "b,c"} }), nil},
		"another name":         {"T", plainTopic("U"), nil},
		"static":               {"T", plainTopic("T"), []snapshot.TopicConfig{static}},
		"to become static":     {"T", static, nil},
		"bad name":             {"a.b", plainTopic("a.b"), nil},
		"system topic":         {"TBW102", plainTopic("TBW102"), nil},
		"retry topic":          {"%RETRY%G", plainTopic("%RETRY%G"), nil},
		"the cluster's name":   {"DefaultCluster", plainTopic("DefaultCluster"), nil},
		"the broker's name":    {"broker-a", plainTopic("broker-a"), nil},
		"the proxies' topic":   {"DefaultHeartBeatSyncerTopic", plainTopic("DefaultHeartBeatSyncerTopic"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			there := tc.there
			if there == nil && tc.topic == "T" {
				there = []snapshot.TopicConfig{with(func(c *snapshot.TopicConfig) { c.Perm = snapshot.PermRead })}
			}
			s := newTopicStore(513, there...)
			before := maps.Clone(s.topics)
			done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), tc.topic, to(tc.want))
			var refused *NotSentError
			g.Expect(errors.As(err, &refused)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring("not sent")))
			g.Expect(done.Sent).To(BeFalse())
			g.Expect(s.changing()).To(BeEmpty())
			g.Expect(s.topics).To(Equal(before))
		})
	}
}

// TestR18_ChangeMayRefuse ends with nothing sent when the caller finds another
// config than it left.
func TestR18_ChangeMayRefuse(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(513, plainTopic("T"))
	foreign := errors.New("somebody else changed it")
	done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T",
		func(snapshot.StoredTopic) (snapshot.TopicConfig, error) { return plainTopic("T"), foreign })
	g.Expect(err).To(MatchError(foreign))
	g.Expect(done.Before.Present).To(BeTrue())
	g.Expect(s.changing()).To(BeEmpty())
}

func TestR03_OnlyTheMasterThatWasMeantIsChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		at       Master
		settings string
		says     string
	}{
		"another broker":  {Master{fakeAddr, "broker-b", "DefaultCluster"}, settingsBody, `master of broker "broker-a" in cluster "DefaultCluster" answers`},
		"another cluster": {Master{fakeAddr, "broker-a", "other"}, settingsBody, "nothing was changed"},
		"a slave":         {fakeMaster(), settingsBody + "brokerId=1\n", "replica 1 of broker"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newTopicStore(513)
			s.body(remoting.ReqGetBrokerConfig, tc.settings)
			want := plainTopic("T")
			_, err := s.client().CreateOrUpdateTopic(t.Context(), tc.at, "T", to(want))
			var other *IdentityError
			g.Expect(errors.As(err, &other)).To(BeTrue())
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(s.codes()).To(Equal([]int{26}))
		})
	}
}

// TestR03_ChangeGoesToTheProcessThatProved has the broker replaced by another
// one right after its proof.
func TestR03_ChangeGoesToTheProcessThatProved(t *testing.T) {
	g := NewWithT(t)
	s := newTopicStore(513, plainTopic("T"))
	want := plainTopic("T")
	want.WriteQueues = 4
	done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", func(snapshot.StoredTopic) (snapshot.TopicConfig, error) {
		s.reconnect(513)
		return want, nil
	})
	g.Expect(err).To(MatchError(remoting.ErrOtherConnection))
	g.Expect(done.Sent).To(BeFalse())
	g.Expect(s.changing()).To(BeEmpty())
}

func TestCreateOrUpdateTopic_UnansweredMayBeDone(t *testing.T) {
	for _, left := range []bool{true, false} {
		g := NewWithT(t)
		s := newTopicStore(513)
		s.fail(remoting.ReqUpdateAndCreateTopic, &remoting.Error{Addr: fakeAddr, Code: 17, Kind: remoting.Timeout, Sent: left})
		done, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(plainTopic("T")))
		g.Expect(err).To(MatchError(remoting.Timeout))
		g.Expect(done.Sent).To(Equal(left))
	}
}

// TestCreateOrUpdateTopic_UnreadableIsNotWritten never takes a failed reading
// for an absent topic.
func TestCreateOrUpdateTopic_UnreadableIsNotWritten(t *testing.T) {
	for _, code := range []int{26, 28, 351} {
		g := NewWithT(t)
		s := newTopicStore(513)
		s.fail(code, &remoting.Error{Addr: fakeAddr, Code: code, Kind: remoting.Timeout, Sent: true})
		_, err := s.client().CreateOrUpdateTopic(t.Context(), fakeMaster(), "T", to(plainTopic("T")))
		g.Expect(err).To(MatchError(remoting.Timeout))
		g.Expect(s.changing()).To(BeEmpty())
	}
}
