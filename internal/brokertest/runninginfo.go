// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "strconv"

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
