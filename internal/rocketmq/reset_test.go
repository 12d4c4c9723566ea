// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

func resetBroker(version, read, write int) *topicStore {
	topic := plainTopic("T")
	topic.ReadQueues, topic.WriteQueues = read, write
	s := newTopicStore(version, topic)
	s.body(remoting.ReqInvokeBrokerToResetOffset, `{"offsetTable":{}}`)
	return s
}

func TestResetOffset(t *testing.T) {
	g := NewWithT(t)
	s := resetBroker(513, 8, 4)
	g.Expect(s.client().ResetOffset(t.Context(), fakeMaster(), "T", "G", 7, 42)).To(Succeed())
	g.Expect(s.codes()).To(Equal([]int{26, 28, 351, 222}))
	g.Expect(s.of(222)[0].ext).To(Equal(map[string]string{
		"topic": "T", "group": "G", "timestamp": "0", "isForce": "true", "queueId": "7", "offset": "42",
	}))
}

// TestResetOffset_NeverDangerous: no offset -1 (it means the beginning), no
// retired queue (it would stay pending for ever), no queue -1 (it means all).
func TestResetOffset_NeverDangerous(t *testing.T) {
	for _, tc := range []struct {
		name   string
		topic  string
		group  string
		queue  int
		offset int64
	}{
		{"offset -1", "T", "G", 0, -1},
		{"offset -2", "T", "G", 0, -2},
		{"first retired queue", "T", "G", 8, 0},
		{"far queue", "T", "G", 1000, 0},
		{"queue -1", "T", "G", -1, 0},
		{"topic that is not there", "U", "G", 0, 0},
		{"system topic", "SCHEDULE_TOPIC_XXXX", "G", 0, 0},
		{"retry topic", "%RETRY%G", "G", 0, 0},
		{"built-in group", "T", "CID_RMQ_SYS_TRANS", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			s := resetBroker(513, 8, 8)
			err := s.client().ResetOffset(t.Context(), fakeMaster(), tc.topic, tc.group, tc.queue, tc.offset)
			g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
			g.Expect(s.changing()).To(BeEmpty())
		})
	}
}

func TestResetOffset_Versions(t *testing.T) {
	g := NewWithT(t)
	for _, version := range []int{407, 441} {
		s := resetBroker(version, 8, 8)
		g.Expect(s.client().ResetOffset(t.Context(), fakeMaster(), "T", "G", 0, 0)).To(MatchError(remoting.Unsupported))
		g.Expect(s.changing()).To(BeEmpty())
	}
}

func TestResetToTime(t *testing.T) {
	g := NewWithT(t)
	moment := time.UnixMilli(1796062259352)
	s := resetBroker(407, 8, 4)
	g.Expect(s.client().ResetToTime(t.Context(), fakeMaster(), "T", "G", moment)).To(Succeed())
	g.Expect(s.of(222)[0].ext).To(Equal(map[string]string{
		"topic": "T", "group": "G", "timestamp": "1796062259352", "isForce": "false",
	}))

	refused := &NotSentError{}
	for _, moment := range []time.Time{{}, time.Unix(0, 0), time.UnixMilli(-1)} {
		s = resetBroker(407, 8, 8)
		g.Expect(s.client().ResetToTime(t.Context(), fakeMaster(), "T", "G", moment)).To(BeAssignableToTypeOf(refused))
		g.Expect(s.changing()).To(BeEmpty())
	}
	s = resetBroker(407, 4, 8)
	g.Expect(s.client().ResetToTime(t.Context(), fakeMaster(), "T", "G", moment)).To(BeAssignableToTypeOf(refused))
	g.Expect(s.changing()).To(BeEmpty())
	s = resetBroker(513, 8, 8)
	g.Expect(s.client().ResetToTime(t.Context(), fakeMaster(), "T", "G", moment)).To(BeAssignableToTypeOf(refused))
	g.Expect(s.changing()).To(BeEmpty())
	for _, names := range [][2]string{{"TBW102", "G"}, {"T", "TOOLS_CONSUMER"}, {"U", "G"}} {
		s = resetBroker(407, 8, 8)
		g.Expect(s.client().ResetToTime(t.Context(), fakeMaster(), names[0], names[1], moment)).To(BeAssignableToTypeOf(refused))
		g.Expect(s.changing()).To(BeEmpty())
	}
}

// TestReset_UnreadableTopicIsNotReset never sends on a guess.
func TestReset_UnreadableTopicIsNotReset(t *testing.T) {
	for _, code := range []int{26, 28, 351} {
		g := NewWithT(t)
		s := resetBroker(513, 8, 8)
		s.fail(code, &remoting.Error{Addr: fakeAddr, Code: code, Kind: remoting.Timeout})
		g.Expect(s.client().ResetOffset(t.Context(), fakeMaster(), "T", "G", 0, 0)).To(MatchError(remoting.Timeout))
		g.Expect(s.changing()).To(BeEmpty())
	}
}
