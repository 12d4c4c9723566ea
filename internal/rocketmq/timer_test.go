// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func TestTimerMetrics(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.body(remoting.ReqGetTimerMetrics, `{"dataVersion":{"counter":0,"stateVersion":0,"timestamp":1},"timingCount":{"TP":{"count":3,"timeStamp":1796049796783},"rmq_sys_REVIVE_LOG_C5":{"count":0,"timeStamp":1}}}`)
	counts, err := f.client().TimerMetrics(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(counts).To(Equal(map[string]int64{"TP": 3, "rmq_sys_REVIVE_LOG_C5": 0}))
}

func TestTimerMetrics_NoWheelIsAnAnswer(t *testing.T) {
	g := NewWithT(t)
	for name, f := range map[string]*fakeWire{
		"4.9":          newFake(407),
		"switched off": newFake(513).refuse(remoting.ReqGetTimerMetrics, remoting.RespSystemError, "The timer message store is null"),
	} {
		counts, err := f.client().TimerMetrics(t.Context(), fakeAddr)
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(counts).To(BeEmpty(), name)
	}
	for name, f := range map[string]*fakeWire{
		"another failure": newFake(513).refuse(remoting.ReqGetTimerMetrics, remoting.RespSystemError, "java.lang.NullPointerException"),
		"half a body":     newFake(513).body(remoting.ReqGetTimerMetrics, `{"timingCount":{"T":{"co`),
		"no answer":       newFake(513).fail(remoting.ReqGetTimerMetrics, &remoting.Error{Kind: remoting.Timeout}),
	} {
		_, err := f.client().TimerMetrics(t.Context(), fakeAddr)
		g.Expect(err).To(HaveOccurred(), name)
	}
}

func TestR07_MessageRequestModes(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.body(remoting.ReqGetAllMessageRequestMode, `{"messageRequestModeMap":{"TP":{"GP":{"consumerGroup":"GP","mode":"POP","popShareQueueNum":0,"topic":"TP"}},"TQ":{}}}`)
	modes, err := f.client().MessageRequestModes(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(modes).To(Equal(map[string]map[string]string{"TP": {"GP": ModePop}, "TQ": {}}))

	modes, err = newFake(407).client().MessageRequestModes(t.Context(), fakeAddr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(modes).To(BeEmpty())
	_, err = newFake(513).fail(remoting.ReqGetAllMessageRequestMode, &remoting.Error{Kind: remoting.Timeout}).client().MessageRequestModes(t.Context(), fakeAddr)
	g.Expect(err).To(MatchError(remoting.Timeout))
}

func TestConsumeQueue(t *testing.T) {
	g := NewWithT(t)
	f := newFake(475)
	f.body(remoting.ReqQueryConsumeQueue, `{"filterData":"G@T is not online!","maxQueueIndex":2,"minQueueIndex":0,"queueData":[{"eval":false,"physicOffset":3374,"physicSize":214,"tagsCode":0},{"eval":false,"physicOffset":3588,"physicSize":214,"tagsCode":-7}]}`)
	index, err := f.client().ConsumeQueue(t.Context(), fakeAddr, "T", 9, 0, 10)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(index).To(Equal(QueueIndex{Min: 0, Max: 2, Entries: []IndexEntry{{3374, 214, 0}, {3588, 214, -7}}}))
	g.Expect(f.calls[0].ext).To(Equal(map[string]string{"topic": "T", "queueId": "9", "index": "0", "count": "10"}))

	f.on(remoting.ReqQueryConsumeQueue, func(*remoting.Command) *remoting.Command {
		return &remoting.Command{Remark: "Index 9 of 9@T is not exist!"}
	})
	_, err = f.client().ConsumeQueue(t.Context(), fakeAddr, "T", 9, 9, 10)
	g.Expect(err).To(MatchError(remoting.NotFound))
	f.refuse(remoting.ReqQueryConsumeQueue, remoting.RespSystemError, "9@T is not exist!")
	_, err = f.client().ConsumeQueue(t.Context(), fakeAddr, "T", 9, 0, 10)
	g.Expect(err).To(MatchError(remoting.NotFound))

	f.reset()
	for _, bad := range [][3]int{{-1, 0, 1}, {0, -1, 1}, {0, 0, 0}, {0, 0, maxIndex + 1}} {
		_, err = f.client().ConsumeQueue(t.Context(), fakeAddr, "T", bad[0], int64(bad[1]), bad[2])
		g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
	}
	g.Expect(f.codes()).To(BeEmpty())
}
