// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/rocketmq/names"
)

// MaxPull is the most messages that a broker hands out in one pull by default.
const MaxPull = 32

// Pulled is the answer to one pull.
type Pulled struct {
	// Messages are in the order of the queue; empty when there was none at the
	// offset.
	Messages []Message
	// Next is the offset to go on from: behind the last message, or where the
	// broker says the queue begins or ends when the offset asked for was
	// outside.
	Next int64
	// Min and Max are the queue's bounds; Max is the next offset.
	Min, Max int64
}

// AtEnd reports that there is nothing behind Next.
func (p Pulled) AtEnd() bool { return p.Next >= p.Max }

// Pull reads up to count messages of one queue from an offset on, without a
// registered consumer, without waiting and without committing (call 11, live
// 1.1). It reads under RocketMQ's own tools group, which exists everywhere; a
// reader of an unknown group would create it. Brokers note the pull: from 5.5
// in the table of pulled offsets.
//
// It is meant for RocketMQ's own topics: members of proxies, messages that wait.
func (c *Client) Pull(ctx context.Context, addr, topic string, queue int, from int64, count int) (Pulled, error) {
	const code = remoting.ReqPullMessage
	if queue < 0 || from < 0 || count < 1 || count > MaxPull {
		return Pulled{}, notSent(addr, code, "%d messages from offset %d of queue %d; at most %d", count, from, queue, MaxPull)
	}
	reply, _, err := c.answer(ctx, addr, code, fields{
		"consumerGroup": names.ToolsGroup, "topic": topic, "queueId": itoa(queue), "queueOffset": itoa(from),
		"maxMsgNums": itoa(count), "sysFlag": itoa(pullWithSubscription), "commitOffset": "0", "suspendTimeoutMillis": "0",
		"subVersion": "0", "subscription": "*", "expressionType": "TAG",
	}, nil)
	if reply == nil || !isPullOutcome(reply.Code) {
		if err == nil {
			err = remoting.ErrorFromResponse(addr, code, reply)
		}
		return Pulled{}, refine(err)
	}
	pulled, err := decodePull(reply)
	if err != nil {
		return Pulled{}, malformed(addr, code, err)
	}
	return pulled, nil
}

// pullWithSubscription is bit 2 of a pull's sysFlag: the request carries its own
// subscription. Without it a group that has no member is refused; bit 1 would
// commit, bit 2^1 would wait (rocketmq-live.md 1.1).
const pullWithSubscription = 4

// isPullOutcome reports whether a code is an outcome of a pull and no failure.
func isPullOutcome(code int) bool {
	switch code {
	case remoting.RespSuccess, remoting.RespPullNotFound, remoting.RespPullRetryImmediately, remoting.RespPullOffsetMoved:
		return true
	}
	return false
}

func decodePull(reply *remoting.Command) (Pulled, error) {
	var p Pulled
	var err error
	for _, f := range []struct {
		key string
		to  *int64
	}{{"nextBeginOffset", &p.Next}, {"minOffset", &p.Min}, {"maxOffset", &p.Max}} {
		if *f.to, err = number(reply, f.key); err != nil {
			return Pulled{}, err
		}
	}
	if reply.Code != remoting.RespSuccess {
		return p, nil
	}
	if p.Messages, err = decodeMessages(reply.Body); err != nil {
		return Pulled{}, err
	}
	if len(p.Messages) == 0 {
		return Pulled{}, fmt.Errorf("a pull that found messages carries none")
	}
	return p, nil
}
