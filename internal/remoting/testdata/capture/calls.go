// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// recorded is a call; its answer goes to <name>.frame.
type recorded struct {
	name       string
	nameServer bool
	cmd        remoting.Command
}

func call(name string, code int, fields ...string) recorded {
	ext := map[string]string{}
	for i := 0; i+1 < len(fields); i += 2 {
		ext[fields[i]] = fields[i+1]
	}
	return recorded{name: name, cmd: remoting.Command{Code: code, ExtFields: ext}}
}

func (r recorded) toNameServer() recorded {
	r.nameServer = true
	return r
}

func (r recorded) inBinary() recorded {
	r.cmd.Encoding = remoting.Binary
	return r
}

func (r recorded) with(body string) recorded {
	r.cmd.Body = []byte(body)
	return r
}

const (
	topic    = "Orders"
	group    = "orders_reader"
	producer = "orders_writer"
)

// setUp makes a topic with messages, and a group with a member and offsets.
func setUp() []recorded {
	out := []recorded{
		call("create topic", remoting.ReqUpdateAndCreateTopic, "topic", topic, "defaultTopic", "TBW102",
			"readQueueNums", "4", "writeQueueNums", "4", "perm", "6", "topicFilterType", "SINGLE_TAG",
			"topicSysFlag", "0", "order", "false", "attributes", "+message.type=NORMAL"),
		call("create group", remoting.ReqUpdateAndCreateSubscriptionGroup).with(`{"groupName":"` + group + `"}`),
	}
	for queue := range 4 {
		out = append(out, call("send", remoting.ReqSendMessage, "producerGroup", producer, "topic", topic,
			"defaultTopic", "TBW102", "defaultTopicQueueNums", "4", "queueId", strconv.Itoa(queue), "sysFlag", "0",
			"bornTimestamp", strconv.FormatInt(time.Now().UnixMilli(), 10), "flag", "0", "properties", "TAGS\x01a\x02",
			"reconsumeTimes", "0").with("hello"))
	}
	return append(out,
		call("heartbeat", remoting.ReqHeartBeat).with(`{"clientID":"10.0.0.1@1","consumerDataSet":[{"groupName":"`+group+
			`","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET",`+
			`"subscriptionDataSet":[{"topic":"`+topic+`","subString":"a || b","tagsSet":["a","b"],"codeSet":[97,98],"subVersion":1}],`+
			`"unitMode":false}],"producerDataSet":[{"groupName":"`+producer+`"}]}`),
		call("commit", remoting.ReqUpdateConsumerOffset, "consumerGroup", group, "topic", topic, "queueId", "0", "commitOffset", "1"),
		call("commit", remoting.ReqUpdateConsumerOffset, "consumerGroup", group, "topic", topic, "queueId", "3", "commitOffset", "0"),
	)
}

// calls are those whose answers are recorded.
func calls(version string) []recorded {
	out := []recorded{
		call("cluster", remoting.ReqGetBrokerClusterInfo).toNameServer(),
		call("route", remoting.ReqGetRouteInfoByTopic, "topic", topic).toNameServer(),
		call("route-binary", remoting.ReqGetRouteInfoByTopic, "topic", topic).toNameServer().inBinary(),
		call("route-none", remoting.ReqGetRouteInfoByTopic, "topic", "Nothing").toNameServer(),
		call("topic-names", remoting.ReqGetAllTopicListFromNameServer).toNameServer(),
		call("topics", remoting.ReqGetAllTopicConfig),
		call("groups", remoting.ReqGetAllSubscriptionGroupConfig),
		call("stats", remoting.ReqGetTopicStatsInfo, "topic", topic),
		call("stats-binary", remoting.ReqGetTopicStatsInfo, "topic", topic).inBinary(),
		call("stats-none", remoting.ReqGetTopicStatsInfo, "topic", "Nothing"),
		call("offsets", remoting.ReqGetAllConsumerOffset),
		call("consume-stats", remoting.ReqGetConsumeStats, "consumerGroup", group),
		call("members", remoting.ReqGetConsumerConnectionList, "consumerGroup", group),
		call("members-none", remoting.ReqGetConsumerConnectionList, "consumerGroup", "nobody"),
		call("member-ids", remoting.ReqGetConsumerListByGroup, "consumerGroup", group),
		call("producers", remoting.ReqGetProducerConnectionList, "producerGroup", producer),
		call("who-consumes", remoting.ReqQueryTopicConsumeByWho, "topic", topic),
		call("max-offset", remoting.ReqGetMaxOffset, "topic", topic, "queueId", "0"),
		call("max-offset-binary", remoting.ReqGetMaxOffset, "topic", topic, "queueId", "0").inBinary(),
		call("delay-offsets", remoting.ReqGetAllDelayOffset),
		call("topic-incomplete", remoting.ReqUpdateAndCreateTopic, "topic", topic),
		call("unknown-code", 9999),
	}
	if strings.HasPrefix(version, "4.") {
		return append(out, call("topic-unsupported", remoting.ReqGetTopicConfig, "topic", topic))
	}
	return append(out,
		call("topic", remoting.ReqGetTopicConfig, "topic", topic),
		call("topic-none", remoting.ReqGetTopicConfig, "topic", "Nothing"),
		call("timers", remoting.ReqGetTimerMetrics),
		call("request-modes", remoting.ReqGetAllMessageRequestMode),
		call("subscription", remoting.ReqQuerySubscriptionByConsumer, "group", group, "topic", topic),
		call("topics-of-group", remoting.ReqQueryTopicsByConsumer, "group", group),
		call("all-producers", remoting.ReqGetAllProducerInfo),
	)
}
