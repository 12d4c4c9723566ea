// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// ResetOffset sets a group back on one queue by the broker's own hand (call 222
// with queueId and offset, brokers from 5.2.0; an error of kind Unsupported
// before). The next pull or pop of that queue takes it, and until then the
// broker swallows commits (rocketmq.md 3.22, rocketmq-live.md 10).
//
// It is sent only for a queue that consumers can read: a reset on a retired one
// stays pending for ever. So the topic is read first, and queue must be below
// its read count. A negative offset would mean the beginning and is refused.
// The caller makes sure that the queue has an owner; a group without members is
// set by CommitOffset.
func (c *Client) ResetOffset(ctx context.Context, at Master, topic, group string, queue int, offset int64) error {
	const code = remoting.ReqInvokeBrokerToResetOffset
	if offset < 0 {
		return notSent(at.Addr, code, "offset %d; a negative offset resets to the beginning", offset)
	}
	target, err := c.mayReset(ctx, at, topic, group)
	if err != nil {
		return err
	}
	if !target.can.ExactReset {
		return unsupported(at.Addr, code, "5.2.0")
	}
	if queue < 0 || queue >= target.config.ReadQueues {
		return notSent(at.Addr, code, "queue %d of topic %q is not among its %d read queues; its reset would stay pending for ever",
			queue, topic, target.config.ReadQueues)
	}
	_, err = target.change(ctx, code, fields{
		"topic": topic, "group": group, "timestamp": "0", "isForce": btoa(true),
		"queueId": itoa(queue), "offset": itoa(offset),
	}, nil)
	return err
}

// ResetToTime sets a group back to a moment on all queues of a topic through its
// connected members (call 222 by time, brokers before 5.2.0; refused from then
// on, where ResetOffset is exact). It lands up to a few messages earlier and
// takes 10 s for each master (rocketmq-live.md 10.1). Needs members, and an entry of the
// group on every queue; else it is an error of kind NotFound.
func (c *Client) ResetToTime(ctx context.Context, at Master, topic, group string, moment time.Time) error {
	const code = remoting.ReqInvokeBrokerToResetOffset
	if moment.UnixMilli() <= 0 {
		return notSent(at.Addr, code, "the moment %s; a time before 1970 resets to the end", moment)
	}
	target, err := c.mayReset(ctx, at, topic, group)
	if err != nil {
		return err
	}
	if target.can.ExactReset {
		return notSent(at.Addr, code, "a reset by time on a broker that can reset to an offset")
	}
	if target.config.WriteQueues > target.config.ReadQueues {
		return notSent(at.Addr, code, "topic %q has %d write and %d read queues; a reset by time would cover queues that nobody reads",
			topic, target.config.WriteQueues, target.config.ReadQueues)
	}
	_, err = target.change(ctx, code, fields{
		"topic": topic, "group": group, "timestamp": itoa(moment.UnixMilli()), "isForce": btoa(false),
	}, nil)
	return err
}

// resetTarget is what a reset is decided on.
type resetTarget struct {
	proven
	can    Capability
	config snapshot.TopicConfig
}

// mayReset refuses resets of what is not a user's, proves the peer and reads the
// topic.
func (c *Client) mayReset(ctx context.Context, at Master, topic, group string) (resetTarget, error) {
	const code = remoting.ReqInvokeBrokerToResetOffset
	if err := mayWriteTopic(at.Addr, code, topic, at.Cluster, at.Name); err != nil {
		return resetTarget{}, err
	}
	if err := mayWriteGroup(at.Addr, code, group); err != nil {
		return resetTarget{}, err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return resetTarget{}, err
	}
	can, err := master.Capability(ctx, at.Addr)
	if err != nil {
		return resetTarget{}, err
	}
	stored, err := master.TopicConfig(ctx, at.Addr, topic)
	if err != nil {
		return resetTarget{}, err
	}
	if !stored.Present {
		return resetTarget{}, notSent(at.Addr, code, "the broker has no topic %q", topic)
	}
	return resetTarget{proven: master, can: can, config: stored.Config}, nil
}
