// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// QueueIndex is a part of a queue's index.
type QueueIndex struct {
	// Min and Max are the queue's bounds; Max is the next offset.
	Min, Max int64
	// Entries begin at the offset asked for.
	Entries []IndexEntry
}

// IndexEntry is one message in a queue's index.
type IndexEntry struct {
	// Position and Size are where the message is in the commit log, in bytes.
	Position, Size int64
	// TagsCode is the hash of the message's tag, or its delivery time in the
	// schedule topic (rocketmq.md 8).
	TagsCode int64
}

// maxIndex is how many entries are asked for at most: an entry is about a
// hundred bytes of text.
const maxIndex = 1000

// ConsumeQueue asks a broker for up to count entries of one queue's index from
// an offset on (call 321, rocketmq.md 3.23). Any queue id may be asked, retired
// ones too. An unknown topic or queue, and an offset outside the bounds, is an
// error of kind NotFound.
func (c *Client) ConsumeQueue(ctx context.Context, addr, topic string, queue int, from int64, count int) (QueueIndex, error) {
	const code = remoting.ReqQueryConsumeQueue
	if queue < 0 || from < 0 || count < 1 || count > maxIndex {
		return QueueIndex{}, notSent(addr, code, "%d entries from offset %d of queue %d; at most %d", count, from, queue, maxIndex)
	}
	reply, _, err := c.call(ctx, addr, code, fields{
		"topic": topic, "queueId": itoa(queue), "index": itoa(from), "count": itoa(count),
	}, nil)
	if err != nil {
		return QueueIndex{}, err
	}
	if len(reply.Body) == 0 {
		// The broker answers so, with success, where the index has no such offset.
		return QueueIndex{}, &remoting.Error{Addr: addr, Code: code, Kind: remoting.NotFound, Remark: reply.Remark, Sent: true}
	}
	index, err := decodeIndex(reply.Body)
	if err != nil {
		return QueueIndex{}, malformed(addr, code, err)
	}
	return index, nil
}

func decodeIndex(body []byte) (QueueIndex, error) {
	var wire struct {
		Min     *int64 `json:"minQueueIndex" fastjson:"required"`
		Max     *int64 `json:"maxQueueIndex" fastjson:"required"`
		Entries []struct {
			Position *int64 `json:"physicOffset" fastjson:"required"`
			Size     *int64 `json:"physicSize" fastjson:"required"`
			TagsCode *int64 `json:"tagsCode" fastjson:"required"`
		} `json:"queueData" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return QueueIndex{}, err
	}
	if *wire.Max < *wire.Min {
		return QueueIndex{}, errors.New("its end is before its beginning")
	}
	index := QueueIndex{Min: *wire.Min, Max: *wire.Max}
	for _, e := range wire.Entries {
		index.Entries = append(index.Entries, IndexEntry{Position: *e.Position, Size: *e.Size, TagsCode: *e.TagsCode})
	}
	return index, nil
}
