// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Runtime asks a broker for its running state (call 28, rocketmq.md 3.23) and
// remembers its version.
func (c *Client) Runtime(ctx context.Context, addr string) (snapshot.Runtime, error) {
	r, _, err := c.runtime(ctx, addr)
	return r, err
}

func (c *Client) runtime(ctx context.Context, addr string) (snapshot.Runtime, uint64, error) {
	const code = remoting.ReqGetBrokerRuntimeInfo
	reply, generation, err := c.call(ctx, addr, code, nil, nil)
	if err != nil {
		return snapshot.Runtime{}, generation, err
	}
	r, err := decodeRuntime(reply.Body, reply.Version)
	if err != nil {
		return snapshot.Runtime{}, generation, malformed(addr, code, err)
	}
	c.versions.learn(addr, metVersion{version: r.Version, generation: generation})
	return r, generation, nil
}

// decodeRuntime reads the table of call 28. Brokers from 5.5 no longer put their
// version's ordinal in it; the header of every reply has it as well.
func decodeRuntime(body []byte, version int) (snapshot.Runtime, error) {
	var wire struct {
		Table map[string]string `json:"table" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return snapshot.Runtime{}, err
	}
	t := table{values: wire.Table}
	r := snapshot.Runtime{
		Version:           version,
		VersionText:       t.text("brokerVersionDesc"),
		Booted:            time.UnixMilli(t.number("bootTimestamp")),
		DispatchBehind:    t.number("dispatchBehindBytes"),
		TimerReadBehind:   t.optional("timerReadBehind"),
		TimerOffsetBehind: t.optional("timerOffsetBehind"),
	}
	r.Delay = t.delay()
	if ordinal := t.optional("brokerVersion"); ordinal != 0 {
		r.Version = int(ordinal)
	}
	if r.Version <= 0 {
		t.fail(missing("the broker's version"))
	}
	if t.err != nil {
		return snapshot.Runtime{}, t.err
	}
	return r, nil
}

// scheduleKey begins the keys of the progress of delay levels: "delivered,max".
const scheduleKey = "scheduleMessageOffset_"

// delay reads the progress of every level that was ever used; a level without a
// key never was.
func (t *table) delay() map[int]snapshot.Progress {
	levels := map[int]snapshot.Progress{}
	for key, text := range t.values {
		suffix, ok := strings.CutPrefix(key, scheduleKey)
		if !ok {
			continue
		}
		level, err := strconv.Atoi(suffix)
		left, right, cut := strings.Cut(text, ",")
		delivered, err1 := strconv.ParseInt(left, 10, 64)
		most, err2 := strconv.ParseInt(right, 10, 64)
		if err != nil || !cut || err1 != nil || err2 != nil {
			t.fail(fmt.Errorf("%s is not of the form delivered,max", scheduleKey))
			continue
		}
		levels[level] = snapshot.Progress{Delivered: delivered, Max: most}
	}
	return levels
}
