// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Members asks a broker, or a proxy's remoting port, for a group's connected
// members and merged subscriptions (call 203, rocketmq.md 3.14, 5.3). A group
// without members there is an answer: the zero Membership. Brokers do not list
// the gRPC members of CLUSTER proxies, so "no members" on brokers alone does
// not mean that nobody consumes (rocketmq.md 5.6).
func (c *Client) Members(ctx context.Context, addr, group string) (snapshot.Membership, error) {
	m, err := readBody(ctx, c, addr, remoting.ReqGetConsumerConnectionList, fields{"consumerGroup": group}, decodeMembers)
	if answered(err, remoting.RespConsumerNotOnline) {
		return snapshot.Membership{}, nil
	}
	return m, err
}

func decodeMembers(body []byte) (snapshot.Membership, error) {
	var wire struct {
		Members []struct {
			ClientID *string `json:"clientId" fastjson:"required"`
			Address  *string `json:"clientAddr" fastjson:"required"`
			Language *string `json:"language" fastjson:"required"`
			Version  *int    `json:"version" fastjson:"required"`
		} `json:"connectionSet" fastjson:"required"`
		Table        map[string]*subscription `json:"subscriptionTable" fastjson:"required"`
		ConsumeType  *string                  `json:"consumeType" fastjson:"required"`
		MessageModel *string                  `json:"messageModel" fastjson:"required"`
		ConsumeFrom  string                   `json:"consumeFromWhere"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return snapshot.Membership{}, err
	}
	m := snapshot.Membership{
		Table:        map[string]snapshot.Subscription{},
		ConsumeType:  *wire.ConsumeType,
		MessageModel: *wire.MessageModel,
		ConsumeFrom:  wire.ConsumeFrom,
	}
	for _, w := range wire.Members {
		m.Members = append(m.Members, snapshot.Member{
			ClientID: *w.ClientID, Address: *w.Address, Language: *w.Language, Version: *w.Version,
		})
	}
	for topic, w := range wire.Table {
		if w == nil || *w.Topic != topic {
			return snapshot.Membership{}, errors.New("an entry of subscriptionTable does not bear its topic's name")
		}
		m.Table[topic] = w.value()
	}
	return m, nil
}

// MemberIDs asks a broker, or a proxy's remoting port, for the client ids that
// classic members sort to share out queues (call 38, rocketmq.md 3.16). A group
// without members there is an answer: an empty list.
func (c *Client) MemberIDs(ctx context.Context, addr, group string) ([]string, error) {
	ids, err := readBody(ctx, c, addr, remoting.ReqGetConsumerListByGroup, fields{"consumerGroup": group}, decodeMemberIDs)
	if isKind(err, remoting.NotFound) {
		return nil, nil
	}
	return ids, err
}

func decodeMemberIDs(body []byte) ([]string, error) {
	var wire struct {
		IDs []*string `json:"consumerIdList" fastjson:"required"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range wire.IDs {
		if id == nil || *id == "" {
			return nil, missing("a client id in consumerIdList")
		}
		ids = append(ids, *id)
	}
	return ids, nil
}

// grpcSigns is how many "@" the client id of a gRPC member has:
// hostname@pid@index@time (rocketmq.md 5.5).
const grpcSigns = 3

// IsGRPC reports whether a client id has the form that gRPC members have.
func IsGRPC(clientID string) bool { return strings.Count(clientID, "@") >= grpcSigns }

// RunningInfo asks one member for its own subscriptions and queues, through
// the broker that lists it (call 307, rocketmq.md 3.15). The broker waits up to
// 10 s for the client. A member that is gone is an error of kind NotFound, one
// that does not answer of kind Timeout (case P12). gRPC members cannot answer
// and cost the whole 10 s, so their ids are refused (rocketmq-live.md 1.2).
func (c *Client) RunningInfo(ctx context.Context, addr, group, clientID string) (snapshot.MemberReport, error) {
	const code = remoting.ReqGetConsumerRunningInfo
	if IsGRPC(clientID) {
		return snapshot.MemberReport{}, notSent(addr, code, "%.200q is a gRPC member, which cannot answer", clientID)
	}
	return readBody(ctx, c, addr, code, fields{
		"consumerGroup": group, "clientId": clientID, "jstackEnable": btoa(false),
	}, decodeReport)
}

// SubscriptionByConsumer asks a broker what it has of one group's subscription to one
// topic (call 345, brokers from 5.0; an error of kind Unsupported before). It
// also knows what POP members and pulls brought along in the last ten minutes,
// which Members does not (rocketmq.md 3.19). False means that it has none.
func (c *Client) SubscriptionByConsumer(ctx context.Context, addr, group, topic string) (snapshot.Subscription, bool, error) {
	const code = remoting.ReqQuerySubscriptionByConsumer
	s, err := readBody(ctx, c, addr, code, fields{"group": group, "topic": topic}, decodeSubscriptionOf)
	if err != nil || s == nil {
		return snapshot.Subscription{}, false, err
	}
	return s.value(), true, nil
}

func decodeSubscriptionOf(body []byte) (*subscription, error) {
	var wire struct {
		Group        *string       `json:"group" fastjson:"required"`
		Subscription *subscription `json:"subscriptionData"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	return wire.Subscription, nil
}
