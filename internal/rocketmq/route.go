// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/remoting/fastjson"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TopicRoute asks a name server for a topic's route (call 105, rocketmq.md
// 3.2). A topic that has none is an answer, with Present false; a name server
// in its warm-up is an error of kind Busy. Brokers of other clusters are
// included.
func (c *Client) TopicRoute(ctx context.Context, nameServer, topic string) (snapshot.Route, error) {
	ext := fields{"topic": topic, "acceptStandardJsonOnly": btoa(true)}
	route, err := readBody(ctx, c, nameServer, remoting.ReqGetRouteInfoByTopic, ext, decodeRoute)
	if answered(err, remoting.RespTopicNotExist) {
		return snapshot.Route{}, nil
	}
	return route, err
}

func decodeRoute(body []byte) (snapshot.Route, error) {
	var wire struct {
		Brokers []brokerData `json:"brokerDatas" fastjson:"required"`
		Queues  []struct {
			Broker *string `json:"brokerName" fastjson:"required"`
			Read   *int    `json:"readQueueNums" fastjson:"required"`
			Write  *int    `json:"writeQueueNums" fastjson:"required"`
			Perm   *int    `json:"perm" fastjson:"required"`
		} `json:"queueDatas" fastjson:"required"`
		OrderConf string `json:"orderTopicConf"`
	}
	if err := fastjson.Unmarshal(body, &wire); err != nil {
		return snapshot.Route{}, err
	}
	route := snapshot.Route{
		Present:   true,
		Queues:    map[string]snapshot.RouteQueues{},
		Masters:   map[string]string{},
		Clusters:  map[string]string{},
		OrderConf: wire.OrderConf,
	}
	for _, data := range wire.Brokers {
		replicas, err := data.replicas()
		if err != nil {
			return snapshot.Route{}, err
		}
		if _, twice := route.Clusters[*data.Name]; twice {
			return snapshot.Route{}, errors.New("brokerDatas has a broker name twice")
		}
		route.Clusters[*data.Name] = *data.Cluster
		if master, ok := replicas[0]; ok {
			route.Masters[*data.Name] = master
		}
	}
	for _, q := range wire.Queues {
		if _, twice := route.Queues[*q.Broker]; twice {
			return snapshot.Route{}, errors.New("queueDatas has a broker name twice")
		}
		if _, ok := route.Clusters[*q.Broker]; !ok {
			return snapshot.Route{}, fmt.Errorf("queueDatas names a broker that brokerDatas does not")
		}
		route.Queues[*q.Broker] = snapshot.RouteQueues{Read: *q.Read, Write: *q.Write, Perm: snapshot.Perm(*q.Perm)}
	}
	return route, nil
}
