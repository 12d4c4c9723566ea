// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strconv"
)

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
