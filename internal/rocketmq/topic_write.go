// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TopicWriteTimeout is how long a topic write may take: a broker answers only
// when all its name servers have, or after 24 s when one of them hangs (live
// 8). A write that was not answered may still have been done.
const TopicWriteTimeout = 30 * time.Second

// TopicChange is what CreateOrUpdateTopic found and did.
type TopicChange struct {
	// Before is the topic as the broker had it.
	Before snapshot.StoredTopic
	// Wanted is what it should be now, as far as the broker's version can
	// store it. A read-back is equal to it, or another wrote in between.
	Wanted snapshot.TopicConfig
	// Sent says that a request may have been carried out; false when nothing
	// differed, or when it failed before it left.
	Sent bool
}

// CreateOrUpdateTopic makes a topic on one master what change says. It reads
// the topic, calls change with what is there, and sends the result as a whole
// (call 17, rocketmq.md 3.4) when it differs; a request replaces every field, so
// change starts from the config it is given (case Q27). An error of change ends
// it with nothing sent.
//
// Success proves nothing: the caller reads back the broker, and every name
// server's route. 4.9 stores neither attributes nor the order flag; there both
// stay what they are.
func (c *Client) CreateOrUpdateTopic(ctx context.Context, at Master, topic string,
	change func(current snapshot.StoredTopic) (snapshot.TopicConfig, error)) (TopicChange, error) {
	const code = remoting.ReqUpdateAndCreateTopic
	if err := mayResizeTopic(at.Addr, code, topic, at.Cluster, at.Name); err != nil {
		return TopicChange{}, err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return TopicChange{}, err
	}
	can, err := master.Capability(ctx, at.Addr)
	if err != nil {
		return TopicChange{}, err
	}
	current, err := master.TopicConfig(ctx, at.Addr, topic)
	if err != nil {
		return TopicChange{}, err
	}
	done := TopicChange{Before: current}
	if names.IsRetry(topic) && !current.Present {
		return TopicChange{}, notSent(at.Addr, code, "topic %q is not there; brokers make it with the first member of its group", topic)
	}
	wanted, err := change(current)
	if err != nil {
		return done, err
	}
	done.Wanted = storable(can, current, wanted)
	if current.Present && done.Wanted.Equal(current.Config) {
		return done, nil
	}
	ext, err := topicFields(at, code, topic, current, done.Wanted)
	if err != nil {
		return done, err
	}
	_, err = master.change(ctx, code, ext, nil)
	done.Sent = mayBeDone(err)
	return done, err
}

// storable is what a broker can store of a wanted config.
func storable(can Capability, current snapshot.StoredTopic, want snapshot.TopicConfig) snapshot.TopicConfig {
	want = want.Clone()
	if !can.Attributes {
		want.Attributes = nil
	}
	if !can.OrderFlag {
		want.Order = current.Config.Order
	}
	return want
}

// topicFields are the header fields of call 17. Every one of them is sent: one
// that is missing goes to its default or breaks the broker's handler.
func topicFields(at Master, code int, topic string, current snapshot.StoredTopic, want snapshot.TopicConfig) (fields, error) {
	if want.Name != topic {
		return nil, notSent(at.Addr, code, "topic %q was to become topic %q", topic, want.Name)
	}
	if current.Config.Static {
		return nil, notSent(at.Addr, code, "topic %q is static; its queues are mapped by RocketMQ", topic)
	}
	if err := mayBecome(at.Addr, code, want); err != nil {
		return nil, err
	}
	signed, err := signs(current.Config.Attributes, want.Attributes)
	if err != nil {
		return nil, &NotSentError{Addr: at.Addr, Code: code, Why: "topic " + topic, Err: err}
	}
	ext := fields{
		"topic":           topic,
		"defaultTopic":    defaultTopic,
		"readQueueNums":   itoa(want.ReadQueues),
		"writeQueueNums":  itoa(want.WriteQueues),
		"perm":            itoa(int(want.Perm)),
		"topicFilterType": want.FilterType,
		"topicSysFlag":    itoa(want.SysFlag),
		"order":           btoa(want.Order),
		"force":           btoa(false),
	}
	if len(signed) > 0 {
		ext["attributes"] = signedText(signed)
	}
	return ext, nil
}

// defaultTopic is what mqadmin sends; brokers require the field and ignore it.
const defaultTopic = "TBW102"
