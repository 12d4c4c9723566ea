// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
	"slices"
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

// pull is call 11, without long polling (rocketmq-live.md 1.1).
func (b *Broker) pull(rq *request) *reply {
	group, topic := rq.Args["consumerGroup"], rq.Args["topic"]
	_, id, bad := queueArgs(rq)
	from, err := strconv.ParseInt(rq.Args["queueOffset"], 10, 64)
	if bad != nil || err != nil {
		return answer(systemError, "java.lang.NullPointerException: queueId")
	}
	g := b.findGroup(group)
	switch t := b.topics[topic]; {
	case g == nil:
		return answer(groupNotExist, "subscription group ["+group+"] does not exist")
	case !g.ConsumeEnable:
		return &reply{code: noPermission, remark: "subscription group no permission, " + group, ext: map[string]string{"forbiddenType": "2"}}
	case t == nil:
		return answer(topicNotExist, "topic["+topic+"] not exist, apply first please!")
	case t.Perm&4 == 0:
		return answer(noPermission, "the topic["+topic+"] pulling message is forbidden")
	case id < 0 || id >= t.Read:
		return answer(b.version.invalid(), fmt.Sprintf("queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d] consumer:[%s]", id, topic, t.Read, rq.conn.addr))
	}
	sub, r := b.pullFilter(rq, group, topic)
	if r != nil {
		return r
	}
	return b.pullFrom(rq, group, topic, id, from, sub)
}

// pullFilter is what the broker filters a pull by: the group's table, unless the
// pull brings its own.
func (b *Broker) pullFilter(rq *request, group, topic string) (Subscription, *reply) {
	flags, _ := strconv.Atoi(rq.Args["sysFlag"])
	if flags&4 != 0 {
		s := Subscription{Topic: topic, Expression: rq.Args["subscription"], Type: rq.Args["expressionType"]}
		if s.Type == "" {
			s.Type = "TAG"
		}
		if b.version.five() {
			if b.compensation[group] == nil {
				b.compensation[group] = map[string]Subscription{}
			}
			b.compensation[group][topic] = s
		}
		return s, nil
	}
	g := b.consumers[group]
	if g == nil {
		return Subscription{}, answer(noSubscription, "the consumer's group info not exist")
	}
	if g.table[topic] == nil {
		return Subscription{}, answer(noSubscription, "the consumer's subscription not exist")
	}
	if v, err := strconv.ParseInt(rq.Args["subVersion"], 10, 64); err == nil && g.table[topic].Version < v {
		return Subscription{}, answer(notLatest, "the consumer's subscription not latest")
	}
	return *g.table[topic], nil
}

func (b *Broker) pullFrom(rq *request, group, topic string, id int, from int64, sub Subscription) *reply {
	low, high := b.store.min(topic, id), b.store.max(topic, id)
	if to, pending := b.resets[offsetKey(topic, group)][id]; pending {
		delete(b.resets[offsetKey(topic, group)], id)
		return pullReply(pullMoved, "OFFSET_RESET", to, low, high)
	}
	switch {
	case high == 0:
		return pullReply(pullNotFound, "NO_MESSAGE_IN_QUEUE", 0, low, high)
	case from < low:
		return pullReply(pullMoved, "OFFSET_TOO_SMALL", low, low, high)
	case from == high:
		return pullReply(pullNotFound, "OFFSET_OVERFLOW_ONE", from, low, high)
	case from > high:
		return pullReply(pullMoved, "OFFSET_OVERFLOW_BADLY", high, low, high)
	}
	count, err := strconv.Atoi(rq.Args["maxMsgNums"])
	if err != nil {
		count = 32
	}
	var body []byte
	next, found := from, 0
	for ; next < high && found < count; next++ {
		if m := b.store.get(topic, id).at(next); sub.wants(m.Tag) {
			body = append(body, m.encode(b.addr)...)
			found++
		}
	}
	if b.version.five() {
		setOffset(b.pulled, offsetKey(topic, group), id, next)
	}
	if found == 0 {
		return pullReply(pullRetry, "NO_MATCHED_MESSAGE", next, low, high)
	}
	r := pullReply(okay, "FOUND", next, low, high)
	r.body = body
	return r
}

func pullReply(code int, remark string, next, low, high int64) *reply {
	return &reply{code: code, remark: remark, ext: map[string]string{
		"nextBeginOffset": strconv.FormatInt(next, 10), "minOffset": strconv.FormatInt(low, 10),
		"maxOffset": strconv.FormatInt(high, 10), "suggestWhichBrokerId": "0",
	}}
}

// owned are the queues the member reads now: its share of the readable queues
// of its topics by equal parts, or all of them for a broadcast member.
func (m *Member) owned() []queuePlace {
	var out []queuePlace
	for _, s := range m.subscriptions() {
		all := m.c.readable(s.Topic)
		if m.spec.Broadcast || m.spec.POP {
			out = append(out, all...)
			continue
		}
		var ids []string
		for _, o := range m.c.members {
			if o.alive && o.spec.Group == m.spec.Group && slices.ContainsFunc(o.subscriptions(),
				func(x Subscription) bool { return x.Topic == s.Topic }) {
				ids = append(ids, o.spec.ClientID)
			}
		}
		slices.Sort(ids)
		out = append(out, averagely(all, slices.Compact(ids), m.spec.ClientID)...)
	}
	return out
}

// averagely is RocketMQ's default allocation: contiguous parts, the first ones
// larger by one.
func averagely(all []queuePlace, ids []string, id string) []queuePlace {
	i, n := slices.Index(ids, id), len(ids)
	if i < 0 || n == 0 {
		return nil
	}
	size, rest := len(all)/n, len(all)%n
	from := i*size + min(i, rest)
	if i < rest {
		size++
	}
	return all[from : from+size]
}

// readable lists the queues of a topic that consumers can read, in order.
func (c *Cluster) readable(topic string) []queuePlace {
	var out []queuePlace
	for _, b := range c.masters() {
		t := b.topics[topic]
		if !b.up || t == nil || t.Perm&b.permission()&4 == 0 {
			continue
		}
		for id := range max(0, t.Read) {
			out = append(out, queuePlace{topic, b.name, id})
		}
	}
	return out
}

// position is what the member would commit for a queue; -1 before it has one.
func (m *Member) position(p queuePlace) int64 {
	if m.spec.Broadcast {
		if v, has := m.positions[p]; has {
			return v
		}
		return -1
	}
	b := m.c.replica(p.broker, 0)
	if v := b.committed(m.spec.Group, p.topic, p.id); v >= 0 {
		return v
	}
	return -1
}

// Positions are a broadcast member's own offsets by broker and queue id.
func (m *Member) Positions(topic string) map[string]map[int]int64 {
	m.c.enter()
	defer m.c.mu.Unlock()
	out := map[string]map[int]int64{}
	for p, v := range maps.All(m.positions) {
		if p.topic == topic {
			if out[p.broker] == nil {
				out[p.broker] = map[int]int64{}
			}
			out[p.broker][p.id] = v
		}
	}
	return out
}
