// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "encoding/json"

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
