// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"reflect"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// fuzzBody feeds a decoder what released servers answered, and what grows from
// it. A body is an error or an answer, the same one each time it is read, and
// never both.
func fuzzBody[T any](f *testing.F, decode func([]byte) (T, error), code int, seeds ...string) {
	for _, version := range versionsCaptured() {
		if body, ok := captured(f, version, code); ok {
			f.Add(body)
		}
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var none T
		first, err := decode(body)
		again, errAgain := decode(body)
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(first, again) {
			t.Fatalf("two readings differ:\n%+v, %v\n%+v, %v", first, err, again, errAgain)
		}
		if err != nil && !reflect.DeepEqual(first, none) {
			t.Fatalf("an answer with an error: %+v, %v", first, err)
		}
	})
}

func FuzzClusterInfo(f *testing.F) {
	fuzzBody(f, decodeClusterInfo, remoting.ReqGetBrokerClusterInfo)
}

func FuzzRoute(f *testing.F) {
	fuzzBody(f, decodeRoute, remoting.ReqGetRouteInfoByTopic,
		`{"brokerDatas":[{"brokerAddrs":{0:"a:1"},"brokerName":"a","cluster":"C"}],"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":8,"writeQueueNums":4}],"orderTopicConf":"a:8"}`)
}

func FuzzTopicList(f *testing.F) {
	fuzzBody(f, decodeTopicList, remoting.ReqGetAllTopicListFromNameServer, `{"brokerAddr":"x","topicList":["T"]}`)
}

func FuzzKVList(f *testing.F) { fuzzBody(f, decodeKVList, remoting.ReqGetKVListByNamespace) }

func FuzzRuntime(f *testing.F) {
	fuzzBody(f, func(body []byte) (snapshot.Runtime, error) { return decodeRuntime(body, v500) }, remoting.ReqGetBrokerRuntimeInfo,
		`{"table":{"brokerVersion":"475","brokerVersionDesc":"V","bootTimestamp":"1","dispatchBehindBytes":"0","scheduleMessageOffset_2":"1,4"}}`)
}

func FuzzSettings(f *testing.F) {
	fuzzBody(f, decodeSettings, remoting.ReqGetBrokerConfig, settingsBody)
}

func FuzzTopicConfig(f *testing.F) {
	fuzzBody(f, decodeTopicConfig, remoting.ReqGetTopicConfig, fifoBody)
}

func FuzzTopicTable(f *testing.F) {
	fuzzBody(f, decodeTopicTable, remoting.ReqGetAllTopicConfig,
		`{"dataVersion":{"counter":3,"timestamp":17},"topicConfigTable":{"TF":`+fifoBody+`},"topicQueueMappingDetailMap":{"TF":{}}}`)
}

func FuzzGroups(f *testing.F) {
	fuzzBody(f, decodeGroups, remoting.ReqGetAllSubscriptionGroupConfig)
}

func FuzzCommitted(f *testing.F) {
	fuzzBody(f, decodeCommitted, remoting.ReqGetAllConsumerOffset,
		`{"offsetTable":{"T1@GX":{0:3,7:12},"T1@GB@broadcast":{0:8},"odd":{0:1}},"pullOffsetTable":{"T1@GP":{0:4}},"lmqOffsetTable":{"%LMQ%a@%LMQ%g":17}}`)
}

func FuzzMembers(f *testing.F) { fuzzBody(f, decodeMembers, remoting.ReqGetConsumerConnectionList) }

func FuzzMemberIDs(f *testing.F) { fuzzBody(f, decodeMemberIDs, remoting.ReqGetConsumerListByGroup) }

func FuzzRunningInfo(f *testing.F) {
	fuzzBody(f, decodeReport, remoting.ReqGetConsumerRunningInfo, reportBody)
}

func FuzzSubscription(f *testing.F) {
	fuzzBody(f, decodeSubscriptionOf, remoting.ReqQuerySubscriptionByConsumer, `{"group":"GH","topic":"T1"}`)
}

func FuzzTimers(f *testing.F) {
	fuzzBody(f, decodeTimers, remoting.ReqGetTimerMetrics, `{"timingCount":{"TP":{"count":3,"timeStamp":1}}}`)
}

func FuzzRequestModes(f *testing.F) {
	fuzzBody(f, decodeModes, remoting.ReqGetAllMessageRequestMode, `{"messageRequestModeMap":{"TP":{"GP":{"mode":"POP"}}}}`)
}

func FuzzConsumeQueue(f *testing.F) { fuzzBody(f, decodeIndex, remoting.ReqQueryConsumeQueue) }

func FuzzMessages(f *testing.F) {
	fuzzBody(f, decodeMessages, remoting.ReqPullMessage,
		string(encode(message(), magicV1, messageProperties)), string(encode(message(), magicV2, messageProperties)))
}
