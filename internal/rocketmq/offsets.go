// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// MaxOffset asks a broker for the end of one queue: the offset the next
// dispatched message gets (call 30, rocketmq.md 3.20). Any queue id may be
// asked, retired ones too. An unknown topic or queue answers 0, so the caller
// makes sure that the topic is there.
func (c *Client) MaxOffset(ctx context.Context, addr, topic string, queue int) (int64, error) {
	return c.queueOffset(ctx, addr, remoting.ReqGetMaxOffset, topic, queue)
}

// MinOffset asks a broker for the lowest offset of one queue that has not
// expired (call 31). For an id that was never used it leaves an empty queue
// object on the broker.
func (c *Client) MinOffset(ctx context.Context, addr, topic string, queue int) (int64, error) {
	return c.queueOffset(ctx, addr, remoting.ReqGetMinOffset, topic, queue)
}

func (c *Client) queueOffset(ctx context.Context, addr string, code int, topic string, queue int) (int64, error) {
	if queue < 0 {
		return 0, notSent(addr, code, "queue %d of topic %q", queue, topic)
	}
	reply, _, err := c.call(ctx, addr, code, fields{"topic": topic, "queueId": itoa(queue)}, nil)
	if err != nil {
		return 0, err
	}
	offset, err := number(reply, "offset")
	if err != nil {
		return 0, malformed(addr, code, err)
	}
	return offset, nil
}

// MaxOffsets asks for the end of each of the queues, in bounded parallel. It is
// the ends of all of them or an error.
func (c *Client) MaxOffsets(ctx context.Context, addr, topic string, queues []int) (map[int]int64, error) {
	return each(ctx, c.parallel, queues, func(ctx context.Context, queue int) (int64, error) {
		return c.MaxOffset(ctx, addr, topic, queue)
	})
}

// QueueOffsets asks for the lowest offset and then for the end of each of the
// queues, in bounded parallel. It is the bounds of all of them or an error.
func (c *Client) QueueOffsets(ctx context.Context, addr, topic string, queues []int) (map[int]snapshot.QueueOffsets, error) {
	return each(ctx, c.parallel, queues, func(ctx context.Context, queue int) (snapshot.QueueOffsets, error) {
		lowest, err := c.MinOffset(ctx, addr, topic, queue)
		if err != nil {
			return snapshot.QueueOffsets{}, err
		}
		end, err := c.MaxOffset(ctx, addr, topic, queue)
		if err != nil {
			return snapshot.QueueOffsets{}, err
		}
		return snapshot.QueueOffsets{Min: lowest, Max: end}, nil
	})
}
