// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

func TestMembers(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.body(remoting.ReqGetConsumerConnectionList, `{"connectionSet":[{"clientAddr":"127.0.0.1:43238","clientId":"192.0.2.2@inst3","language":"JAVA","version":475},{"clientAddr":"10.0.0.7:1","clientId":"10.0.0.7@12","language":"GO","version":317}],`+
		`"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","messageModel":"BROADCASTING","subscriptionTable":{"TJ":{"classFilterMode":false,"codeSet":[2598921],"expressionType":"TAG","subString":"TagC","subVersion":1796049796783,"tagsSet":["TagC"],"topic":"TJ"},`+
		`"%RETRY%GJ":{"classFilterMode":false,"codeSet":[],"subString":"*","subVersion":1,"tagsSet":[],"topic":"%RETRY%GJ"}}}`)
	m, err := f.client().Members(t.Context(), fakeAddr, "GJ")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m).To(Equal(snapshot.Membership{
		Members: []snapshot.Member{
			{ClientID: "192.0.2.2@inst3", Address: "127.0.0.1:43238", Language: "JAVA", Version: 475},
			{ClientID: "10.0.0.7@12", Address: "10.0.0.7:1", Language: "GO", Version: 317},
		},
		Table: map[string]snapshot.Subscription{
			"TJ":        {Topic: "TJ", ExpressionType: "TAG", Expression: "TagC", Tags: []string{"TagC"}, Version: 1796049796783},
			"%RETRY%GJ": {Topic: "%RETRY%GJ", ExpressionType: "TAG", Expression: "*", Version: 1},
		},
		ConsumeType: "CONSUME_PASSIVELY", MessageModel: "BROADCASTING", ConsumeFrom: "CONSUME_FROM_LAST_OFFSET",
	}))
	g.Expect(m.Online()).To(BeTrue())
	g.Expect(m.Broadcast()).To(BeTrue())
	g.Expect(f.calls[0].ext).To(Equal(map[string]string{"consumerGroup": "GJ"}))
}

func TestMembers_OfflineIsAnAnswer(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.refuse(remoting.ReqGetConsumerConnectionList, remoting.RespConsumerNotOnline, "the consumer group[G] not online")
	m, err := f.client().Members(t.Context(), fakeAddr, "G")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m).To(Equal(snapshot.Membership{}))

	f.refuse(remoting.ReqGetConsumerListByGroup, remoting.RespSystemError, "no consumer for this group, G")
	ids, err := f.client().MemberIDs(t.Context(), fakeAddr, "G")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ids).To(BeEmpty())
}

func TestMembers_FailuresAreNotOffline(t *testing.T) {
	for name, answer := range map[string]*remoting.Command{
		"the catch-all": {Code: remoting.RespSystemError, Remark: "java.lang.NullPointerException"},
		"busy":          {Code: remoting.RespSystemBusy},
		"denied":        {Code: remoting.RespNoPermission},
		"nothing":       {},
		"unknown call":  {Code: remoting.RespRequestCodeNotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(513)
			reply := func(*remoting.Command) *remoting.Command { return answer }
			f.on(remoting.ReqGetConsumerConnectionList, reply).on(remoting.ReqGetConsumerListByGroup, reply)
			_, err := f.client().Members(t.Context(), fakeAddr, "G")
			g.Expect(err).To(HaveOccurred())
			_, err = f.client().MemberIDs(t.Context(), fakeAddr, "G")
			g.Expect(err).To(HaveOccurred())
		})
	}
}

func TestMemberIDs(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.body(remoting.ReqGetConsumerListByGroup, `{"consumerIdList":["c2","c1"]}`)
	g.Expect(f.client().MemberIDs(t.Context(), fakeAddr, "G")).To(Equal([]string{"c2", "c1"}))
}

const reportBody = `{"jstack":"","mqPopTable":{{"brokerName":"broker-b","queueId":-1,"topic":"T"}:{"droped":false,"lastPopTimestamp":0,"waitAckCount":0}},` +
	`"mqTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"cachedMsgCount":3,"cachedMsgMaxOffset":12,"cachedMsgMinOffset":10,"cachedMsgSizeInMiB":0,"commitOffset":10,"droped":true,"lastConsumeTimestamp":1796049796783,"lastLockTimestamp":0,"lastPullTimestamp":1796049796784,"locked":true,"transactionMsgCount":0,"transactionMsgMaxOffset":0,"transactionMsgMinOffset":0,"tryUnlockTimes":0},` +
	`{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"$ref":"$.mqTable.MessageQueue\\ \\[topic\\=T\\,\\ brokerName\\=broker\\-a\\,\\ queueId\\=0\\]"}},` +
	`"properties":{"PROP_CONSUME_TYPE":"CONSUME_PASSIVELY","allocateMessageQueueStrategy":"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@1b2c"},` +
	`"statusTable":{"T":{"consumeFailedMsgs":0,"consumeOKTPS":0.0}},"subscriptionSet":[{"classFilterMode":false,"codeSet":[1,2],"expressionType":"TAG","subString":"TagA || TagB","subVersion":5,"tagsSet":["TagA","TagB"],"topic":"T"}]}`

func TestRunningInfo(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.on(remoting.ReqGetConsumerRunningInfo, func(*remoting.Command) *remoting.Command {
		return &remoting.Command{Remark: "not set any response code", Body: []byte(reportBody)}
	})
	report, err := f.client().RunningInfo(t.Context(), fakeAddr, "G", "10.0.0.9@1234#5678")
	g.Expect(err).NotTo(HaveOccurred())
	work := snapshot.QueueWork{
		Committed: 10, Cached: 3, CachedMin: 10, CachedMax: 12, Locked: true, Dropped: true,
		LastPull: time.UnixMilli(1796049796784), LastConsume: time.UnixMilli(1796049796783),
	}
	g.Expect(report).To(Equal(snapshot.MemberReport{
		Properties: map[string]string{
			"PROP_CONSUME_TYPE":            "CONSUME_PASSIVELY",
			"allocateMessageQueueStrategy": "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@1b2c",
		},
		Subscriptions: []snapshot.Subscription{{Topic: "T", ExpressionType: "TAG", Expression: "TagA || TagB", Tags: []string{"TagA", "TagB"}, Version: 5}},
		Queues: map[snapshot.Queue]snapshot.QueueWork{
			{Topic: "T", Broker: "broker-a", ID: 0}: work, {Topic: "T", Broker: "broker-a", ID: 1}: work,
		},
		PopQueues: []snapshot.Queue{{Topic: "T", Broker: "broker-b", ID: -1}},
	}))
	g.Expect(f.calls[0].ext).To(Equal(map[string]string{"consumerGroup": "G", "clientId": "10.0.0.9@1234#5678", "jstackEnable": "false"}))
}

func TestP12_AMemberThatDoesNotAnswer(t *testing.T) {
	for _, tc := range []struct {
		name     string
		response int
		remark   string
		want     remoting.Kind
	}{
		{"gone", 1, "The Consumer <G> <c1> not online", remoting.NotFound},
		{"silent", 207, "consumer <G> <c1> Timeout: RemotingTimeoutException, wait response on the channel", remoting.Timeout},
		{"too old", 1, "The Consumer <c1> Version <V3_1_0> too low to finish, please upgrade it to V3_1_8_SNAPSHOT", remoting.Unsupported},
		{"foreign", 3, "request type 307 not supported", remoting.Unsupported},
		{"broken", 1, "invoke consumer <G> <c1> Exception: RemotingSendRequestException", remoting.Refused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(513)
			f.refuse(remoting.ReqGetConsumerRunningInfo, tc.response, tc.remark)
			_, err := f.client().RunningInfo(t.Context(), fakeAddr, "G", "c1")
			g.Expect(err).To(MatchError(tc.want))
		})
	}
}

// TestP12_GRPCMembersAreNotAsked saves the 10 s that each of them would cost.
func TestP12_GRPCMembersAreNotAsked(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	_, err := f.client().RunningInfo(t.Context(), fakeAddr, "G", "orders-7d9f@1@0@abc123")
	g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
	g.Expect(f.codes()).To(BeEmpty())
	for id, want := range map[string]bool{
		"host@1@0@x": true, "a@b@c@d@e": true, "10.0.0.9@1234#5678": false, "10.0.0.9@DEFAULT@unit": false, "10.0.0.9@i@u@STREAM": true, "": false,
	} {
		g.Expect(IsGRPC(id)).To(Equal(want), id)
	}
}

func TestSubscriptionByConsumer(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.body(remoting.ReqQuerySubscriptionByConsumer, `{"group":"GH","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"SQL92","subString":"a > 1","subVersion":3,"tagsSet":[],"topic":"T1"},"topic":"T1"}`)
	s, found, err := f.client().SubscriptionByConsumer(t.Context(), fakeAddr, "GH", "T1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue())
	g.Expect(s).To(Equal(snapshot.Subscription{Topic: "T1", ExpressionType: "SQL92", Expression: "a > 1", Version: 3}))

	f.body(remoting.ReqQuerySubscriptionByConsumer, `{"group":"GH","topic":"T1"}`)
	_, found, err = f.client().SubscriptionByConsumer(t.Context(), fakeAddr, "GH", "T1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())

	_, _, err = newFake(407).client().SubscriptionByConsumer(t.Context(), fakeAddr, "GH", "T1")
	g.Expect(err).To(MatchError(remoting.Unsupported))
}
