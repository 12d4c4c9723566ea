// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// CommittedOffsets is every offset a broker keeps (call 43, rocketmq.md 3.20,
// rocketmq-live.md 2.1). Entries of retired queues and of RocketMQ's own groups are in it.
type CommittedOffsets struct {
	// Committed are the committed offsets. For a POP group they are the
	// messages handed out, finished or not (rocketmq.md 4.5).
	Committed GroupOffsets
	// Pulled are the next offsets pulled, of whatever reader, consumed or not.
	// Only brokers from 5.5 tell. A group that is in here alone is a reader
	// that cannot be followed (rule R07).
	Pulled GroupOffsets
	// Broadcast are the brokers' own copies for broadcast groups (keys of three
	// parts). They prove nothing about members.
	Broadcast GroupOffsets
	// Light are the offsets of light message queues, where a broker has them.
	Light GroupOffsets
	// Odd are the keys that have another form, sorted. Brokers ignore them as
	// well.
	Odd []string
}

// GroupOffsets are offsets by topic, group and queue id.
type GroupOffsets map[string]map[string]map[int]int64

// put adds one entry.
func (o GroupOffsets) put(topic, group string, queues map[int]int64) {
	groups := o[topic]
	if groups == nil {
		groups = map[string]map[int]int64{}
		o[topic] = groups
	}
	groups[group] = queues
}

// AllCommittedOffsets asks a broker for every offset it keeps (call 43). It is
// the only source that tells a group that never committed on a queue from one
// at offset 0, and that covers retired queues.
func (c *Client) AllCommittedOffsets(ctx context.Context, addr string) (CommittedOffsets, error) {
	return readBody(ctx, c, addr, remoting.ReqGetAllConsumerOffset, nil, decodeCommitted)
}

// queueTable is a table by "topic@group" and queue id.
type queueTable map[string]map[int]*int64

func decodeCommitted(body []byte) (CommittedOffsets, error) {
	var wire struct {
		Committed queueTable        `json:"offsetTable" fastjson:"required"`
		Pulled    queueTable        `json:"pullOffsetTable"`
		Light     map[string]*int64 `json:"lmqOffsetTable"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return CommittedOffsets{}, err
	}
	all := CommittedOffsets{Committed: GroupOffsets{}, Pulled: GroupOffsets{}, Broadcast: GroupOffsets{}, Light: GroupOffsets{}}
	for key, offset := range wire.Light {
		if err := all.file(key, map[int]*int64{0: offset}, all.Light); err != nil {
			return CommittedOffsets{}, err
		}
	}
	for key, queues := range wire.Pulled {
		if err := all.file(key, queues, all.Pulled); err != nil {
			return CommittedOffsets{}, err
		}
	}
	for key, queues := range wire.Committed {
		if err := all.file(key, queues, all.Committed); err != nil {
			return CommittedOffsets{}, err
		}
	}
	slices.Sort(all.Odd)
	return all, nil
}

// broadcastMark ends the keys under which a broker keeps a broadcast group.
const broadcastMark = "broadcast"

// file puts one entry where its key belongs.
func (a *CommittedOffsets) file(key string, wire map[int]*int64, table GroupOffsets) error {
	if wire == nil {
		return errors.New("an entry of an offset table has no queues")
	}
	queues := make(map[int]int64, len(wire))
	for queue, offset := range wire {
		if offset == nil {
			return errors.New("a queue of an offset table has no offset")
		}
		queues[queue] = *offset
	}
	parts := strings.Split(key, "@")
	switch {
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		table.put(parts[0], parts[1], queues)
	case len(parts) == 3 && parts[0] != "" && parts[1] != "" && parts[2] == broadcastMark:
		a.Broadcast.put(parts[0], parts[1], queues)
	default:
		a.Odd = append(a.Odd, key)
	}
	return nil
}

// CommittedOffset asks a broker for one group's committed offset of one queue
// (call 14 with setZeroIfNotFound=false); false means that there is no entry.
// 4.9 cannot tell no entry from zero, so there all offsets are read instead
// (call 43, rocketmq.md 3.20). While a reset is pending the reset's value is
// told (rocketmq-live.md 10.3).
func (c *Client) CommittedOffset(ctx context.Context, addr, topic, group string, queue int) (int64, bool, error) {
	met, err := c.version(ctx, addr)
	if err != nil {
		return 0, false, err
	}
	if !CapabilityOf(met.version).ExactMissingOffset {
		return c.committedOfAll(ctx, addr, topic, group, queue)
	}
	const code = remoting.ReqQueryConsumerOffset
	reply, generation, err := c.call(ctx, addr, code, fields{
		"consumerGroup": group, "topic": topic, "queueId": itoa(queue), "setZeroIfNotFound": btoa(false),
	}, nil)
	switch {
	case answered(err, remoting.RespQueryNotFound):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case generation != met.generation:
		// Another process answered than the one whose version is known. If it
		// is a 4.9 its zero means nothing.
		c.versions.forget(addr)
		return c.committedOfAll(ctx, addr, topic, group, queue)
	}
	offset, err := number(reply, "offset")
	if err != nil {
		return 0, false, malformed(addr, code, err)
	}
	return offset, true, nil
}

func (c *Client) committedOfAll(ctx context.Context, addr, topic, group string, queue int) (int64, bool, error) {
	all, err := c.AllCommittedOffsets(ctx, addr)
	if err != nil {
		return 0, false, err
	}
	offset, ok := all.Committed[topic][group][queue]
	return offset, ok, nil
}
