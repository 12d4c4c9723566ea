// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "encoding/json"

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
