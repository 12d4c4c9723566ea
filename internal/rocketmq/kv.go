// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// OrderNamespace is the name servers' namespace of order configurations: by
// topic, "broker-a:4;broker-b:4". With orderMessageEnable producers take the
// queue counts from it instead of the write counts, and brokers set order=true
// on its topics (rocketmq.md 3.23, case Q10).
const OrderNamespace = "ORDER_TOPIC_CONFIG"

// OrderConfig reads a topic's order configuration from one name server (call
// 101). No entry is an answer: the empty text.
func (c *Client) OrderConfig(ctx context.Context, nameServer, topic string) (string, error) {
	const code = remoting.ReqGetKVConfig
	reply, _, err := c.call(ctx, nameServer, code, fields{"namespace": OrderNamespace, "key": topic}, nil)
	if answered(err, remoting.RespQueryNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	value, ok := reply.ExtFields["value"]
	if !ok {
		return "", malformed(nameServer, code, missing("value"))
	}
	return value, nil
}

// OrderConfigs reads all order configurations of one name server, by topic
// (call 219). No namespace is an answer: an empty map.
func (c *Client) OrderConfigs(ctx context.Context, nameServer string) (map[string]string, error) {
	configs, err := readBody(ctx, c, nameServer, remoting.ReqGetKVListByNamespace, fields{"namespace": OrderNamespace}, decodeKVList)
	if answered(err, remoting.RespQueryNotFound) {
		return map[string]string{}, nil
	}
	return configs, err
}

// SetOrderConfig writes a topic's order configuration on one name server (call
// 100); it must go to every one of them.
func (c *Client) SetOrderConfig(ctx context.Context, nameServer, topic, value string) error {
	const code = remoting.ReqPutKVConfig
	if value == "" {
		return notSent(nameServer, code, "an order configuration without a value; delete it instead")
	}
	if err := mayWriteTopic(nameServer, code, topic, "", ""); err != nil {
		return err
	}
	_, _, err := c.call(ctx, nameServer, code, fields{"namespace": OrderNamespace, "key": topic, "value": value}, nil)
	return err
}

// DeleteOrderConfig deletes a topic's order configuration on one name server
// (call 102). Brokers keep order=true on the topic (rocketmq.md 3.23).
func (c *Client) DeleteOrderConfig(ctx context.Context, nameServer, topic string) error {
	const code = remoting.ReqDeleteKVConfig
	if err := mayWriteTopic(nameServer, code, topic, "", ""); err != nil {
		return err
	}
	_, _, err := c.call(ctx, nameServer, code, fields{"namespace": OrderNamespace, "key": topic}, nil)
	return err
}

func decodeKVList(body []byte) (map[string]string, error) {
	var wire struct {
		Table map[string]*string `json:"table" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	configs := make(map[string]string, len(wire.Table))
	for topic, value := range wire.Table {
		if value == nil {
			return nil, missing("a value of table")
		}
		configs[topic] = *value
	}
	return configs, nil
}
