// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// subscription is a SubscriptionData on the wire (rocketmq.md 5.1).
type subscription struct {
	Topic      *string   `json:"topic" fastjson:"required"`
	Expression *string   `json:"subString" fastjson:"required"`
	Type       string    `json:"expressionType"`
	Tags       []*string `json:"tagsSet"`
	Class      bool      `json:"classFilterMode"`
	Version    int64     `json:"subVersion"`
}

func (s subscription) value() snapshot.Subscription {
	v := snapshot.Subscription{Topic: *s.Topic, ExpressionType: s.Type, Expression: *s.Expression, ClassFilter: s.Class, Version: s.Version}
	if v.ExpressionType == "" {
		v.ExpressionType = "TAG" // a client before 4.3 says none
	}
	for _, tag := range s.Tags {
		if tag != nil {
			v.Tags = append(v.Tags, *tag)
		}
	}
	return v
}

// queueKey is a MessageQueue used as a key.
type queueKey struct {
	Topic  string `json:"topic"`
	Broker string `json:"brokerName"`
	ID     int    `json:"queueId"`
}

func (k queueKey) value() snapshot.Queue {
	return snapshot.Queue{Topic: k.Topic, Broker: k.Broker, ID: k.ID}
}

// processQueue is a ProcessQueueInfo; "droped" is spelled so.
type processQueue struct {
	Committed   *int64 `json:"commitOffset" fastjson:"required"`
	Cached      int64  `json:"cachedMsgCount"`
	CachedMin   int64  `json:"cachedMsgMinOffset"`
	CachedMax   int64  `json:"cachedMsgMaxOffset"`
	Locked      bool   `json:"locked"`
	Dropped     bool   `json:"droped"`
	LastPull    int64  `json:"lastPullTimestamp"`
	LastConsume int64  `json:"lastConsumeTimestamp"`
}

func (p processQueue) value() snapshot.QueueWork {
	return snapshot.QueueWork{
		Committed: *p.Committed, Cached: p.Cached, CachedMin: p.CachedMin, CachedMax: p.CachedMax,
		Locked: p.Locked, Dropped: p.Dropped, LastPull: millis(p.LastPull), LastConsume: millis(p.LastConsume),
	}
}

func decodeReport(body []byte) (snapshot.MemberReport, error) {
	var wire struct {
		Properties    map[string]*string                          `json:"properties" fastjson:"required"`
		Subscriptions []subscription                              `json:"subscriptionSet" fastjson:"required"`
		Queues        fastjson.ObjectMap[queueKey, *processQueue] `json:"mqTable" fastjson:"required"`
		PopQueues     fastjson.ObjectMap[queueKey, *struct{}]     `json:"mqPopTable"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return snapshot.MemberReport{}, err
	}
	r := snapshot.MemberReport{Properties: map[string]string{}, Queues: map[snapshot.Queue]snapshot.QueueWork{}}
	for key, value := range wire.Properties {
		if value != nil {
			r.Properties[key] = *value
		}
	}
	for _, s := range wire.Subscriptions {
		r.Subscriptions = append(r.Subscriptions, s.value())
	}
	for key, work := range wire.Queues {
		if work == nil {
			return snapshot.MemberReport{}, errors.New("a queue of mqTable has no value")
		}
		r.Queues[key.value()] = work.value()
	}
	for key := range wire.PopQueues {
		r.PopQueues = append(r.PopQueues, key.value())
	}
	slices.SortFunc(r.PopQueues, func(a, b snapshot.Queue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
	})
	return r, nil
}
