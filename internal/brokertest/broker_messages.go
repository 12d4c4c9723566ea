// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sendError is a broker's refusal of a message.
type sendError struct {
	Code   int
	Remark string
}

func (e *sendError) Error() string { return fmt.Sprintf("send refused: code %d: %s", e.Code, e.Remark) }

// accept checks a send as the broker does: by max(read, write), not by the
// write count, and not by the topic's permission (rocketmq.md 4.1).
func (b *Broker) accept(topic string, queueID int) (int, *sendError) {
	if b.id > 0 && b.version.five() {
		return 0, &sendError{systemBusy, "[REJECTREQUEST]system busy, start flow control for a while"}
	}
	if why := b.version.checkTopicName(topic); why != "" {
		return 0, &sendError{b.version.invalid(), why}
	}
	t := b.topics[topic]
	if t == nil {
		if t = b.autoCreate(topic); t == nil {
			return 0, &sendError{topicNotExist, "topic[" + topic + "] not exist, apply first please!"}
		}
	}
	if queueID >= t.highest() {
		return 0, &sendError{b.version.invalid(), fmt.Sprintf("request queueId[%d] is illegal, %s", queueID, t.text())}
	}
	if b.id > 0 {
		return 0, &sendError{notAvailable, "service not available now, maybe disk full, maybe your broker machine memory too small."}
	}
	if queueID < 0 {
		if t.Write <= 0 {
			return 0, &sendError{systemError, "the topic has no queue to write"}
		}
		queueID = int(b.store.tail) % t.Write
	}
	return queueID, nil
}

func (t *TopicConfig) text() string {
	return fmt.Sprintf("TopicConfig [topicName=%s, readQueueNums=%d, writeQueueNums=%d, perm=%d, topicFilterType=%s, topicSysFlag=%d, order=%t]",
		t.Name, t.Read, t.Write, t.Perm, t.FilterType, t.SysFlag, t.Order)
}

// autoCreate makes a topic from the template when a producer sends to one that
// does not exist (rocketmq.md 3.5).
func (b *Broker) autoCreate(topic string) *TopicConfig {
	if !b.truth("autoCreateTopicEnable") || b.topics[topicTemplate] == nil {
		return nil
	}
	n := min(4, int(b.number("defaultTopicQueueNums")))
	b.setTopic(&TopicConfig{Name: topic, Read: n, Write: n, Perm: 6, FilterType: "SINGLE_TAG"}, "producer")
	b.registerAll()
	return b.topics[topic]
}

// store puts a message where its properties send it.
func (b *Broker) storeSent(m *Message) *Message {
	if strings.EqualFold(m.Properties["TRAN_MSG"], "true") {
		return b.putHalf(m)
	}
	if b.version.five() {
		if due, is := b.timerDue(m.Properties); is {
			return b.putTimer(m, due)
		}
		if p, err := strconv.Atoi(m.Properties["_SYS_MSG_PRIORITY_"]); err == nil && p >= 0 && b.version.since540() {
			m.Queue = min(p, b.topics[m.Topic].Write-1) // a priority is a queue id
		}
	}
	return b.land(m)
}

// timerDue is when a timer message is to be delivered.
func (b *Broker) timerDue(props map[string]string) (time.Time, bool) {
	for key, unit := range map[string]time.Duration{"TIMER_DELAY_SEC": time.Second, "TIMER_DELAY_MS": time.Millisecond} {
		if n, err := strconv.ParseInt(props[key], 10, 64); err == nil {
			return b.c.now().Add(time.Duration(n) * unit), true
		}
	}
	if n, err := strconv.ParseInt(props["TIMER_DELIVER_MS"], 10, 64); err == nil {
		return time.UnixMilli(n), true
	}
	return time.Time{}, false
}

// send is calls 10 and 310; the second has one-letter names.
func (b *Broker) send(rq *request) *reply {
	arg := func(long, short string) string {
		if rq.Code == codeSendV2 {
			return rq.Args[short]
		}
		return rq.Args[long]
	}
	topic := arg("topic", "b")
	id, err := strconv.Atoi(arg("queueId", "e"))
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: queueId")
	}
	id, refused := b.accept(topic, id)
	if refused != nil {
		return answer(refused.Code, refused.Remark)
	}
	props := map[string]string{}
	for _, kv := range strings.Split(arg("properties", "i"), "\x02") {
		if k, v, ok := strings.Cut(kv, "\x01"); ok {
			props[k] = v
		}
	}
	m := b.storeSent(&Message{Topic: topic, Queue: id, Body: rq.Body, Key: props["KEYS"], Tag: props["TAGS"], Properties: props})
	return &reply{ext: map[string]string{
		"msgId": m.ID, "queueId": strconv.Itoa(id), "queueOffset": strconv.FormatInt(m.Offset, 10), "transactionId": m.ID,
	}}
}

// endTransaction is call 37.
func (b *Broker) endTransaction(rq *request) *reply {
	const commitFlag = 2 << 2
	flag, err := strconv.Atoi(rq.Args["commitOrRollback"])
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: commitOrRollback")
	}
	offset, err := strconv.ParseInt(rq.Args["tranStateTableOffset"], 10, 64)
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: tranStateTableOffset")
	}
	for id, h := range b.store.late.halves {
		if h.at == offset {
			b.endHalf(id, flag == commitFlag)
			return ok(nil)
		}
	}
	return answer(systemError, "Find prepared transaction message failed")
}
