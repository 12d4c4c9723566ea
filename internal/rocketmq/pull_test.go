// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// encode writes a message as a broker stores it.
func encode(m Message, magic uint32, properties string) []byte {
	be := binary.BigEndian
	b := be.AppendUint32(nil, 0)
	b = be.AppendUint32(b, magic)
	b = be.AppendUint32(b, 0x44a2f87d)
	b = be.AppendUint32(b, uint32(m.Queue))
	b = be.AppendUint32(b, 0)
	b = be.AppendUint64(b, uint64(m.Offset))
	b = be.AppendUint64(b, uint64(m.Position))
	b = be.AppendUint32(b, uint32(m.Flags))
	b = be.AppendUint64(b, uint64(m.Born.UnixMilli()))
	b = append(b, m.BornHost.Addr().AsSlice()...)
	b = be.AppendUint32(b, uint32(m.BornHost.Port()))
	b = be.AppendUint64(b, uint64(m.Stored.UnixMilli()))
	store := netip.MustParseAddr("10.0.0.1")
	if m.Flags&flagStoreIPv6 != 0 {
		store = netip.MustParseAddr("fd00::1")
	}
	b = append(b, store.AsSlice()...)
	b = be.AppendUint32(b, 10911)
	b = be.AppendUint32(b, uint32(m.Retries))
	b = be.AppendUint64(b, 0)
	b = be.AppendUint32(b, uint32(len(m.Body)))
	b = append(b, m.Body...)
	if magic == magicV2 {
		b = append(b, byte(len(m.Topic)>>8))
	}
	b = append(b, byte(len(m.Topic)))
	b = append(b, m.Topic...)
	b = be.AppendUint16(b, uint16(len(properties)))
	b = append(b, properties...)
	be.PutUint32(b, uint32(len(b)))
	return b
}

func message() Message {
	return Message{
		Topic: "SCHEDULE_TOPIC_XXXX", Queue: 3, Offset: 17, Position: 1 << 40,
		Born: time.UnixMilli(1796049796783), Stored: time.UnixMilli(1796049796790),
		BornHost: netip.MustParseAddrPort("10.0.0.9:4711"), Retries: 2,
		Properties: map[string]string{"REAL_TOPIC": "orders", "REAL_QID": "6"},
		Body:       []byte("hello"),
	}
}

const messageProperties = "REAL_TOPIC\x01orders\x02REAL_QID\x016\x02"

func TestDecodeMessages(t *testing.T) {
	g := NewWithT(t)
	plain, v6 := message(), message()
	v6.Flags = flagBornHostIPv6 | flagStoreIPv6 | flagCompressed
	v6.BornHost = netip.MustParseAddrPort("[fd00::9]:4711")
	v6.Body, v6.Properties = []byte{}, map[string]string{}
	body := append(encode(plain, magicV1, messageProperties), encode(plain, magicV2, messageProperties[:len(messageProperties)-1])...)
	body = append(body, encode(v6, magicV1, "")...)
	all, err := decodeMessages(body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(Equal([]Message{plain, plain, v6}))
	g.Expect(all[0].Compressed()).To(BeFalse())
	g.Expect(all[2].Compressed()).To(BeTrue())
	g.Expect(all[0].Properties).To(HaveKeyWithValue(PropertyRealTopic, "orders"))
	g.Expect(all[0].Properties).To(HaveKeyWithValue(PropertyRealQueue, "6"))
}

func TestDecodeMessages_OfReleasedBrokers(t *testing.T) {
	for _, version := range versionsCaptured() {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			body, ok := captured(t, version, remoting.ReqPullMessage)
			g.Expect(ok).To(BeTrue())
			all, err := decodeMessages(body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(all).NotTo(BeEmpty())
			for i, m := range all {
				g.Expect(m.Topic).To(Equal("orders"))
				g.Expect(m.Queue).To(Equal(3))
				g.Expect(string(m.Body)).To(Equal("body " + strconv.Itoa(int(m.Offset))))
				g.Expect(m.Properties).To(HaveKeyWithValue("TAGS", "PAID"))
				g.Expect(m.Offset).To(Equal(all[0].Offset + int64(i)))
				g.Expect(m.BornHost.Addr()).To(Equal(netip.MustParseAddr("127.0.0.1")))
			}
			for n := range body {
				if _, err := decodeMessages(body[:n]); err == nil {
					// A cut between two messages is a whole, shorter body: the frame's
					// own length guards against it.
					whole, _ := decodeMessages(body[:n])
					g.Expect(len(whole)).To(BeNumerically("<", len(all)))
				}
			}
		})
	}
}

func TestDecodeMessages_Unreadable(t *testing.T) {
	whole := encode(message(), magicV1, messageProperties)
	noTopic := message()
	noTopic.Topic = ""
	change := func(at int, value byte) []byte {
		b := append([]byte{}, whole...)
		b[at] = value
		return b
	}
	for name, body := range map[string][]byte{
		"cut":                      whole[:len(whole)-1],
		"no length":                whole[:3],
		"a length of nothing":      {0, 0, 0, 0},
		"a length over the body":   {0xff, 0xff, 0xff, 0xff},
		"trailing bytes":           append(append([]byte{}, whole...), 0),
		"another magic":            change(4, 0),
		"a body of -1":             change(84, 0xff),
		"a property with no value": encode(message(), magicV1, "REAL_TOPIC\x02"),
		"no topic":                 encode(noTopic, magicV1, messageProperties),
		"longer than its fields":   func() []byte { b := append(append([]byte{}, whole...), 0, 0); b[3] += 2; return b }(),
	} {
		t.Run(name, func(t *testing.T) {
			all, err := decodeMessages(body)
			NewWithT(t).Expect(err).To(HaveOccurred())
			NewWithT(t).Expect(all).To(BeNil())
		})
	}
}

func TestDecodeMessages_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Message{
			Topic:      rapid.StringMatching(`[A-Za-z%_]{1,127}`).Draw(t, "topic"),
			Queue:      rapid.IntRange(0, 1000).Draw(t, "queue"),
			Offset:     rapid.Int64Min(0).Draw(t, "offset"),
			Position:   rapid.Int64Min(0).Draw(t, "position"),
			Born:       time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "born")),
			Stored:     time.UnixMilli(rapid.Int64Range(1, 1<<42).Draw(t, "stored")),
			BornHost:   netip.MustParseAddrPort("10.0.0.9:4711"),
			Retries:    rapid.IntRange(0, 16).Draw(t, "retries"),
			Properties: rapid.MapOfN(rapid.StringMatching(`[A-Z_]{1,9}`), rapid.StringMatching(`[a-z =,]{0,9}`), 0, 6).Draw(t, "properties"),
			Body:       rapid.SliceOfN(rapid.Byte(), 0, 99).Draw(t, "body"),
		}
		properties := ""
		for k, v := range m.Properties {
			properties += k + nameEnd + v + pairEnd
		}
		magic := rapid.SampledFrom([]uint32{magicV1, magicV2}).Draw(t, "magic")
		got, err := decodeMessages(encode(m, magic, properties))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Body) == 0 {
			m.Body = []byte{}
		}
		NewWithT(t).Expect(got).To(Equal([]Message{m}))
	})
}

func pullReply(code int, next, lowest, end int64, body []byte) *remoting.Command {
	return &remoting.Command{Code: code, Body: body, ExtFields: map[string]string{
		"nextBeginOffset": itoa(next), "minOffset": itoa(lowest), "maxOffset": itoa(end), "suggestWhichBrokerId": "0",
	}}
}

func TestPull(t *testing.T) {
	g := NewWithT(t)
	f := newFake(513)
	f.on(remoting.ReqPullMessage, func(*remoting.Command) *remoting.Command {
		return pullReply(0, 18, 2, 40, encode(message(), magicV1, messageProperties))
	})
	pulled, err := f.client().Pull(t.Context(), fakeAddr, "SCHEDULE_TOPIC_XXXX", 3, 17, 32)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pulled).To(Equal(Pulled{Messages: []Message{message()}, Next: 18, Min: 2, Max: 40}))
	g.Expect(pulled.AtEnd()).To(BeFalse())
	g.Expect(f.calls[0].ext).To(Equal(map[string]string{
		"consumerGroup": "TOOLS_CONSUMER", "topic": "SCHEDULE_TOPIC_XXXX", "queueId": "3", "queueOffset": "17", "maxMsgNums": "32",
		"sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
	}))
}

func TestPull_Outcomes(t *testing.T) {
	for _, tc := range []struct {
		name string
		code int
		want Pulled
	}{
		{"at the end", remoting.RespPullNotFound, Pulled{Next: 40, Min: 2, Max: 40}},
		{"nothing here, go on", remoting.RespPullRetryImmediately, Pulled{Next: 40, Min: 2, Max: 40}},
		{"outside", remoting.RespPullOffsetMoved, Pulled{Next: 40, Min: 2, Max: 40}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(513)
			f.on(remoting.ReqPullMessage, func(*remoting.Command) *remoting.Command { return pullReply(tc.code, 40, 2, 40, nil) })
			g.Expect(f.client().Pull(t.Context(), fakeAddr, "T", 0, 40, 1)).To(Equal(tc.want))
		})
	}
}

func TestPull_Failures(t *testing.T) {
	g := NewWithT(t)
	for name, reply := range map[string]*remoting.Command{
		"no bounds":            {},
		"no end":               {ExtFields: map[string]string{"nextBeginOffset": "1", "minOffset": "0"}},
		"found and none":       pullReply(0, 1, 0, 1, nil),
		"half a message":       pullReply(0, 1, 0, 1, encode(message(), magicV1, messageProperties)[:50]),
		"no bounds at the end": {Code: remoting.RespPullNotFound},
	} {
		f := newFake(513).on(remoting.ReqPullMessage, func(*remoting.Command) *remoting.Command { return reply })
		_, err := f.client().Pull(t.Context(), fakeAddr, "T", 0, 0, 1)
		g.Expect(err).To(MatchError(remoting.Malformed), name)
	}
	f := newFake(513).refuse(remoting.ReqPullMessage, remoting.RespTopicNotExist, "topic[T] not exist")
	_, err := f.client().Pull(t.Context(), fakeAddr, "T", 0, 0, 1)
	g.Expect(err).To(MatchError(remoting.NotFound))
	f.fail(remoting.ReqPullMessage, &remoting.Error{Kind: remoting.Timeout})
	_, err = f.client().Pull(t.Context(), fakeAddr, "T", 0, 0, 1)
	g.Expect(err).To(MatchError(remoting.Timeout))
	f.reset()
	for _, bad := range [][3]int{{-1, 0, 1}, {0, -1, 1}, {0, 0, 0}, {0, 0, 33}} {
		_, err = f.client().Pull(t.Context(), fakeAddr, "T", bad[0], int64(bad[1]), bad[2])
		g.Expect(err).To(BeAssignableToTypeOf(&NotSentError{}))
	}
	g.Expect(f.codes()).To(BeEmpty())
}
