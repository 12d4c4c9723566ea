// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// offsetKey is how brokers key their offset tables.
func offsetKey(topic, group string) string { return topic + "@" + group }

// splitOffsetKey splits a two-part key; keys of broadcast groups have three.
func splitOffsetKey(key string) (topic, group string, isEntry bool) {
	parts := strings.Split(key, "@")
	if len(parts) != 2 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

func cloneOffsets(m map[string]map[int]int64) map[string]map[int]int64 {
	out := make(map[string]map[int]int64, len(m))
	for k, v := range m {
		out[k] = maps.Clone(v)
	}
	return out
}

// committed is a group's entry for a queue; -1 if there is none.
func (b *Broker) committed(group, topic string, queueID int) int64 {
	if v, has := b.resets[offsetKey(topic, group)][queueID]; has {
		return v
	}
	if v, has := b.offsets[offsetKey(topic, group)][queueID]; has {
		return v
	}
	return -1
}

// commit stores a group's offset.
func (b *Broker) commit(group, topic string, queueID int, offset int64) {
	setOffset(b.offsets, offsetKey(topic, group), queueID, offset)
	b.offsetVersion.next(b.c.now())
}

func setOffset(table map[string]map[int]int64, key string, queueID int, offset int64) {
	if table[key] == nil {
		table[key] = map[int]int64{}
	}
	table[key][queueID] = offset
}

// atStart reports whether a group without an entry is told to begin at 0: the
// broker does so while the queue begins at 0 and its first message is still in
// memory (rocketmq.md 3.20, 4.3).
func (b *Broker) atStart(topic string, queueID int) bool {
	q := b.store.get(topic, queueID)
	if !b.version.five() && (q == nil || q.max() == 0) {
		return true
	}
	return q != nil && q.min <= 0 && q.max() > 0 && !q.cold
}

// queueArgs reads topic and queue id.
func queueArgs(rq *request) (topic string, id int, bad *reply) {
	n, err := strconv.ParseInt(rq.Args["queueId"], 10, 32)
	if err != nil {
		return "", 0, answer(systemError, "java.lang.NullPointerException: queueId")
	}
	return rq.Args["topic"], int(n), nil
}

func offsetReply(offset int64) *reply {
	return &reply{ext: map[string]string{"offset": strconv.FormatInt(offset, 10)}}
}

// maxOffset is call 30, minOffset call 31: any queue id, whether the topic
// exists or not (rocketmq.md 3.20).
func (b *Broker) maxOffset(rq *request) *reply {
	topic, id, bad := queueArgs(rq)
	if bad != nil {
		return bad
	}
	return offsetReply(b.store.max(topic, id))
}

func (b *Broker) minOffset(rq *request) *reply {
	topic, id, bad := queueArgs(rq)
	if bad != nil {
		return bad
	}
	return offsetReply(b.store.min(topic, id))
}

// searchOffset is call 29: the first offset stored at or after a timestamp.
func (b *Broker) searchOffset(rq *request) *reply {
	topic, id, bad := queueArgs(rq)
	if bad != nil {
		return bad
	}
	since, err := strconv.ParseInt(rq.Args["timestamp"], 10, 64)
	if err != nil {
		return answer(systemError, "java.lang.NullPointerException: timestamp")
	}
	return offsetReply(b.store.since(topic, id, max(0, since)))
}

// queryOffset is call 14 (rocketmq.md 3.20).
func (b *Broker) queryOffset(rq *request) *reply {
	topic, id, bad := queueArgs(rq)
	if bad != nil {
		return bad
	}
	if v := b.committed(rq.Args["consumerGroup"], topic, id); v >= 0 {
		return offsetReply(v)
	}
	if b.version.five() && strings.EqualFold(rq.Args["setZeroIfNotFound"], "false") {
		return answer(queryNotFound, "Not found, do not set to zero, maybe this group boot first")
	}
	if b.atStart(topic, id) {
		return offsetReply(0)
	}
	return answer(queryNotFound, "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first")
}

// updateOffset is call 15: no check of range or queue id (rocketmq.md 3.20).
func (b *Broker) updateOffset(rq *request) *reply {
	topic, group := rq.Args["topic"], rq.Args["consumerGroup"]
	if b.version.five() {
		if b.groups[group] == nil {
			return answer(groupNotExist, "Group "+group+" not exist!")
		}
		if b.topics[topic] == nil {
			return answer(topicNotExist, "Topic "+topic+" not exist!")
		}
	}
	_, id, bad := queueArgs(rq)
	offset, err := strconv.ParseInt(rq.Args["commitOffset"], 10, 64)
	if bad != nil || err != nil {
		return answer(b.version.invalid(), "QueueId or offset is null, topic is "+topic)
	}
	if _, pending := b.resets[offsetKey(topic, group)][id]; pending {
		return answer(okay, "Offset has been previously reset")
	}
	b.commit(group, topic, id, offset)
	return ok(nil)
}

func offsetTableJSON(table map[string]map[int]int64) jObject {
	o := jObject{}
	for key, queues := range table {
		ints := jInts{}
		for id, offset := range queues {
			ints[int64(id)] = offset
		}
		o[key] = ints
	}
	return o
}

// allOffsets is call 43 (rocketmq.md 3.20, rocketmq-live.md 2.1).
func (b *Broker) allOffsets() *reply {
	body := jObject{"offsetTable": offsetTableJSON(b.offsets)}
	if b.version.five() {
		body["dataVersion"] = b.json(b.offsetVersion)
		topics := map[string][]string{}
		for _, key := range slices.Sorted(maps.Keys(b.offsets)) {
			if topic, group, isEntry := splitOffsetKey(key); isEntry {
				topics[group] = append(topics[group], topic)
			}
		}
		groupTopics := jObject{}
		for group, list := range topics {
			groupTopics[group] = list
		}
		body["groupTopicMap"] = groupTopics
	}
	if b.version >= V550 {
		body["pullOffsetTable"] = offsetTableJSON(b.pulled)
	}
	return ok(fastjson(body))
}

// topicsOf lists the topics a group has offsets for.
func (b *Broker) topicsOf(group string) []string {
	var topics []string
	for key := range b.offsets {
		if topic, g, isEntry := splitOffsetKey(key); isEntry && g == group {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	return topics
}
