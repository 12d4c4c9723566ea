// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TopicBatch is what CreateTopics found and did.
type TopicBatch struct {
	// Sent are the topics that were sent, in the order asked for.
	Sent []string
	// Existing are topics asked for that were there already; none of them was
	// sent.
	Existing map[string]snapshot.TopicConfig
}

// CreateTopics creates topics on one master in one request (call 18, brokers
// from 5.3.0; an error of kind Unsupported before). It is for first creation
// only: it reads all topics first and leaves out those that exist, because a
// batch with one unchanged member is silently not done at all, and because a
// change of counts never goes in a batch (rule R17, case P11).
//
// Success proves nothing: the caller reads back every topic, for one that
// appeared in between stops the rest.
func (c *Client) CreateTopics(ctx context.Context, at Master, wanted []snapshot.TopicConfig) (TopicBatch, error) {
	const code = remoting.ReqUpdateAndCreateTopicList
	can, err := c.Capability(ctx, at.Addr)
	if err != nil {
		return TopicBatch{}, err
	}
	if !can.TopicBatch {
		return TopicBatch{}, unsupported(at.Addr, code, "5.3.0")
	}
	for i, want := range wanted {
		if err := mayCreate(at, code, wanted[:i], want); err != nil {
			return TopicBatch{}, err
		}
	}
	there, err := c.AllTopicConfigs(ctx, at.Addr)
	if err != nil {
		return TopicBatch{}, err
	}
	batch := TopicBatch{Existing: map[string]snapshot.TopicConfig{}}
	var wire []topicEntry
	for _, want := range wanted {
		if config, ok := there.Topics[want.Name]; ok {
			batch.Existing[want.Name] = config
			continue
		}
		entry, err := newTopicEntry(at, code, want)
		if err != nil {
			return TopicBatch{}, err
		}
		batch.Sent = append(batch.Sent, want.Name)
		wire = append(wire, entry)
	}
	if len(wire) == 0 {
		return batch, nil
	}
	body, err := json.Marshal(map[string][]topicEntry{"topicConfigList": wire})
	if err != nil {
		return TopicBatch{}, err
	}
	return batch, c.change(ctx, at, code, nil, body)
}

func mayCreate(at Master, code int, before []snapshot.TopicConfig, want snapshot.TopicConfig) error {
	for _, other := range before {
		if other.Name == want.Name {
			return notSent(at.Addr, code, "topic %q is in the batch twice", want.Name)
		}
	}
	if err := mayWriteTopic(at.Addr, code, want.Name, at.Cluster, at.Name); err != nil {
		return err
	}
	return mayBecome(at.Addr, code, want)
}

// topicEntry is a topic in the body of call 18.
type topicEntry struct {
	Name       string            `json:"topicName"`
	Read       int               `json:"readQueueNums"`
	Write      int               `json:"writeQueueNums"`
	Perm       int               `json:"perm"`
	FilterType string            `json:"topicFilterType"`
	SysFlag    int               `json:"topicSysFlag"`
	Order      bool              `json:"order"`
	Attributes map[string]string `json:"attributes"`
}

func newTopicEntry(at Master, code int, want snapshot.TopicConfig) (topicEntry, error) {
	signed, err := signs(nil, want.Attributes)
	if err != nil {
		return topicEntry{}, &NotSentError{Addr: at.Addr, Code: code, Why: "topic " + want.Name, Err: err}
	}
	return topicEntry{
		Name: want.Name, Read: want.ReadQueues, Write: want.WriteQueues, Perm: int(want.Perm),
		FilterType: want.FilterType, SysFlag: want.SysFlag, Order: want.Order, Attributes: signed,
	}, nil
}
