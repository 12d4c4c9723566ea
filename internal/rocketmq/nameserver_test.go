// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

const nameServer = "ns:9876"

func orderExt(more ...string) map[string]string {
	ext := map[string]string{"namespace": "ORDER_TOPIC_CONFIG", "key": "T"}
	for i := 0; i < len(more); i += 2 {
		ext[more[i]] = more[i+1]
	}
	return ext
}

func TestQ10_OrderConfig(t *testing.T) {
	g := NewWithT(t)
	f := newFake(0)
	f.ext(remoting.ReqGetKVConfig, "value", "broker-a:8;broker-b:8")
	f.body(remoting.ReqGetKVListByNamespace, `{"table":{"T":"broker-a:8"}}`)
	f.body(remoting.ReqPutKVConfig, "").body(remoting.ReqDeleteKVConfig, "")
	c := f.client()
	g.Expect(c.OrderConfig(t.Context(), nameServer, "T")).To(Equal("broker-a:8;broker-b:8"))
	g.Expect(c.OrderConfigs(t.Context(), nameServer)).To(Equal(map[string]string{"T": "broker-a:8"}))
	g.Expect(c.SetOrderConfig(t.Context(), nameServer, "T", "broker-a:4")).To(Succeed())
	g.Expect(c.DeleteOrderConfig(t.Context(), nameServer, "T")).To(Succeed())
	g.Expect(f.calls).To(Equal([]sent{
		{addr: nameServer, code: 101, ext: orderExt()},
		{addr: nameServer, code: 219, ext: map[string]string{"namespace": "ORDER_TOPIC_CONFIG"}},
		{addr: nameServer, code: 100, ext: orderExt("value", "broker-a:4")},
		{addr: nameServer, code: 102, ext: orderExt()},
	}))
}

func TestOrderConfig_NoneIsAnAnswer(t *testing.T) {
	g := NewWithT(t)
	f := newFake(0)
	f.refuse(remoting.ReqGetKVConfig, remoting.RespQueryNotFound, "No config item, Namespace: ORDER_TOPIC_CONFIG Key: T")
	f.refuse(remoting.ReqGetKVListByNamespace, remoting.RespQueryNotFound, "No config item, Namespace: ORDER_TOPIC_CONFIG")
	g.Expect(f.client().OrderConfig(t.Context(), nameServer, "T")).To(BeEmpty())
	g.Expect(f.client().OrderConfigs(t.Context(), nameServer)).To(BeEmpty())

	f.body(remoting.ReqGetKVConfig, "")
	_, err := f.client().OrderConfig(t.Context(), nameServer, "T")
	g.Expect(err).To(MatchError(remoting.Malformed))
	f.fail(remoting.ReqGetKVConfig, &remoting.Error{Kind: remoting.Timeout})
	_, err = f.client().OrderConfig(t.Context(), nameServer, "T")
	g.Expect(err).To(MatchError(remoting.Timeout))
}

func TestNameServerWrites_Refused(t *testing.T) {
	g := NewWithT(t)
	f := newFake(0)
	c := f.client()
	for name, err := range map[string]error{
		"empty value":           c.SetOrderConfig(t.Context(), nameServer, "T", ""),
		"bad name":              c.SetOrderConfig(t.Context(), nameServer, "a b", "broker-a:4"),
		"system topic":          c.SetOrderConfig(t.Context(), nameServer, "TBW102", "broker-a:4"),
		"delete of system":      c.DeleteOrderConfig(t.Context(), nameServer, "rmq_sys_x"),
		"route of all clusters": c.DeleteTopicRoute(t.Context(), nameServer, "T", ""),
		"route of the cluster":  c.DeleteTopicRoute(t.Context(), nameServer, "C", "C"),
		"route of a retry":      c.DeleteTopicRoute(t.Context(), nameServer, "%RETRY%G", "C"),
	} {
		g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}), name)
	}
	g.Expect(f.codes()).To(BeEmpty())
}

func TestDeleteTopicRoute(t *testing.T) {
	g := NewWithT(t)
	f := newFake(0)
	f.body(remoting.ReqDeleteTopicInNamesrv, "")
	g.Expect(f.client().DeleteTopicRoute(t.Context(), nameServer, "T", "C")).To(Succeed())
	g.Expect(f.calls).To(Equal([]sent{{addr: nameServer, code: 216, ext: map[string]string{"topic": "T", "clusterName": "C"}}}))
}

// TestP14_DeletionAsksNoQueue: the calls of a deletion leave the topic's queues
// alone, for asking for offsets would bring them back.
func TestP14_DeletionAsksNoQueue(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.body(remoting.ReqDeleteTopicInBroker, "")
	g.Expect(f.client().DeleteTopic(t.Context(), fakeMaster(), "T")).To(Succeed())
	g.Expect(f.codes()).To(Equal([]int{26, 215}))
	g.Expect(f.of(215)[0].ext).To(Equal(map[string]string{"topic": "T"}))
}

func TestDelete_Refused(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	c := f.client()
	for _, topic := range []string{"", "a b", "TBW102", "SCHEDULE_TOPIC_XXXX", "%DLQ%G", "DefaultCluster", "broker-a", "DefaultHeartBeatSyncerTopic"} {
		g.Expect(c.DeleteTopic(t.Context(), fakeMaster(), topic)).To(BeAssignableToTypeOf(&NotSentError{}), topic)
	}
	for _, group := range []string{"", "a b", "TOOLS_CONSUMER", "CID_RMQ_SYS_REVIVE_GROUP", "CID_DefaultHeartBeatSyncerTopic"} {
		g.Expect(c.DeleteGroup(t.Context(), fakeMaster(), group, true)).To(BeAssignableToTypeOf(&NotSentError{}), group)
	}
	g.Expect(f.codes()).To(BeEmpty())
	wrong := fakeMaster()
	wrong.Name = "broker-b"
	g.Expect(c.DeleteTopic(t.Context(), wrong, "T")).To(BeAssignableToTypeOf(&IdentityError{}))
	g.Expect(c.DeleteGroup(t.Context(), wrong, "G", false)).To(BeAssignableToTypeOf(&IdentityError{}))
	g.Expect(f.changing()).To(BeEmpty())
}

func TestDeleteGroup(t *testing.T) {
	for clean, text := range map[bool]string{true: "true", false: "false"} {
		g := NewWithT(t)
		f := newFake(513)
		f.body(remoting.ReqDeleteSubscriptionGroup, "")
		g.Expect(f.client().DeleteGroup(t.Context(), fakeMaster(), "G", clean)).To(Succeed())
		g.Expect(f.of(207)[0].ext).To(Equal(map[string]string{"groupName": "G", "cleanOffset": text, "removeOffset": text}))
	}
}

// TestR07_SystemTopicsOfReleasedBrokersAreReserved has what call 305 of each
// version answered.
func TestR07_SystemTopicsOfReleasedBrokersAreReserved(t *testing.T) {
	for _, version := range versionsCaptured() {
		g := NewWithT(t)
		body, ok := captured(t, version, remoting.ReqGetSystemTopicListFromBroker)
		g.Expect(ok).To(BeTrue())
		topics, err := decodeTopicList(body)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(topics)).To(BeNumerically(">=", 9))
		for topic := range topics {
			g.Expect(names.ReservedTopic(topic, names.Scope{Cluster: "DefaultCluster", Brokers: []string{"broker-a"}})).NotTo(BeEmpty(), "%s of %s", topic, version)
		}
	}
}
