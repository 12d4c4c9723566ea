// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// TopicList asks a name server for the names of all topics it has, of every
// cluster, RocketMQ's own included (call 206, rocketmq.md 3.3). It shows how
// complete a name server is after a start (case O25).
func (c *Client) TopicList(ctx context.Context, nameServer string) (map[string]struct{}, error) {
	return readBody(ctx, c, nameServer, remoting.ReqGetAllTopicListFromNameServer, nil, decodeTopicList)
}

// SystemTopics asks a broker which topics it calls its own (call 305,
// rocketmq.md 3.3). See package names for those it does not say.
func (c *Client) SystemTopics(ctx context.Context, addr string) (map[string]struct{}, error) {
	return readBody(ctx, c, addr, remoting.ReqGetSystemTopicListFromBroker, nil, decodeTopicList)
}

// DeleteTopicRoute takes a topic's route of one cluster off a name server (call
// 216, rocketmq.md 3.6). It follows DeleteTopic on every master and goes to
// every name server; a broker that still has the topic puts the route back at
// its next registration. An absent route is success.
func (c *Client) DeleteTopicRoute(ctx context.Context, nameServer, topic, cluster string) error {
	const code = remoting.ReqDeleteTopicInNamesrv
	if cluster == "" {
		return notSent(nameServer, code, "without a cluster name the routes of all clusters would go")
	}
	if err := mayWriteTopic(nameServer, code, topic, cluster, ""); err != nil {
		return err
	}
	_, _, err := c.call(ctx, nameServer, code, fields{"topic": topic, "clusterName": cluster}, nil)
	return err
}

func decodeTopicList(body []byte) (map[string]struct{}, error) {
	var wire struct {
		Topics []*string `json:"topicList" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	return set(wire.Topics, "topicList")
}
