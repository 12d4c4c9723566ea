// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// GroupTable is every consumer group of one broker, RocketMQ's own included.
type GroupTable struct {
	Groups map[string]snapshot.GroupConfig
	// Version moves with every change of the table.
	Version DataVersion
}

// AllGroups asks a broker for all consumer groups (call 201, rocketmq.md 3.12).
// It is the only reading of groups: asking for one by name creates it on brokers
// from 5.3.2 (rocketmq.md 3.11).
func (c *Client) AllGroups(ctx context.Context, addr string) (GroupTable, error) {
	raw, err := read(ctx, c, addr, remoting.ReqGetAllSubscriptionGroupConfig, nil, decodeGroups)
	if err != nil {
		return GroupTable{}, err
	}
	table := GroupTable{Groups: make(map[string]snapshot.GroupConfig, len(raw.groups)), Version: raw.version}
	for name, group := range raw.groups {
		table.Groups[name] = group.config
	}
	return table, nil
}

// GroupChange is what UpdateGroup found and did.
type GroupChange struct {
	// Before is the group as the broker had it; nil if it had none.
	Before *snapshot.GroupConfig
	// Wanted is what it should be now.
	Wanted snapshot.GroupConfig
	// Sent says that a request was sent; false when nothing differed.
	Sent bool
}

// UpdateGroup makes a group on one master what change says. It reads all groups,
// calls change with the group, or with RocketMQ's defaults and exists false,
// and sends the result as a whole (call 200, rocketmq.md 3.10) when it differs
// or the group is not there. Members of the stored object that Lockstep does
// not know go back as they came. Attributes are not sent, which keeps them; a
// change of Attributes is refused.
//
// Success proves nothing: the caller reads back with AllGroups.
func (c *Client) UpdateGroup(ctx context.Context, at Master, name string,
	change func(current snapshot.GroupConfig, exists bool) (snapshot.GroupConfig, error)) (GroupChange, error) {
	const code = remoting.ReqUpdateAndCreateSubscriptionGroup
	if err := mayWriteGroup(at.Addr, code, name); err != nil {
		return GroupChange{}, err
	}
	raw, err := read(ctx, c, at.Addr, remoting.ReqGetAllSubscriptionGroupConfig, nil, decodeGroups)
	if err != nil {
		return GroupChange{}, err
	}
	group, exists := raw.groups[name]
	var done GroupChange
	if exists {
		before := group.config.Clone()
		done.Before = &before
	} else {
		group = rawGroup{config: snapshot.DefaultGroup(name)}
	}
	done.Wanted, err = change(group.config.Clone(), exists)
	if err != nil || exists && done.Wanted.Equal(group.config) {
		return done, err
	}
	body, err := group.turnedInto(done.Wanted)
	if err != nil {
		return done, &NotSentError{Addr: at.Addr, Code: code, Why: "group " + name, Err: err}
	}
	done.Sent = true
	return done, c.change(ctx, at, code, nil, body)
}

// GroupBatch is what CreateGroups found and did.
type GroupBatch struct {
	// Sent are the groups that were sent, in the order asked for.
	Sent []string
	// Existing are groups asked for that were there already; none of them was
	// sent.
	Existing map[string]snapshot.GroupConfig
}

// CreateGroups creates groups on one master in one request (call 225, brokers
// from 5.3.1; an error of kind Unsupported before). It is for first creation
// only: groups that exist are left out. Success proves nothing: the caller
// reads back with AllGroups.
func (c *Client) CreateGroups(ctx context.Context, at Master, wanted []snapshot.GroupConfig) (GroupBatch, error) {
	const code = remoting.ReqUpdateAndCreateSubscriptionList
	can, err := c.Capability(ctx, at.Addr)
	if err != nil {
		return GroupBatch{}, err
	}
	if !can.GroupBatch {
		return GroupBatch{}, unsupported(at.Addr, code, "5.3.1")
	}
	seen := map[string]struct{}{}
	for _, want := range wanted {
		if err := mayWriteGroup(at.Addr, code, want.Name); err != nil {
			return GroupBatch{}, err
		}
		if _, twice := seen[want.Name]; twice {
			return GroupBatch{}, notSent(at.Addr, code, "group %q is in the batch twice", want.Name)
		}
		seen[want.Name] = struct{}{}
	}
	there, err := c.AllGroups(ctx, at.Addr)
	if err != nil {
		return GroupBatch{}, err
	}
	batch := GroupBatch{Existing: map[string]snapshot.GroupConfig{}}
	wire := []json.RawMessage{}
	for _, want := range wanted {
		if config, ok := there.Groups[want.Name]; ok {
			batch.Existing[want.Name] = config
			continue
		}
		entry, err := rawGroup{config: snapshot.DefaultGroup(want.Name)}.turnedInto(want)
		if err != nil {
			return GroupBatch{}, &NotSentError{Addr: at.Addr, Code: code, Why: "group " + want.Name, Err: err}
		}
		batch.Sent = append(batch.Sent, want.Name)
		wire = append(wire, entry)
	}
	if len(wire) == 0 {
		return batch, nil
	}
	body, err := json.Marshal(map[string][]json.RawMessage{"groupConfigList": wire})
	if err != nil {
		return GroupBatch{}, err
	}
	return batch, c.change(ctx, at, code, nil, body)
}
