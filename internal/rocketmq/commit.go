// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// resetPending is in the remark of a commit that was swallowed by a pending
// reset. The code of such an answer is success (rocketmq-live.md 10.3).
const resetPending = "Offset has been previously reset"

// CommitOffset sets one group's committed offset of one queue (call 15,
// rocketmq.md 3.20, rocketmq-live.md 6). The broker checks neither range nor queue id, and
// a connected classic member overwrites the value on a queue it owns, so the
// caller reads it back. Unknown group or topic is an error of kind NotFound
// from 5.0 and 5.3 on; before, the entry is stored all the same.
//
// A commit that was swallowed by a pending reset is an error that is
// ErrResetPending.
func (c *Client) CommitOffset(ctx context.Context, at Master, topic, group string, queue int, offset int64) error {
	const code = remoting.ReqUpdateConsumerOffset
	if queue < 0 || offset < 0 {
		return notSent(at.Addr, code, "offset %d on queue %d of topic %q", offset, queue, topic)
	}
	if err := mayWriteGroup(at.Addr, code, group); err != nil {
		return err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return err
	}
	reply, err := master.change(ctx, code, fields{
		"consumerGroup": group, "topic": topic, "queueId": itoa(queue), "commitOffset": itoa(offset),
	}, nil)
	if err != nil {
		return err
	}
	if strings.Contains(reply.Remark, resetPending) {
		return &remoting.Error{Addr: at.Addr, Code: code, Kind: remoting.Refused, Remark: reply.Remark, Sent: true, Err: ErrResetPending}
	}
	return nil
}
