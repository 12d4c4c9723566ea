// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"slices"
	"strconv"
	"strings"
)

// topicConfig is call 351 (rocketmq.md 3.7).
func (b *Broker) topicConfig(rq *request) *reply {
	t := b.topics[rq.Args["topic"]]
	if t == nil {
		return answer(topicNotExist, "No topic in this broker. topic: "+rq.Args["topic"])
	}
	o := b.topicJSON(t)
	if b.static[t.Name] && strings.EqualFold(rq.Args["lo"], "true") {
		o["mappingDetail"] = b.mapping(t.Name)
	}
	return ok(fastjson(o))
}

// mapping is the queue mapping of a static topic.
func (b *Broker) mapping(topic string) jObject {
	return jObject{"topic": topic, "bname": b.name, "totalQueues": 1, "epoch": int64(1), "scope": "__global__"}
}

// allTopics is call 21 (rocketmq.md 3.8).
func (b *Broker) allTopics() *reply {
	table := jObject{}
	for name, t := range b.topics {
		table[name] = b.topicJSON(t)
	}
	body := jObject{"dataVersion": b.json(b.topicVersion), "topicConfigTable": table}
	if b.version.five() {
		body["mappingDataVersion"] = b.json(dataVersion{timestamp: b.topicVersion.timestamp})
		mapped := jObject{}
		for name := range b.static {
			mapped[name] = b.mapping(name)
		}
		body["topicQueueMappingDetailMap"] = mapped
		body["topicQueueMappingInfoMap"] = jObject{}
	}
	r := ok(fastjson(body))
	if b.version.since540() {
		r.ext = map[string]string{"totalTopicNum": strconv.Itoa(len(b.topics))}
	}
	return r
}

// topicStats is call 202 (rocketmq.md 3.9). It sees no queue beyond the counts.
func (b *Broker) topicStats(rq *request) *reply {
	topic := rq.Args["topic"]
	t := b.topics[topic]
	if t == nil {
		return answer(topicNotExist, "topic["+topic+"] not exist")
	}
	queues := t.highest()
	if !b.version.five() {
		queues = t.Write
	}
	var table jPairs
	for id := range max(0, queues) {
		last := b.store.max(topic, id)
		table = append(table, jPair{b.queueJSON(topic, id), jObject{
			"lastUpdateTimestamp": b.store.storeTime(topic, id, last-1),
			"maxOffset":           last, "minOffset": b.store.min(topic, id),
		}})
	}
	body := jObject{"offsetTable": table}
	if b.version.five() {
		body["topicPutTps"] = 0.0
	}
	return ok(fastjson(body))
}

// queueJSON is a MessageQueue, which serves as a key.
func (b *Broker) queueJSON(topic string, id int) jObject {
	return jObject{"brokerName": b.name, "queueId": id, "topic": topic}
}

func (b *Broker) systemTopicList() *reply {
	names := b.systemTopics()
	slices.Sort(names)
	return ok(fastjson(jObject{"topicList": names}))
}
