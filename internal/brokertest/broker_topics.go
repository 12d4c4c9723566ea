// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// refuseSlave is the 4.9 broker's answer to changes sent to a slave; from 5.1.4
// on slaves accept them and forget them at the next copy (rocketmq.md 3).
func (b *Broker) refuseSlave() *reply {
	if b.id == 0 || b.version.five() {
		return nil
	}
	return answer(systemError, "Can't modify topic or subscription group from slave broker, please execute it from master broker.")
}

// refuseTopic is the answer to a topic name that may not be changed.
func (b *Broker) refuseTopic(name string) *reply {
	if why := b.version.checkTopicName(name); why != "" {
		return answer(b.version.invalid(), why)
	}
	if b.systemTopic(name) {
		return answer(b.version.invalid(), "The topic["+name+"] is conflict with system topic.")
	}
	return nil
}

// nullField is what a broker answers when a field is left out that it needs:
// the exception is the broker's own (rocketmq.md 1.2).
func (b *Broker) nullField(header, field string) *reply {
	text := fmt.Sprintf("Cannot invoke \"java.lang.Integer.intValue()\" because the return value of "+
		"\"org.apache.rocketmq.common.protocol.header.%s.get%s()\" is null", header, field)
	if !b.version.five() {
		text = "java.lang.NullPointerException: " + text
	}
	return answer(systemError, text)
}

// updateTopic is call 17 (rocketmq.md 3.4).
func (b *Broker) updateTopic(rq *request) *reply {
	if r := b.refuseSlave(); r != nil {
		return r
	}
	name := rq.Args["topic"]
	if r := b.refuseTopic(name); r != nil {
		return r
	}
	t, r := b.topicFromArgs(rq.Args)
	if r != nil {
		return r
	}
	signed, err := parseAttributes(rq.Args["attributes"])
	switch {
	case !b.version.five():
		signed, t.Order = nil, false
	case err != nil:
		return answer(systemError, err.Error())
	case signed["+message.type"] == "MIXED":
		return answer(b.version.invalid(), "MIXED message type is not supported.")
	}
	t.Attributes = signed
	if old := b.topics[name]; b.version.five() && old != nil && t.equal(*old) {
		return ok(nil) // no change, no registration
	}
	if err := b.changeTopic(t, rq.String()); err != nil {
		return answer(systemError, err.Error())
	}
	return b.awaitHung(ok(nil), b.register([]*TopicConfig{b.topics[name]}))
}

func (b *Broker) topicFromArgs(args map[string]string) (*TopicConfig, *reply) {
	t := &TopicConfig{Name: args["topic"], FilterType: args["topicFilterType"]}
	for _, f := range []struct {
		arg, getter string
		to          *int
	}{
		{"readQueueNums", "ReadQueueNums", &t.Read}, {"writeQueueNums", "WriteQueueNums", &t.Write},
		{"perm", "Perm", &t.Perm},
	} {
		n, err := strconv.ParseInt(args[f.arg], 10, 32)
		if err != nil {
			return nil, b.nullField("CreateTopicRequestHeader", f.getter)
		}
		*f.to = int(n)
	}
	if t.FilterType != "SINGLE_TAG" && t.FilterType != "MULTI_TAG" {
		return nil, answer(systemError, "No enum constant org.apache.rocketmq.common.TopicFilterType."+t.FilterType)
	}
	if n, err := strconv.ParseInt(args["topicSysFlag"], 10, 32); err == nil {
		t.SysFlag = int(n)
	}
	t.Order = strings.EqualFold(args["order"], "true")
	return t, nil
}

// changeTopic stores a config whose attributes carry signs. The previous
// config's attributes are merged, everything else is replaced.
func (b *Broker) changeTopic(t *TopicConfig, by string) error {
	old := b.topics[t.Name]
	if b.version.five() {
		var current map[string]string
		if old != nil {
			current = old.Attributes
		}
		merged, err := b.version.topicAttributes().alter(old == nil, current, t.Attributes)
		if err != nil {
			return err
		}
		t.Attributes = merged
	}
	b.setTopic(t, by)
	return nil
}

// setTopic puts a config into the table. A nil t.Attributes is none.
func (b *Broker) setTopic(t *TopicConfig, by string) {
	old := b.topics[t.Name]
	b.topics[t.Name] = t
	b.topicVersion.next(b.c.now())
	b.noteChange(t.Name, old, t, by)
}

// topicListBody is the body of call 18.
type topicListBody struct {
	TopicConfigList []wireTopic `json:"topicConfigList"`
}

type wireTopic struct {
	TopicName       string            `json:"topicName"`
	ReadQueueNums   *int              `json:"readQueueNums"`
	WriteQueueNums  *int              `json:"writeQueueNums"`
	Perm            *int              `json:"perm"`
	TopicFilterType string            `json:"topicFilterType"`
	TopicSysFlag    int               `json:"topicSysFlag"`
	Order           bool              `json:"order"`
	Attributes      map[string]string `json:"attributes"`
}

// config fills what the body leaves out as the broker's class does.
func (w wireTopic) config() *TopicConfig {
	t := &TopicConfig{
		Name: w.TopicName, Read: 16, Write: 16, Perm: 6, FilterType: w.TopicFilterType,
		SysFlag: w.TopicSysFlag, Order: w.Order, Attributes: w.Attributes,
	}
	for _, f := range []struct{ from, to *int }{
		{w.ReadQueueNums, &t.Read}, {w.WriteQueueNums, &t.Write}, {w.Perm, &t.Perm},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if t.FilterType == "" {
		t.FilterType = "SINGLE_TAG"
	}
	return t
}

// updateTopicList is call 18: it answers success and does nothing at all when
// one entry equals what is stored (rocketmq.md 3.4, rule R17).
func (b *Broker) updateTopicList(rq *request) *reply {
	var body topicListBody
	if err := json.Unmarshal([]byte(rq.Body), &body); err != nil {
		return answer(systemError, "syntax error, "+err.Error())
	}
	for _, w := range body.TopicConfigList {
		if r := b.refuseTopic(w.TopicName); r != nil {
			return r
		}
		if w.Attributes["+message.type"] == "MIXED" {
			return answer(b.version.invalid(), "MIXED message type is not supported.")
		}
		if old := b.topics[w.TopicName]; old != nil && w.config().equal(*old) {
			return ok(nil)
		}
	}
	var table []*TopicConfig
	for _, w := range body.TopicConfigList {
		t := w.config()
		if err := b.changeTopic(t, rq.String()); err != nil {
			return answer(systemError, err.Error()) // what came before it stays
		}
		table = append(table, t)
	}
	if len(table) == 0 {
		return ok(nil)
	}
	return b.awaitHung(ok(nil), b.register(table))
}

// deleteTopic is call 215 (rocketmq.md 3.5).
func (b *Broker) deleteTopic(rq *request) *reply {
	if r := b.refuseSlave(); r != nil {
		return r
	}
	name := rq.Args["topic"]
	if why := b.version.checkTopicName(name); why != "" && (!b.version.five() || strings.TrimSpace(name) == "") {
		return answer(b.version.invalid(), why)
	}
	if b.systemTopic(name) {
		return answer(b.version.invalid(), "The topic["+name+"] is conflict with system topic.")
	}
	gone := []string{name}
	if b.version.five() {
		for key := range b.offsets {
			if topic, group, isEntry := splitOffsetKey(key); isEntry && topic == name {
				gone = append(gone, retryPrefix+group+"+"+name, retryPrefix+group+"_"+name)
			}
		}
	}
	for _, topic := range gone {
		b.dropTopic(topic, rq.String())
	}
	return ok(nil)
}

// dropTopic forgets a topic with its queues. 4.9 leaves the offsets behind, and
// removes the queues of every other topic without a config as well.
func (b *Broker) dropTopic(name, by string) {
	if old := b.topics[name]; old != nil {
		delete(b.topics, name)
		b.topicVersion.next(b.c.now())
		b.noteChange(name, old, nil, by)
	}
	b.store.destroy(func(topic string) bool {
		return topic == name || !b.version.five() && b.topics[topic] == nil && !b.systemTopic(topic)
	})
	if b.version.five() {
		for _, table := range []map[string]map[int]int64{b.offsets, b.pulled, b.resets} {
			maps.DeleteFunc(table, func(key string, _ map[int]int64) bool {
				topic, _, isEntry := splitOffsetKey(key)
				return isEntry && topic == name
			})
		}
	}
}

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
