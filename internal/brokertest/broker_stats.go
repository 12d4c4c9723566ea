// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strconv"
	"strings"
)

// consumeStats is call 208, with all that it does not show (rocketmq.md 3.17).
func (b *Broker) consumeStats(rq *request) *reply {
	group := rq.Args["consumerGroup"]
	topics, listed := []string{rq.Args["topic"]}, false
	if b.version.five() && rq.Args["topicList"] != "" {
		topics, listed = strings.Split(strings.Trim(rq.Args["topicList"], ";"), ";"), true
	} else if strings.TrimSpace(rq.Args["topic"]) == "" {
		topics = b.topicsOf(group)
	}
	var table jPairs
	for _, topic := range topics {
		t := b.topics[topic]
		online := b.consumers[group]
		if t == nil || !listed && online != nil && len(online.table) > 0 && online.table[topic] == nil {
			continue
		}
		for id := range max(0, t.Read) {
			table = append(table, jPair{b.queueJSON(topic, id), b.statsOf(group, topic, id)})
		}
	}
	return ok(fastjson(jObject{"consumeTps": 0.0, "offsetTable": table}))
}

func (b *Broker) statsOf(group, topic string, id int) jObject {
	offset := max(0, b.committed(group, topic, id))
	o := jObject{
		"brokerOffset": b.store.max(topic, id), "consumerOffset": offset,
		"lastTimestamp": b.store.storeTime(topic, id, offset-1),
	}
	if b.version.five() {
		o["pullOffset"] = max(offset, b.pulled[offsetKey(topic, group)][id])
	}
	return o
}

// consumeQueue is call 321: the entries of a queue, any queue id.
func (b *Broker) consumeQueue(rq *request) *reply {
	topic, id, bad := queueArgs(rq)
	if bad != nil {
		return bad
	}
	q := b.store.get(topic, id)
	if q == nil {
		return answer(systemError, fmt.Sprintf("%d@%s is not exist!", id, topic))
	}
	index, err1 := strconv.ParseInt(rq.Args["index"], 10, 64)
	count, err2 := strconv.ParseInt(rq.Args["count"], 10, 32)
	if err1 != nil || err2 != nil {
		return answer(systemError, "java.lang.NullPointerException: index")
	}
	if index < q.min || index >= q.max() {
		return answer(okay, fmt.Sprintf("Index %d of %d@%s is not exist!", index, id, topic))
	}
	list := jList{}
	for o := max(index, q.min); o < q.max() && int64(len(list)) < count; o++ {
		m := q.at(o)
		list = append(list, jObject{
			"physicOffset": m.physical, "physicSize": len(m.encode(b.addr)),
			"tagsCode": int64(javaHash(m.Tag)), "eval": false,
		})
	}
	if group := rq.Args["consumerGroup"]; group != "" && (b.consumers[group] == nil || b.consumers[group].table[topic] == nil) {
		return ok(fastjson(jObject{
			"filterData":    fmt.Sprintf("%s@%s is not online!", group, topic),
			"maxQueueIndex": q.max(), "minQueueIndex": q.min, "queueData": list,
		}))
	}
	return ok(fastjson(jObject{"maxQueueIndex": q.max(), "minQueueIndex": q.min, "queueData": list}))
}

// javaHash is Java's String.hashCode of an ASCII string.
func javaHash(s string) int32 {
	var h int32
	for _, r := range s {
		h = 31*h + r
	}
	return h
}
