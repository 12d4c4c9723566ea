// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TopicBatch is what CreateTopics found and did.
type TopicBatch struct {
	// Sent are the topics whose creation may have been carried out, in the
	// order asked for.
	Sent []string
	// Existing are topics asked for that were there already; none of them was
	// sent.
	Existing map[string]snapshot.TopicConfig
}

// singlesPerRead is how many topics are created one by one after one reading of
// all topics, on brokers without call 18: the reading costs a fraction of a
// creation, and the fewer follow it the less can appear in between (rule R17).
const singlesPerRead = 16

// CreateTopics creates topics on one master: in one request on brokers from
// 5.3.0 (call 18), one by one before (call 17). It is for first creation only:
// it reads all topics first and leaves out those that exist, because a batch
// with one unchanged member is silently not done at all, and because a change
// of counts never goes in a batch (rule R17, case P11).
//
// Success proves nothing: the caller reads back every topic, for one that
// appeared in between stops the rest. After an error the topics in Sent may be
// there and the others are not.
func (c *Client) CreateTopics(ctx context.Context, at Master, wanted []snapshot.TopicConfig) (TopicBatch, error) {
	const code = remoting.ReqUpdateAndCreateTopicList
	batch := TopicBatch{Existing: map[string]snapshot.TopicConfig{}}
	if err := mayCreate(at, code, wanted); err != nil || len(wanted) == 0 {
		return batch, err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return batch, err
	}
	can, err := master.Capability(ctx, at.Addr)
	if err != nil {
		return batch, err
	}
	if can.TopicBatch {
		err = master.createTogether(ctx, wanted, &batch)
		return batch, err
	}
	for some := range slices.Chunk(wanted, singlesPerRead) {
		if err := c.createSingly(ctx, at, some, &batch); err != nil {
			return batch, err
		}
	}
	return batch, nil
}

// createTogether is one request for all topics that do not exist.
func (p proven) createTogether(ctx context.Context, wanted []snapshot.TopicConfig, batch *TopicBatch) error {
	const code = remoting.ReqUpdateAndCreateTopicList
	absent, err := p.absentTopics(ctx, wanted, batch)
	if err != nil || len(absent) == 0 {
		return err
	}
	entries := make([]topicEntry, 0, len(absent))
	for _, want := range absent {
		entry, err := newTopicEntry(p.at, code, want)
		if err != nil {
			return err
		}
		entries = append(entries, entry)
	}
	body, err := json.Marshal(map[string][]topicEntry{"topicConfigList": entries})
	if err != nil {
		return err
	}
	_, err = p.change(ctx, code, nil, body)
	if mayBeDone(err) {
		for _, want := range absent {
			batch.Sent = append(batch.Sent, want.Name)
		}
	}
	return err
}

// createSingly is one request for each topic that does not exist.
func (c *Client) createSingly(ctx context.Context, at Master, wanted []snapshot.TopicConfig, batch *TopicBatch) error {
	const code = remoting.ReqUpdateAndCreateTopic
	master, err := c.prove(ctx, at)
	if err != nil {
		return err
	}
	can, err := master.Capability(ctx, at.Addr)
	if err != nil {
		return err
	}
	absent, err := master.absentTopics(ctx, wanted, batch)
	if err != nil {
		return err
	}
	for _, want := range absent {
		none := snapshot.StoredTopic{}
		ext, err := topicFields(at, code, want.Name, none, storable(can, none, want))
		if err != nil {
			return err
		}
		_, err = master.change(ctx, code, ext, nil)
		if mayBeDone(err) {
			batch.Sent = append(batch.Sent, want.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// absentTopics reads all topics and returns those of wanted that do not exist;
// the others go into batch.Existing.
func (p proven) absentTopics(ctx context.Context, wanted []snapshot.TopicConfig, batch *TopicBatch) ([]snapshot.TopicConfig, error) {
	there, err := p.AllTopicConfigs(ctx, p.at.Addr)
	if err != nil {
		return nil, err
	}
	var absent []snapshot.TopicConfig
	for _, want := range wanted {
		if config, ok := there.Topics[want.Name]; ok {
			batch.Existing[want.Name] = config
			continue
		}
		absent = append(absent, want)
	}
	return absent, nil
}

// mayCreate refuses a batch before anything of it is sent.
func mayCreate(at Master, code int, wanted []snapshot.TopicConfig) error {
	seen := make(map[string]struct{}, len(wanted))
	for _, want := range wanted {
		if _, twice := seen[want.Name]; twice {
			return notSent(at.Addr, code, "topic %q is in the batch twice", want.Name)
		}
		seen[want.Name] = struct{}{}
		if err := mayWriteTopic(at.Addr, code, want.Name, at.Cluster, at.Name); err != nil {
			return err
		}
		if err := mayBecome(at.Addr, code, want); err != nil {
			return err
		}
		if _, err := newTopicEntry(at, code, want); err != nil {
			return err
		}
	}
	return nil
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
