// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// connections is call 203 (rocketmq.md 3.14).
func (b *Broker) connections(rq *request) *reply {
	g := b.consumers[rq.Args["consumerGroup"]]
	if g == nil {
		return answer(consumerNotOnline, "the consumer group["+rq.Args["consumerGroup"]+"] not online")
	}
	return ok(fastjson(g.json()))
}

func (g *consumerGroup) json() jObject {
	set := jList{}
	for _, addr := range slices.Sorted(maps.Keys(g.conns)) {
		set = append(set, g.conns[addr].json())
	}
	table := jObject{}
	for topic, s := range g.table {
		table[topic] = s.json()
	}
	return jObject{
		"connectionSet": set, "consumeFromWhere": g.from, "consumeType": g.consumeType,
		"messageModel": g.model, "subscriptionTable": table,
	}
}

// consumerList is call 38 (rocketmq.md 3.16).
func (b *Broker) consumerList(rq *request) *reply {
	g := b.consumers[rq.Args["consumerGroup"]]
	if g == nil {
		return answer(systemError, "no consumer for this group, "+rq.Args["consumerGroup"])
	}
	return ok(fastjson(jObject{"consumerIdList": g.clientIDs()}))
}

func (g *consumerGroup) clientIDs() []string {
	ids := make([]string, 0, len(g.conns))
	for _, k := range g.conns {
		ids = append(ids, k.clientID)
	}
	slices.Sort(ids)
	return ids
}

// runningInfo is call 307: the broker asks the client and waits ten seconds
// (rocketmq.md 3.15).
func (b *Broker) runningInfo(rq *request) *reply {
	group, id := rq.Args["consumerGroup"], rq.Args["clientId"]
	var k *connection
	if g := b.consumers[group]; g != nil {
		for _, addr := range slices.Sorted(maps.Keys(g.conns)) {
			if g.conns[addr].clientID == id {
				k = g.conns[addr]
				break
			}
		}
	}
	switch {
	case k == nil:
		return answer(systemError, fmt.Sprintf("The Consumer <%s> <%s> not online", group, id))
	case k.member != nil && k.member.alive && !k.member.spec.Silent:
		return &reply{remark: "not set any response code", body: fastjson(k.member.runningInfo())}
	}
	r := &reply{}
	timeout := b.c.clock.After(10 * time.Second)
	r.wait = func() *reply { return b.askClient(k, rq, timeout) }
	return r
}

// askClient forwards a call to the client's connection.
func (b *Broker) askClient(k *connection, rq *request, timeout <-chan time.Time) *reply {
	var answered chan *wireCommand
	if k.wire != nil {
		ch, forget := k.wire.ask(rq.Code, rq.Args)
		defer forget()
		answered = ch
	}
	select {
	case cmd := <-answered:
		return &reply{code: cmd.Code, remark: cmd.Remark, ext: cmd.ExtFields, body: cmd.Body}
	case <-timeout:
		return answer(consumeTimeout, fmt.Sprintf("consumer <%s> <%s> Timeout: wait response on the channel <%s> timeout, 10000(ms)",
			rq.Args["consumerGroup"], k.clientID, k.addr))
	case <-b.c.done:
		return nil
	}
}

// wireHeartbeat is the body of call 34 (rocketmq.md 5.1).
type wireHeartbeat struct {
	ClientID        string `json:"clientID"`
	ConsumerDataSet []struct {
		GroupName           string `json:"groupName"`
		ConsumeType         string `json:"consumeType"`
		MessageModel        string `json:"messageModel"`
		ConsumeFromWhere    string `json:"consumeFromWhere"`
		SubscriptionDataSet []struct {
			Topic          string `json:"topic"`
			SubString      string `json:"subString"`
			SubVersion     int64  `json:"subVersion"`
			ExpressionType string `json:"expressionType"`
		} `json:"subscriptionDataSet"`
	} `json:"consumerDataSet"`
	ProducerDataSet []struct {
		GroupName string `json:"groupName"`
	} `json:"producerDataSet"`
}

// heartBeat is call 34.
func (b *Broker) heartBeat(rq *request) *reply {
	var body wireHeartbeat
	if err := json.Unmarshal([]byte(rq.Body), &body); err != nil {
		return answer(systemError, "syntax error, "+err.Error())
	}
	k := &connection{
		clientID: body.ClientID, addr: rq.conn.addr, language: rq.cmd.Language,
		version: rq.cmd.Version, seen: b.c.now(), wire: rq.conn,
	}
	for _, d := range body.ConsumerDataSet {
		h := heartbeat{group: d.GroupName, consumeType: d.ConsumeType, model: d.MessageModel, from: d.ConsumeFromWhere}
		for _, s := range d.SubscriptionDataSet {
			if s.ExpressionType == "" {
				s.ExpressionType = "TAG"
			}
			h.subs = append(h.subs, Subscription{Topic: s.Topic, Expression: s.SubString, Type: s.ExpressionType, Version: s.SubVersion})
		}
		b.registerConsumer(k, h)
	}
	for _, p := range body.ProducerDataSet {
		if b.producers[p.GroupName] == nil {
			b.producers[p.GroupName] = map[string]*connection{}
		}
		b.producers[p.GroupName][k.addr] = k
	}
	if !b.version.five() {
		return ok(nil)
	}
	return &reply{ext: map[string]string{"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}}
}

// unregister is call 35.
func (b *Broker) unregister(rq *request) *reply {
	if g := rq.Args["consumerGroup"]; g != "" {
		b.drop(g, rq.conn.addr)
	}
	if g := rq.Args["producerGroup"]; g != "" {
		delete(b.producers[g], rq.conn.addr)
	}
	return ok(nil)
}

// whoConsumes is call 300; 5.3.3 returns the topic in place of groups that are
// online (rocketmq.md 3.18).
func (b *Broker) whoConsumes(rq *request) *reply {
	topic := rq.Args["topic"]
	groups := map[string]bool{}
	for name, g := range b.consumers {
		if g.table[topic] == nil {
			continue
		}
		if b.version == V533 {
			name = topic
		}
		groups[name] = true
	}
	for key := range b.offsets {
		if t, group, isEntry := splitOffsetKey(key); isEntry && t == topic {
			groups[group] = true
		}
	}
	return ok(fastjson(jObject{"groupList": slices.Sorted(maps.Keys(groups))}))
}

// topicsByGroup is call 343, subscription call 345 (rocketmq.md 3.19).
func (b *Broker) topicsByGroup(rq *request) *reply {
	topics := append([]string{}, b.topicsOf(rq.Args["group"])...)
	return ok(fastjson(jObject{"brokerAddr": b.addr, "topicList": topics}))
}

func (b *Broker) subscription(rq *request) *reply {
	group, topic := rq.Args["group"], rq.Args["topic"]
	body := jObject{"group": group, "topic": topic}
	if g := b.consumers[group]; g != nil && g.table[topic] != nil {
		body["subscriptionData"] = g.table[topic].json()
	} else if s, has := b.compensation[group][topic]; has {
		body["subscriptionData"] = s.json()
	}
	return ok(fastjson(body))
}
