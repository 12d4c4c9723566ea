// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"maps"
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
