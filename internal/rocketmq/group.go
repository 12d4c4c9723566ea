// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

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
	raw, err := readBody(ctx, c, addr, remoting.ReqGetAllSubscriptionGroupConfig, nil, decodeGroups)
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
	// Sent says that a request may have been carried out; false when nothing
	// differed, or when it failed before it left.
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
	master, err := c.prove(ctx, at)
	if err != nil {
		return GroupChange{}, err
	}
	raw, err := readBody(ctx, master.Client, at.Addr, remoting.ReqGetAllSubscriptionGroupConfig, nil, decodeGroups)
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
	_, err = master.change(ctx, code, nil, body)
	done.Sent = mayBeDone(err)
	return done, err
}
