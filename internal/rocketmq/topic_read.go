// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Filter types of a topic: SingleTag is what ordinary topics have.
const (
	SingleTag = "SINGLE_TAG"
	MultiTag  = "MULTI_TAG"
)

// TopicTable is every topic of one broker, RocketMQ's own included.
type TopicTable struct {
	Topics map[string]snapshot.TopicConfig
	// Version moves with every change of the table.
	Version DataVersion
}

// DataVersion is how a broker counts the changes of a table.
type DataVersion struct {
	Counter, Timestamp int64
}

// AllTopicConfigs asks a broker for all topics (call 21 without paging,
// rocketmq.md 3.8, rocketmq-live.md 2.2).
func (c *Client) AllTopicConfigs(ctx context.Context, addr string) (TopicTable, error) {
	return readBody(ctx, c, addr, remoting.ReqGetAllTopicConfig, nil, decodeTopicTable)
}

// TopicConfig asks a broker for one topic: by call 351, or by call 21 where
// that is all there is (4.9, case P08). A broker that does not have the topic
// is an answer, with Present false.
func (c *Client) TopicConfig(ctx context.Context, addr, topic string) (snapshot.StoredTopic, error) {
	can, err := c.Capability(ctx, addr)
	if err != nil {
		return snapshot.StoredTopic{}, err
	}
	if can.SingleTopicRead {
		stored, err := c.singleTopic(ctx, addr, topic)
		if !isKind(err, remoting.Unsupported) {
			return stored, err
		}
		// The broker was replaced by an older one since it was asked.
		c.versions.forget(addr)
	}
	all, err := c.AllTopicConfigs(ctx, addr)
	if err != nil {
		return snapshot.StoredTopic{}, err
	}
	config, ok := all.Topics[topic]
	return snapshot.StoredTopic{Present: ok, Config: config}, nil
}

func (c *Client) singleTopic(ctx context.Context, addr, topic string) (snapshot.StoredTopic, error) {
	const code = remoting.ReqGetTopicConfig
	config, err := readBody(ctx, c, addr, code, fields{"topic": topic, "lo": btoa(true)}, decodeTopicConfig)
	switch {
	case answered(err, remoting.RespTopicNotExist):
		return snapshot.StoredTopic{}, nil
	case err != nil:
		return snapshot.StoredTopic{}, err
	case config.Name != topic:
		return snapshot.StoredTopic{}, malformed(addr, code, errors.New("it is another topic than asked for"))
	}
	return snapshot.StoredTopic{Present: true, Config: config}, nil
}

// topicConfig is a topic as brokers write it. Attributes are left out by 4.9
// and in files of older brokers.
type topicConfig struct {
	Name       *string           `json:"topicName" fastjson:"required"`
	Read       *int              `json:"readQueueNums" fastjson:"required"`
	Write      *int              `json:"writeQueueNums" fastjson:"required"`
	Perm       *int              `json:"perm" fastjson:"required"`
	FilterType *string           `json:"topicFilterType" fastjson:"required"`
	SysFlag    *int              `json:"topicSysFlag" fastjson:"required"`
	Order      *bool             `json:"order" fastjson:"required"`
	Attributes map[string]string `json:"attributes"`
	// Mapping is the queue mapping of a static topic; call 351 sends it.
	Mapping *struct{} `json:"mappingDetail"`
}

func (w topicConfig) config() snapshot.TopicConfig {
	c := snapshot.TopicConfig{
		Name:        *w.Name,
		ReadQueues:  *w.Read,
		WriteQueues: *w.Write,
		Perm:        snapshot.Perm(*w.Perm),
		FilterType:  *w.FilterType,
		SysFlag:     *w.SysFlag,
		Order:       *w.Order,
		Static:      w.Mapping != nil,
	}
	if len(w.Attributes) > 0 {
		c.Attributes = w.Attributes
	}
	return c
}

func decodeTopicConfig(body []byte) (snapshot.TopicConfig, error) {
	var wire topicConfig
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return snapshot.TopicConfig{}, err
	}
	return wire.config(), nil
}

func decodeTopicTable(body []byte) (TopicTable, error) {
	var wire struct {
		Topics  map[string]*topicConfig `json:"topicConfigTable" fastjson:"required"`
		Static  map[string]*struct{}    `json:"topicQueueMappingDetailMap"`
		Version *dataVersion            `json:"dataVersion" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return TopicTable{}, err
	}
	all := TopicTable{Topics: make(map[string]snapshot.TopicConfig, len(wire.Topics)), Version: wire.Version.value()}
	for name, w := range wire.Topics {
		if w == nil || *w.Name != name {
			return TopicTable{}, errors.New("an entry of topicConfigTable does not bear its topic's name")
		}
		config := w.config()
		if _, static := wire.Static[name]; static {
			config.Static = true
		}
		all.Topics[name] = config
	}
	return all, nil
}

type dataVersion struct {
	Counter   *int64 `json:"counter" fastjson:"required"`
	Timestamp *int64 `json:"timestamp" fastjson:"required"`
}

func (v dataVersion) value() DataVersion {
	return DataVersion{Counter: *v.Counter, Timestamp: *v.Timestamp}
}
