// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// TimerMetrics asks a broker how many messages of each topic are in its timer
// wheel (call 61, rocketmq.md 3.23). A topic that is not in it has none. The
// counts say nothing while Runtime shows the wheel behind, and nothing where
// Settings says TimerOutsideWheel. A broker without a wheel (4.9, or switched
// off) answers an empty map.
func (c *Client) TimerMetrics(ctx context.Context, addr string) (map[string]int64, error) {
	counts, err := readBody(ctx, c, addr, remoting.ReqGetTimerMetrics, nil, decodeTimers)
	if isKind(err, remoting.Unsupported) {
		return map[string]int64{}, nil
	}
	return counts, err
}

func decodeTimers(body []byte) (map[string]int64, error) {
	var wire struct {
		Counts map[string]*struct {
			Count *int64 `json:"count" fastjson:"required"`
		} `json:"timingCount" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(wire.Counts))
	for topic, w := range wire.Counts {
		if w == nil {
			return nil, missing("a count in timingCount")
		}
		counts[topic] = *w.Count
	}
	return counts, nil
}
