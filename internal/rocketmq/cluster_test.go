// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestP02_BrokerIDsAreBareIntegers(t *testing.T) {
	g := NewWithT(t)
	f := newFake(v500)
	f.body(remoting.ReqGetBrokerClusterInfo, `{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"broker-a","cluster":"C5","enableActingMaster":false},`+
		`"broker-b":{"brokerAddrs":{1:"10.0.0.4:10911"},"brokerName":"broker-b","cluster":"C5","zoneName":"z"},`+
		`"other":{"brokerAddrs":{0:"10.9.0.1:10911"},"brokerName":"other","cluster":"D"}},"clusterAddrTable":{"C5":["broker-c","broker-b","broker-a"],"D":["other"]}}`)
	info, err := f.client().ClusterInfo(t.Context(), "ns:9876")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Clusters).To(Equal(map[string][]string{"C5": {"broker-a", "broker-b", "broker-c"}, "D": {"other"}}))

	brokers := info.Of("C5")
	g.Expect(brokers).To(HaveLen(3))
	master, ok := brokers["broker-a"].Master()
	g.Expect(ok).To(BeTrue())
	g.Expect(master).To(Equal("10.0.0.1:10911"))
	g.Expect(brokers["broker-a"].Replicas).To(Equal(map[int64]string{0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}))
	_, ok = brokers["broker-b"].Master()
	g.Expect(ok).To(BeFalse(), "no broker id 0 is no master")
	g.Expect(brokers).To(HaveKeyWithValue("broker-c", BrokerEntry{Name: "broker-c", Cluster: "C5"}), "listed and not registered")
	_, ok = brokers["broker-c"].Master()
	g.Expect(ok).To(BeFalse())
	g.Expect(info.Of("D")).To(HaveLen(1))
	g.Expect(info.Of("nowhere")).To(BeEmpty())
}

// TestA17_ForeignClustersAreShown has a broker that clusterAddrTable does not
// list with its cluster.
func TestA17_ForeignClustersAreShown(t *testing.T) {
	g := NewWithT(t)
	info, err := decodeClusterInfo([]byte(`{"brokerAddrTable":{"late":{"brokerAddrs":{0:"x:1"},"brokerName":"late","cluster":"C"}},"clusterAddrTable":{}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Of("C")).To(HaveKey("late"))
}

func TestTopicRoute(t *testing.T) {
	const standard = `{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:30911"},"brokerName":"broker-a","cluster":"C5","enableActingMaster":false},{"brokerAddrs":{"1":"127.0.0.1:30921"},"brokerName":"broker-b","cluster":"D"}],"filterServerTable":{},` +
		`"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":4},{"brokerName":"broker-b","perm":4,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]}`
	const fastjson1 = `{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:30911"},"brokerName":"broker-a","cluster":"C5"},{"brokerAddrs":{1:"127.0.0.1:30921"},"brokerName":"broker-b","cluster":"D"}],"filterServerTable":{},` +
		`"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSynFlag":0,"writeQueueNums":4},{"brokerName":"broker-b","perm":4,"readQueueNums":2,"topicSynFlag":0,"writeQueueNums":2}]}`
	want := snapshot.Route{
		Present:  true,
		Queues:   map[string]snapshot.RouteQueues{"broker-a": {Read: 8, Write: 4, Perm: 6}, "broker-b": {Read: 2, Write: 2, Perm: 4}},
		Masters:  map[string]string{"broker-a": "127.0.0.1:30911"},
		Clusters: map[string]string{"broker-a": "C5", "broker-b": "D"},
	}
	for name, body := range map[string]string{"standard JSON": standard, "fastjson style of 4.9.3": fastjson1} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(v500)
			f.body(remoting.ReqGetRouteInfoByTopic, body)
			route, err := f.client().TopicRoute(t.Context(), "ns:9876", "T")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(route).To(Equal(want))
			g.Expect(f.calls).To(ConsistOf(sent{addr: "ns:9876", code: 105, ext: map[string]string{"topic": "T", "acceptStandardJsonOnly": "true"}}))
		})
	}

	t.Run("Q10 order configuration", func(t *testing.T) {
		g := NewWithT(t)
		route, err := decodeRoute([]byte(`{"brokerDatas":[],"queueDatas":[],"orderTopicConf":"broker-a:8;broker-b:8"}`))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(route.OrderConf).To(Equal("broker-a:8;broker-b:8"))
	})
	t.Run("no route is an answer", func(t *testing.T) {
		g := NewWithT(t)
		f := newFake(v500)
		f.refuse(105, remoting.RespTopicNotExist, "No topic route info in name server for the topic: T")
		route, err := f.client().TopicRoute(t.Context(), "ns:9876", "T")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(route).To(Equal(snapshot.Route{}))
	})
	t.Run("O25 a name server in its warm-up is none", func(t *testing.T) {
		g := NewWithT(t)
		f := newFake(v500)
		f.refuse(105, remoting.RespSystemError, "name server not ready")
		_, err := f.client().TopicRoute(t.Context(), "ns:9876", "T")
		g.Expect(err).To(MatchError(remoting.Busy))
	})
}

func TestTopicLists(t *testing.T) {
	g := NewWithT(t)
	f := newFake(v500)
	f.body(remoting.ReqGetAllTopicListFromNameServer, `{"topicList":["T1","%RETRY%GH"]}`)
	f.body(remoting.ReqGetSystemTopicListFromBroker, `{"brokerAddr":"x","topicList":["TBW102"]}`)
	topics, err := f.client().TopicList(t.Context(), "ns:9876")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(topics).To(Equal(map[string]struct{}{"T1": {}, "%RETRY%GH": {}}))
	system, err := f.client().SystemTopics(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(system).To(Equal(map[string]struct{}{"TBW102": {}}))

	f.refuse(remoting.ReqGetAllTopicListFromNameServer, remoting.RespSystemError, "disable")
	_, err = f.client().TopicList(t.Context(), "ns:9876")
	g.Expect(err).To(MatchError(remoting.Refused))
}
