// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
)

// Request modes of a consumer group on a topic.
const (
	ModePull = "PULL"
	ModePop  = "POP"
)

// MessageRequestModes asks a broker for the message request modes that were set, by
// topic and group (call 402, rocketmq.md 3.23); what is not in it is ModePull.
// A group in ModePop pops although its members look classic (rule R07). 4.9 has
// no POP and answers an empty map.
func (c *Client) MessageRequestModes(ctx context.Context, addr string) (map[string]map[string]string, error) {
	modes, err := readBody(ctx, c, addr, remoting.ReqGetAllMessageRequestMode, nil, decodeModes)
	if isKind(err, remoting.Unsupported) {
		return map[string]map[string]string{}, nil
	}
	return modes, err
}

func decodeModes(body []byte) (map[string]map[string]string, error) {
	var wire struct {
		Topics map[string]map[string]*struct {
			Mode *string `json:"mode" fastjson:"required"`
		} `json:"messageRequestModeMap" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	modes := make(map[string]map[string]string, len(wire.Topics))
	for topic, groups := range wire.Topics {
		if groups == nil {
			return nil, missing("the groups of a topic in messageRequestModeMap")
		}
		modes[topic] = make(map[string]string, len(groups))
		for group, w := range groups {
			if w == nil {
				return nil, missing("a mode in messageRequestModeMap")
			}
			modes[topic][group] = *w.Mode
		}
	}
	return modes, nil
}
