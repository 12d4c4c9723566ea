// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// producerList is call 204.
func (b *Broker) producerList(rq *request) *reply {
	conns := b.producers[rq.Args["producerGroup"]]
	if len(conns) == 0 {
		return answer(systemError, "the producer group["+rq.Args["producerGroup"]+"] not exist")
	}
	set := jList{}
	for _, addr := range slices.Sorted(maps.Keys(conns)) {
		set = append(set, conns[addr].json())
	}
	return ok(fastjson(jObject{"connectionSet": set}))
}

// allProducers is call 328.
func (b *Broker) allProducers() *reply {
	data := jObject{}
	for group, conns := range b.producers {
		list := jList{}
		for _, addr := range slices.Sorted(maps.Keys(conns)) {
			k := conns[addr]
			list = append(list, jObject{
				"clientId": k.clientID, "language": k.language, "remoteIP": k.addr,
				"lastUpdateTimestamp": k.seen.UnixMilli(), "version": k.version,
			})
		}
		data[group] = list
	}
	return ok(fastjson(jObject{"data": data}))
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

// RequestMode is how a topic is handed to a group (rocketmq.md 3.23).
type RequestMode struct {
	Mode          string // PULL or POP
	ShareQueueNum int
}

// setRequestMode is call 401, allRequestModes call 402.
func (b *Broker) setRequestMode(rq *request) *reply {
	var body struct {
		Topic           string `json:"topic"`
		ConsumerGroup   string `json:"consumerGroup"`
		Mode            string `json:"mode"`
		PopShareQueuNum int    `json:"popShareQueueNum"`
	}
	if err := json.Unmarshal([]byte(rq.Body), &body); err != nil {
		return answer(systemError, "syntax error, "+err.Error())
	}
	switch {
	case len(body.Topic) >= len(retryPrefix) && body.Topic[:len(retryPrefix)] == retryPrefix:
		return answer(noPermission, "retry topic is not allowed to set mode")
	case b.topics[body.Topic] == nil:
		return answer(topicNotExist, "topic["+body.Topic+"] not exist")
	case b.findGroup(body.ConsumerGroup) == nil:
		return answer(groupNotExist, "subscription group does not exist")
	}
	b.putMode(body.Topic, body.ConsumerGroup, RequestMode{Mode: body.Mode, ShareQueueNum: body.PopShareQueuNum})
	return ok(nil)
}

func (b *Broker) allRequestModes() *reply {
	topics := jObject{}
	for topic, groups := range b.modes {
		o := jObject{}
		for group, m := range groups {
			o[group] = jObject{"consumerGroup": group, "mode": m.Mode, "popShareQueueNum": m.ShareQueueNum, "topic": topic}
		}
		topics[topic] = o
	}
	return ok(fastjson(jObject{"messageRequestModeMap": topics}))
}

// runningInfo is what a member answers to call 307.
func (m *Member) runningInfo() jObject {
	subs, queues := jList{}, jPairs{}
	for _, s := range m.subscriptions() {
		subs = append(subs, s.json())
	}
	pop := jPairs{}
	for _, p := range m.owned() {
		key := jObject{"brokerName": p.broker, "queueId": p.id, "topic": p.topic}
		if m.spec.POP {
			pop = append(pop, jPair{key, jObject{"droped": false, "lastPopTimestamp": m.c.now().UnixMilli(), "waitAckCount": 0}})
			continue
		}
		queues = append(queues, jPair{key, jObject{
			"cachedMsgCount": 0, "cachedMsgMaxOffset": int64(0), "cachedMsgMinOffset": int64(0),
			"cachedMsgSizeInMiB": 0, "commitOffset": m.position(p), "droped": false,
			"lastConsumeTimestamp": m.c.now().UnixMilli(), "lastLockTimestamp": m.started.UnixMilli(),
			"lastPullTimestamp": m.c.now().UnixMilli(), "locked": false, "transactionMsgCount": 0,
			"transactionMsgMaxOffset": int64(0), "transactionMsgMinOffset": int64(0), "tryUnlockTimes": int64(0),
		}})
	}
	body := jObject{
		"mqTable": queues, "properties": m.properties(), "statusTable": jObject{}, "subscriptionSet": subs,
	}
	if m.c.opts.Version.five() {
		body["mqPopTable"] = pop
	}
	return body
}

func (m *Member) properties() jObject {
	p := jObject{
		"PROP_CONSUME_TYPE": m.consumeType(), "PROP_CONSUMEORDERLY": "false",
		"PROP_CONSUMER_START_TIMESTAMP": strconv.FormatInt(m.started.UnixMilli(), 10),
		"PROP_THREADPOOL_CORE_SIZE":     "20", "PROP_NAMESERVER_ADDR": m.c.ns[0].addr,
	}
	if m.spec.Language == "JAVA" {
		strategy := m.spec.Strategy
		if strategy == "" {
			strategy = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely"
		}
		p["PROP_CLIENT_VERSION"], p["consumerGroup"] = "V5_3_1", m.spec.Group
		p["messageModel"], p["consumeFromWhere"] = m.model(), m.spec.From
		p["allocateMessageQueueStrategy"] = strategy + "@5e91993f"
	}
	return p
}
