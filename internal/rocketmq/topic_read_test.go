// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

const fifoBody = `{"attributes":{"message.type":"FIFO"},"order":true,"perm":4,"readQueueNums":5,"topicFilterType":"MULTI_TAG","topicName":"TF","topicSysFlag":1,"writeQueueNums":3}`

func fifoTopic() snapshot.TopicConfig {
	return snapshot.TopicConfig{
		Name: "TF", ReadQueues: 5, WriteQueues: 3, Perm: snapshot.PermRead, FilterType: MultiTag, SysFlag: 1, Order: true,
		Attributes: map[string]string{"message.type": "FIFO"},
	}
}

func TestDecodeTopicConfig(t *testing.T) {
	g := NewWithT(t)
	g.Expect(decodeTopicConfig([]byte(fifoBody))).To(Equal(fifoTopic()))

	static, err := decodeTopicConfig([]byte(`{"mappingDetail":{"bname":"broker-a","totalQueues":4},` + fifoBody[1:]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(static.Static).To(BeTrue())
	plain, err := decodeTopicConfig([]byte(`{"mappingDetail":null,` + fifoBody[1:]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plain).To(Equal(fifoTopic()))
}

func TestDecodeTopicTable(t *testing.T) {
	g := NewWithT(t)
	all, err := decodeTopicTable([]byte(`{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":17},"mappingDataVersion":{},"topicConfigTable":{"TF":` + fifoBody + `},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(Equal(TopicTable{
		Topics: map[string]snapshot.TopicConfig{"TF": fifoTopic()}, Version: DataVersion{Counter: 3, Timestamp: 17},
	}))

	all, err = decodeTopicTable([]byte(`{"dataVersion":{"counter":3,"timestamp":17},"topicConfigTable":{"TF":` + fifoBody + `},"topicQueueMappingDetailMap":{"TF":{"bname":"broker-a"}}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all.Topics["TF"].Static).To(BeTrue())
}

func TestDecodeTopicTable_OfReleasedBrokers(t *testing.T) {
	for _, version := range versionsCaptured() {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			body, ok := captured(t, version, remoting.ReqGetAllTopicConfig)
			g.Expect(ok).To(BeTrue())
			all, err := decodeTopicTable(body)
			g.Expect(err).NotTo(HaveOccurred())
			want := snapshot.TopicConfig{Name: "batch-7", ReadQueues: 3, WriteQueues: 2, Perm: 6, FilterType: SingleTag}
			if version != "4.9.7" {
				want.Attributes = map[string]string{"message.type": "DELAY"}
			}
			g.Expect(all.Topics["batch-7"]).To(Equal(want))
			g.Expect(all.Topics["broker-a"].Attributes).To(BeNil())
			g.Expect(all.Version.Counter).To(BeNumerically(">", 0))
		})
	}
}

func topicBroker(version int) *fakeWire {
	f := newFake(version)
	if version >= v500 {
		f.on(remoting.ReqGetTopicConfig, func(r *remoting.Command) *remoting.Command {
			if r.ExtFields["topic"] == "TF" {
				return &remoting.Command{Body: []byte(fifoBody)}
			}
			return &remoting.Command{Code: remoting.RespTopicNotExist, Remark: "No topic in this broker. topic: X"}
		})
	}
	return f.body(remoting.ReqGetAllTopicConfig, `{"dataVersion":{"counter":3,"timestamp":17},"topicConfigTable":{"TF":`+fifoBody+`}}`)
}

func TestP08_OneTopicIsReadAsTheVersionCan(t *testing.T) {
	for _, tc := range []struct {
		name    string
		version int
		codes   []int
	}{
		{"4.9 has no single read", 407, []int{28, 21}},
		{"5.x has", 413, []int{28, 351}},
		{"5.5", 513, []int{28, 351}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := topicBroker(tc.version)
			c := f.client()
			g.Expect(c.TopicConfig(t.Context(), fakeAddr, "TF")).To(Equal(snapshot.StoredTopic{Present: true, Config: fifoTopic()}))
			g.Expect(f.codes()).To(Equal(tc.codes))
			f.reset()
			g.Expect(c.TopicConfig(t.Context(), fakeAddr, "X")).To(Equal(snapshot.StoredTopic{}))
			g.Expect(f.codes()).To(Equal(tc.codes[1:]), "the version is remembered")
		})
	}
}

// TestP08_MixedVersions has two brokers of one cluster in an upgrade.
func TestP08_MixedVersions(t *testing.T) {
	g := NewWithT(t)
	old, young := topicBroker(407), topicBroker(513)
	c := New(byAddr{"a:1": old, "b:1": young})
	for range 2 {
		for _, addr := range []string{"a:1", "b:1"} {
			g.Expect(c.TopicConfig(t.Context(), addr, "TF")).To(HaveField("Present", true))
		}
	}
	g.Expect(old.codes()).To(Equal([]int{28, 21, 21}))
	g.Expect(young.codes()).To(Equal([]int{28, 351, 351}))
}

// TestP08_DowngradeIsNoticed has a 4.9 broker where a 5.x one was.
func TestP08_DowngradeIsNoticed(t *testing.T) {
	g := NewWithT(t)
	f := topicBroker(513)
	c := f.client()
	g.Expect(c.TopicConfig(t.Context(), fakeAddr, "TF")).To(HaveField("Present", true))
	delete(f.answers, remoting.ReqGetTopicConfig)
	f.reconnect(407)
	f.reset()
	for range 2 {
		g.Expect(c.TopicConfig(t.Context(), fakeAddr, "TF")).To(HaveField("Present", true))
	}
	g.Expect(f.codes()).To(Equal([]int{351, 21, 28, 21}))
}

func TestTopicConfig_FailuresAreNeverAbsence(t *testing.T) {
	for name, answer := range map[string]*remoting.Command{
		"another topic":   {Body: []byte(fifoBody)},
		"half a body":     {Body: []byte(fifoBody[:40])},
		"no body":         {},
		"busy":            {Code: remoting.RespSystemBusy},
		"denied":          {Code: remoting.RespNoPermission},
		"the catch-all":   {Code: remoting.RespSystemError, Remark: "java.lang.NullPointerException"},
		"query not found": {Code: remoting.RespQueryNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(513)
			f.on(remoting.ReqGetTopicConfig, func(*remoting.Command) *remoting.Command { return answer })
			_, err := f.client().TopicConfig(t.Context(), fakeAddr, "X")
			var e *remoting.Error
			g.Expect(errors.As(err, &e)).To(BeTrue())
			g.Expect(e.Addr).To(Equal(fakeAddr))
			g.Expect(e.Code).To(Equal(351))
		})
	}
}

// TestP04_TooLargeIsUnknown has a table over the frame limit.
func TestP04_TooLargeIsUnknown(t *testing.T) {
	g := NewWithT(t)
	f := newFake(407)
	f.fail(remoting.ReqGetAllTopicConfig, &remoting.Error{Addr: fakeAddr, Code: 21, Kind: remoting.TooLarge, Sent: true})
	_, err := f.client().TopicConfig(t.Context(), fakeAddr, "TF")
	g.Expect(err).To(MatchError(remoting.TooLarge))
	_, err = f.client().AllTopicConfigs(t.Context(), fakeAddr)
	g.Expect(err).To(MatchError(remoting.TooLarge))
}

// TestP04_PagingFieldsAreNotSent keeps call 21 whole on brokers that can page.
func TestP04_PagingFieldsAreNotSent(t *testing.T) {
	g := NewWithT(t)
	f := topicBroker(513)
	_, err := f.client().AllTopicConfigs(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.calls).To(Equal([]sent{{addr: fakeAddr, code: 21}}))
}

// TestP08_ALookKnowsTheVersionOfItsProcess has a look at a process whose address
// was another version's a moment ago.
func TestP08_ALookKnowsTheVersionOfItsProcess(t *testing.T) {
	g := NewWithT(t)
	f := topicBroker(513)
	c := f.client()
	g.Expect(c.Capability(t.Context(), fakeAddr)).To(HaveField("SingleTopicRead", true))
	f.reconnect(407)
	look := c.On(snapshot.Process{Address: fakeAddr, Connection: 2})
	g.Expect(look.Capability(t.Context(), fakeAddr)).To(HaveField("SingleTopicRead", false))
	g.Expect(look.Capability(t.Context(), fakeAddr)).To(HaveField("SingleTopicRead", false))
	g.Expect(f.codes()).To(Equal([]int{28, 28}), "asked once for each process")
}

func TestCapabilityOf(t *testing.T) {
	g := NewWithT(t)
	g.Expect(CapabilityOf(407)).To(Equal(Capability{Version: 407}))
	g.Expect(CapabilityOf(412)).To(Equal(Capability{Version: 412}))
	five := Capability{
		Version: 413, SingleTopicRead: true, Attributes: true, OrderFlag: true, POP: true, SubscriptionRead: true, ExactMissingOffset: true,
	}
	g.Expect(CapabilityOf(413)).To(Equal(five))
	for _, step := range []struct {
		since int
		set   func(*Capability)
	}{
		{453, func(c *Capability) { c.ExactReset = true }},
		{473, func(c *Capability) { c.TopicBatch = true }},
		{475, func(c *Capability) { c.GroupBatch = true }},
		{493, func(c *Capability) { c.GroupAttributes = true }},
	} {
		five.Version = step.since - 1
		g.Expect(CapabilityOf(step.since - 1)).To(Equal(five))
		step.set(&five)
		five.Version = step.since
		g.Expect(CapabilityOf(step.since)).To(Equal(five))
	}
}
