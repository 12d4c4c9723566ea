// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// DeleteTopic deletes a topic with its messages' indexes from one master (call
// 215, rocketmq.md 3.5). Routes stay until DeleteTopicRoute on every name
// server. 4.9 leaves the committed offsets behind, so a topic made again starts
// its consumers at stale ones. An absent topic is success. Once a topic's
// deletion has begun its queues must not be asked for offsets any more: asking
// brings them back in memory (case P14).
func (c *Client) DeleteTopic(ctx context.Context, at Master, topic string) error {
	const code = remoting.ReqDeleteTopicInBroker
	if err := mayWriteTopic(at.Addr, code, topic, at.Cluster, at.Name); err != nil {
		return err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return err
	}
	_, err = master.change(ctx, code, fields{"topic": topic}, nil)
	return err
}

// DeleteGroup deletes a consumer group from one master (call 207, rocketmq.md
// 3.13), with its committed offsets if cleanOffsets; before 5.3.3 a pending
// reset survives that. Its retry topic and DLQ stay, and a connected member
// makes the group again. An absent group is success.
func (c *Client) DeleteGroup(ctx context.Context, at Master, group string, cleanOffsets bool) error {
	const code = remoting.ReqDeleteSubscriptionGroup
	if err := mayWriteGroup(at.Addr, code, group); err != nil {
		return err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return err
	}
	// 4.9 reads removeOffset, later brokers cleanOffset (rocketmq-live.md 11).
	clean := btoa(cleanOffsets)
	_, err = master.change(ctx, code, fields{"groupName": group, "cleanOffset": clean, "removeOffset": clean}, nil)
	return err
}
