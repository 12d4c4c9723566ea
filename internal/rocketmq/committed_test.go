// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func TestP01_CommittedOffsetsByMember(t *testing.T) {
	g := NewWithT(t)
	all, err := decodeCommitted([]byte(`{"dataVersion":{"counter":0},"groupTopicMap":{"GX":["T1"]},` +
		`"offsetTable":{"T1@GX":{0:3,7:12},"T1@GY":{},"T2@GX":{1:0},"T1@GB@broadcast":{0:8},"odd":{0:1},"a@b@c":{0:1},"@G":{0:1},"T@":{0:2}},` +
		`"pullOffsetTable":{"T1@GX":{0:9},"T1@GP":{0:4}},"lmqOffsetTable":{"%LMQ%a@%LMQ%g":17}}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all.Committed).To(Equal(GroupOffsets{
		"T1": {"GX": {0: 3, 7: 12}, "GY": {}}, "T2": {"GX": {1: 0}},
	}))
	g.Expect(all.Pulled).To(Equal(GroupOffsets{"T1": {"GX": {0: 9}, "GP": {0: 4}}}))
	g.Expect(all.Broadcast).To(Equal(GroupOffsets{"T1": {"GB": {0: 8}}}))
	g.Expect(all.Light).To(Equal(GroupOffsets{"%LMQ%a": {"%LMQ%g": {0: 17}}}))
	g.Expect(all.Odd).To(ConsistOf("odd", "a@b@c", "@G", "T@"))
}

func TestCommittedOffsets_OfReleasedBrokers(t *testing.T) {
	for _, version := range versionsCaptured() {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(413)
			body, ok := captured(t, version, remoting.ReqGetAllConsumerOffset)
			g.Expect(ok).To(BeTrue())
			f.body(remoting.ReqGetAllConsumerOffset, string(body))
			all, err := f.client().AllCommittedOffsets(t.Context(), fakeAddr)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(all.Committed).To(HaveKeyWithValue("orders", map[string]map[int]int64{"payments": {3: 2, 7: 0}}))
			if version == "5.5.0" {
				// A proxy's own group reads by broadcast.
				g.Expect(all.Broadcast).To(Equal(GroupOffsets{"DefaultHeartBeatSyncerTopic": {"CID_DefaultHeartBeatSyncerTopic": {0: 0}}}))
				g.Expect(all.Pulled).To(HaveKeyWithValue("orders", map[string]map[int]int64{"TOOLS_CONSUMER": {3: 5}}))
			} else {
				g.Expect(all.Pulled).To(BeEmpty())
			}
		})
	}
}

func offsetsBroker(version int) *fakeWire {
	f := newFake(version)
	f.body(remoting.ReqGetAllConsumerOffset, `{"offsetTable":{"T@G":{0:0,3:5}}}`)
	f.on(remoting.ReqQueryConsumerOffset, func(r *remoting.Command) *remoting.Command {
		switch {
		case r.ExtFields["queueId"] == "3":
			return &remoting.Command{ExtFields: map[string]string{"offset": "5"}}
		case f.version < v500 || r.ExtFields["queueId"] == "0":
			// 4.9 answers zero for what was never committed.
			return &remoting.Command{ExtFields: map[string]string{"offset": "0"}}
		case r.ExtFields["setZeroIfNotFound"] != "false":
			panic("without the switch no entry would be told as zero")
		}
		return &remoting.Command{Code: remoting.RespQueryNotFound, Remark: "Not found, maybe this is a new consumer group boot"}
	})
	return f
}

func TestCommittedOffset_NeverIsNotZero(t *testing.T) {
	for _, tc := range []struct {
		version int
		codes   []int
	}{{407, []int{28, 43, 43, 43}}, {413, []int{28, 14, 14, 14}}, {513, []int{28, 14, 14, 14}}} {
		g := NewWithT(t)
		f := offsetsBroker(tc.version)
		c := f.client()
		for _, want := range []struct {
			queue  int
			offset int64
			found  bool
		}{{3, 5, true}, {0, 0, true}, {1, 0, false}} {
			offset, found, err := c.CommittedOffset(t.Context(), fakeAddr, "T", "G", want.queue)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(Equal(want.found))
			g.Expect(offset).To(Equal(want.offset))
		}
		g.Expect(f.codes()).To(Equal(tc.codes))
	}
}

// TestP08_CommittedOffsetAfterDowngrade has a 4.9 broker answer call 14 where a
// 5.x one was: its zero must not be taken for a committed zero.
func TestP08_CommittedOffsetAfterDowngrade(t *testing.T) {
	g := NewWithT(t)
	f := offsetsBroker(513)
	c := f.client()
	_, found, err := c.CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())
	f.reconnect(407)
	f.reset()
	for range 2 {
		_, found, err = c.CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).To(BeFalse())
	}
	g.Expect(f.codes()).To(Equal([]int{14, 43, 28, 43}))
}

func TestCommittedOffset_FailuresAreNoAbsence(t *testing.T) {
	g := NewWithT(t)
	f := offsetsBroker(513)
	f.on(remoting.ReqQueryConsumerOffset, func(*remoting.Command) *remoting.Command { return &remoting.Command{} })
	_, _, err := f.client().CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
	g.Expect(err).To(MatchError(remoting.Malformed))
	f.refuse(remoting.ReqQueryConsumerOffset, remoting.RespNoPermission, "User:x has no permission")
	_, _, err = f.client().CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
	g.Expect(err).To(MatchError(remoting.Denied))
	f.fail(remoting.ReqGetBrokerRuntimeInfo, &remoting.Error{Kind: remoting.Timeout})
	_, _, err = f.client().CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
	g.Expect(err).To(MatchError(remoting.Timeout))
	old := offsetsBroker(407)
	old.refuse(remoting.ReqGetAllConsumerOffset, remoting.RespSystemError, "No consumer offset in this broker")
	_, _, err = old.client().CommittedOffset(t.Context(), fakeAddr, "T", "G", 1)
	g.Expect(err).To(MatchError(remoting.Refused))
}

func TestCommitOffset(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.on(remoting.ReqUpdateConsumerOffset, func(*remoting.Command) *remoting.Command {
		return &remoting.Command{Remark: "not set any response code"}
	})
	g.Expect(f.client().CommitOffset(t.Context(), fakeMaster(), "T", "G", 9, 17)).To(Succeed())
	g.Expect(f.codes()).To(Equal([]int{26, 15}))
	g.Expect(f.of(15)[0].ext).To(Equal(map[string]string{"consumerGroup": "G", "topic": "T", "queueId": "9", "commitOffset": "17"}))
}

func TestR12_CommitSwallowedByAPendingReset(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.on(remoting.ReqUpdateConsumerOffset, func(*remoting.Command) *remoting.Command {
		return &remoting.Command{Remark: "Offset has been previously reset"}
	})
	err := f.client().CommitOffset(t.Context(), fakeMaster(), "T", "G", 0, 1)
	g.Expect(err).To(MatchError(ErrResetPending))
	g.Expect(err).To(MatchError(remoting.Refused))
	g.Expect(err).To(MatchError(ContainSubstring(fakeAddr)))
}

func TestCommitOffset_Refused(t *testing.T) {
	for name, commit := range map[string]func(*Client, *testing.T) error{
		"negative offset": func(c *Client, t *testing.T) error { return c.CommitOffset(t.Context(), fakeMaster(), "T", "G", 0, -1) },
		"negative queue":  func(c *Client, t *testing.T) error { return c.CommitOffset(t.Context(), fakeMaster(), "T", "G", -1, 0) },
		"bad group": func(c *Client, t *testing.T) error {
			return c.CommitOffset(t.Context(), fakeMaster(), "T", "a@b", 0, 0)
		},
		"built-in group": func(c *Client, t *testing.T) error {
			return c.CommitOffset(t.Context(), fakeMaster(), "T", "TOOLS_CONSUMER", 0, 0)
		},
	} {
		g := NewWithT(t)
		f := newFake(513)
		g.Expect(commit(f.client(), t)).To(BeAssignableToTypeOf(&NotSentError{}), name)
		g.Expect(f.codes()).To(BeEmpty(), name)
	}
	g := NewWithT(t)
	f := newFake(513)
	f.refuse(remoting.ReqUpdateConsumerOffset, remoting.RespSubscriptionGroupNotExist, "Group G does not exist")
	g.Expect(f.client().CommitOffset(t.Context(), fakeMaster(), "T", "G", 0, 1)).To(MatchError(remoting.NotFound))
	wrong := fakeMaster()
	wrong.Cluster = "other"
	f.reset()
	g.Expect(f.client().CommitOffset(t.Context(), wrong, "T", "G", 0, 1)).To(BeAssignableToTypeOf(&IdentityError{}))
	g.Expect(f.changing()).To(BeEmpty())
}
