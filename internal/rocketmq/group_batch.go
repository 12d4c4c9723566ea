// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// GroupBatch is what CreateGroups found and did.
type GroupBatch struct {
	// Sent are the groups whose creation may have been carried out, in the
	// order asked for.
	Sent []string
	// Existing are groups asked for that were there already; none of them was
	// sent.
	Existing map[string]snapshot.GroupConfig
}

// CreateGroups creates groups on one master: in one request on brokers from
// 5.3.1 (call 225), one by one before (call 200). It is for first creation
// only: groups that exist are left out. Success proves nothing: the caller
// reads back with AllGroups. After an error the groups in Sent may be there and
// the others are not.
func (c *Client) CreateGroups(ctx context.Context, at Master, wanted []snapshot.GroupConfig) (GroupBatch, error) {
	const code = remoting.ReqUpdateAndCreateSubscriptionList
	batch := GroupBatch{Existing: map[string]snapshot.GroupConfig{}}
	if err := mayCreateGroups(at, code, wanted); err != nil || len(wanted) == 0 {
		return batch, err
	}
	master, err := c.prove(ctx, at)
	if err != nil {
		return batch, err
	}
	can, err := master.Capability(ctx, at.Addr)
	if err != nil {
		return batch, err
	}
	if can.GroupBatch {
		err = master.createGroupsTogether(ctx, wanted, &batch)
		return batch, err
	}
	for some := range slices.Chunk(wanted, singlesPerRead) {
		if err := c.createGroupsSingly(ctx, at, some, &batch); err != nil {
			return batch, err
		}
	}
	return batch, nil
}

// newGroup is a group that is wanted and does not exist, as a request has it.
type newGroup struct {
	name string
	body json.RawMessage
}

// createGroupsTogether is one request for all groups that do not exist.
func (p proven) createGroupsTogether(ctx context.Context, wanted []snapshot.GroupConfig, batch *GroupBatch) error {
	const code = remoting.ReqUpdateAndCreateSubscriptionList
	absent, err := p.absentGroups(ctx, code, wanted, batch)
	if err != nil || len(absent) == 0 {
		return err
	}
	bodies := make([]json.RawMessage, 0, len(absent))
	for _, group := range absent {
		bodies = append(bodies, group.body)
	}
	body, err := json.Marshal(map[string][]json.RawMessage{"groupConfigList": bodies})
	if err != nil {
		return err
	}
	_, err = p.change(ctx, code, nil, body)
	if mayBeDone(err) {
		for _, group := range absent {
			batch.Sent = append(batch.Sent, group.name)
		}
	}
	return err
}

// createGroupsSingly is one request for each group that does not exist.
func (c *Client) createGroupsSingly(ctx context.Context, at Master, wanted []snapshot.GroupConfig, batch *GroupBatch) error {
	const code = remoting.ReqUpdateAndCreateSubscriptionGroup
	master, err := c.prove(ctx, at)
	if err != nil {
		return err
	}
	absent, err := master.absentGroups(ctx, code, wanted, batch)
	if err != nil {
		return err
	}
	for _, group := range absent {
		_, err := master.change(ctx, code, nil, group.body)
		if mayBeDone(err) {
			batch.Sent = append(batch.Sent, group.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// absentGroups reads all groups and returns those of wanted that do not exist;
// the others go into batch.Existing.
func (p proven) absentGroups(ctx context.Context, code int, wanted []snapshot.GroupConfig, batch *GroupBatch) ([]newGroup, error) {
	there, err := p.AllGroups(ctx, p.at.Addr)
	if err != nil {
		return nil, err
	}
	var absent []newGroup
	for _, want := range wanted {
		if config, ok := there.Groups[want.Name]; ok {
			batch.Existing[want.Name] = config
			continue
		}
		body, err := rawGroup{config: snapshot.DefaultGroup(want.Name)}.turnedInto(want)
		if err != nil {
			return nil, &NotSentError{Addr: p.at.Addr, Code: code, Why: "group " + want.Name, Err: err}
		}
		absent = append(absent, newGroup{name: want.Name, body: body})
	}
	return absent, nil
}

// mayCreateGroups refuses a batch before anything of it is sent.
func mayCreateGroups(at Master, code int, wanted []snapshot.GroupConfig) error {
	seen := make(map[string]struct{}, len(wanted))
	for _, want := range wanted {
		if _, twice := seen[want.Name]; twice {
			return notSent(at.Addr, code, "group %q is in the batch twice", want.Name)
		}
		seen[want.Name] = struct{}{}
		if err := mayWriteGroup(at.Addr, code, want.Name); err != nil {
			return err
		}
		if _, err := (rawGroup{config: snapshot.DefaultGroup(want.Name)}).turnedInto(want); err != nil {
			return &NotSentError{Addr: at.Addr, Code: code, Why: "group " + want.Name, Err: err}
		}
	}
	return nil
}
