// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// jsonDecoder is the decoder of one call's body, without its result.
type jsonDecoder struct {
	code   int
	decode func([]byte) error
}

func drop[T any](decode func([]byte) (T, error)) func([]byte) error {
	return func(body []byte) error {
		_, err := decode(body)
		return err
	}
}

// jsonDecoders are all decoders of JSON bodies.
func jsonDecoders() []jsonDecoder {
	return []jsonDecoder{
		{remoting.ReqGetBrokerClusterInfo, drop(decodeClusterInfo)},
		{remoting.ReqGetRouteInfoByTopic, drop(decodeRoute)},
		{remoting.ReqGetAllTopicListFromNameServer, drop(decodeTopicList)},
		{remoting.ReqGetSystemTopicListFromBroker, drop(decodeTopicList)},
		{remoting.ReqGetKVListByNamespace, drop(decodeKVList)},
		{remoting.ReqGetBrokerRuntimeInfo, func(b []byte) error {
			_, err := decodeRuntime(b, v500)
			return err
		}},
		{remoting.ReqGetTopicConfig, drop(decodeTopicConfig)},
		{remoting.ReqGetAllTopicConfig, drop(decodeTopicTable)},
		{remoting.ReqGetAllSubscriptionGroupConfig, drop(decodeGroups)},
		{remoting.ReqGetAllConsumerOffset, drop(decodeCommitted)},
		{remoting.ReqGetConsumerConnectionList, drop(decodeMembers)},
		{remoting.ReqGetConsumerListByGroup, drop(decodeMemberIDs)},
		{remoting.ReqGetConsumerRunningInfo, drop(decodeReport)},
		{remoting.ReqQuerySubscriptionByConsumer, drop(decodeSubscriptionOf)},
		{remoting.ReqGetTimerMetrics, drop(decodeTimers)},
		{remoting.ReqGetAllMessageRequestMode, drop(decodeModes)},
		{remoting.ReqQueryConsumeQueue, drop(decodeIndex)},
	}
}

// TestP01_CapturedRepliesOfEveryVersion decodes what released servers answered;
// 4.9.7 and 5.3.3 write with fastjson 1, 5.5.0 with fastjson 2.
func TestP01_CapturedRepliesOfEveryVersion(t *testing.T) {
	newIn5 := map[int]bool{
		remoting.ReqGetTopicConfig: true, remoting.ReqQuerySubscriptionByConsumer: true,
		remoting.ReqGetTimerMetrics: true, remoting.ReqGetAllMessageRequestMode: true,
	}
	for _, d := range jsonDecoders() {
		for _, version := range versionsCaptured() {
			t.Run(remoting.RequestName(d.code)+"/"+version, func(t *testing.T) {
				g := NewWithT(t)
				body, ok := captured(t, version, d.code)
				g.Expect(ok).To(Equal(version != "4.9.7" || !newIn5[d.code]), "whether the version has the call")
				if ok {
					g.Expect(d.decode(body)).To(Succeed())
				}
			})
		}
	}
}

// TestP01_HalfABodyIsNeverAnAnswer cuts every captured body at every byte.
func TestP01_HalfABodyIsNeverAnAnswer(t *testing.T) {
	for _, d := range jsonDecoders() {
		for _, version := range versionsCaptured() {
			body, ok := captured(t, version, d.code)
			if !ok {
				continue
			}
			t.Run(remoting.RequestName(d.code)+"/"+version, func(t *testing.T) {
				g := NewWithT(t)
				for n := range body {
					if n > 600 && n%97 != 0 && n < len(body)-50 {
						continue // every byte at both ends, samples in the middle of long bodies
					}
					g.Expect(d.decode(body[:n])).NotTo(Succeed(), "cut after %d of %d bytes", n, len(body))
				}
			})
		}
	}
}

// TestP01_UnknownShapesAreErrors gives every decoder what it does not expect.
func TestP01_UnknownShapesAreErrors(t *testing.T) {
	for _, d := range jsonDecoders() {
		for _, body := range []string{
			``, `null`, `{}`, `[]`, `0`, `"x"`, `true`, `{"x":1}`, `<html></html>`, "\x00\x00", `{"error":"busy"}`,
			`{"table":null}`, `{"topicList":null}`, `{"topicList":[null]}`, `{"topicList":[""]}`, `{"table":{"a":null}}`,
			`{"offsetTable":null}`, `{"offsetTable":{"T@G":null}}`, `{"offsetTable":{"T@G":{0:null}}}`, `{"offsetTable":{"T@G":{"x":1}}}`,
			`{"offsetTable":{"T@G":[1]}}`, `{"offsetTable":[]}`, `{"offsetTable":{},"pullOffsetTable":{"T@G":{0:null}}}`,
			`{"offsetTable":{},"lmqOffsetTable":{"%LMQ%a@%LMQ%g":null}}`,
			`{"consumerIdList":null}`, `{"consumerIdList":[null]}`, `{"timingCount":{"T":null}}`, `{"timingCount":{"T":{}}}`,
			`{"messageRequestModeMap":{"T":null}}`, `{"messageRequestModeMap":{"T":{"G":null}}}`, `{"messageRequestModeMap":{"T":{"G":{}}}}`,
			`{"minQueueIndex":5,"maxQueueIndex":4,"queueData":[]}`, `{"minQueueIndex":0,"maxQueueIndex":4}`,
			`{"minQueueIndex":0,"maxQueueIndex":4,"queueData":[{}]}`,
			`{"brokerAddrTable":{"a":null},"clusterAddrTable":{}}`, `{"brokerAddrTable":{},"clusterAddrTable":{"C":null}}`,
			`{"brokerAddrTable":{},"clusterAddrTable":{"C":[""]}}`, `{"brokerAddrTable":{}}`, `{"clusterAddrTable":{}}`,
			`{"brokerAddrTable":{"a":{"brokerName":"b","cluster":"C","brokerAddrs":{}}},"clusterAddrTable":{}}`,
			`{"brokerAddrTable":{"a":{"brokerName":"a","cluster":"C","brokerAddrs":{"x":"1"}}},"clusterAddrTable":{}}`,
			`{"brokerAddrTable":{"a":{"brokerName":"a","cluster":"C","brokerAddrs":{0:""}}},"clusterAddrTable":{}}`,
			`{"brokerAddrTable":{"a":{"brokerName":"a","cluster":"C","brokerAddrs":{0:null}}},"clusterAddrTable":{}}`,
			`{"brokerDatas":[],"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1,"perm":6}]}`,
			`{"brokerDatas":[{"brokerName":"a","cluster":"C","brokerAddrs":{}},{"brokerName":"a","cluster":"C","brokerAddrs":{}}],"queueDatas":[]}`,
			`{"brokerDatas":[{"brokerName":"a","cluster":"C","brokerAddrs":{}}],"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1}]}`,
			`{"brokerDatas":[{"brokerName":"a","cluster":"C","brokerAddrs":{}}],"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1,"perm":6},{"brokerName":"a","readQueueNums":1,"writeQueueNums":1,"perm":6}]}`,
			`{"brokerDatas":[]}`, `{"queueDatas":[]}`,
			`{"topicConfigTable":{}}`, `{"dataVersion":{"counter":1,"timestamp":1}}`, `{"dataVersion":{"counter":1},"topicConfigTable":{}}`,
			`{"dataVersion":{"counter":1,"timestamp":1},"topicConfigTable":{"T":null}}`,
			`{"dataVersion":{"counter":1,"timestamp":1},"topicConfigTable":{"T":{"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"U","topicSysFlag":0,"writeQueueNums":8}}}`,
			`{"dataVersion":{"counter":1,"timestamp":1},"topicConfigTable":{"T":{"order":false,"perm":6,"topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":0,"writeQueueNums":8}}}`,
			`{"topicName":"T","perm":6,"order":false,"topicSysFlag":0,"topicFilterType":"SINGLE_TAG","readQueueNums":8}`,
			`{"dataVersion":{"counter":1,"timestamp":1},"subscriptionGroupTable":{"G":null}}`,
			`{"dataVersion":{"counter":1,"timestamp":1},"subscriptionGroupTable":{"G":{"groupName":"G"}}}`,
			`{"connectionSet":[],"consumeType":"X","messageModel":"Y"}`, `{"connectionSet":[{}],"subscriptionTable":{},"consumeType":"X","messageModel":"Y"}`,
			`{"connectionSet":[],"subscriptionTable":{"T":null},"consumeType":"X","messageModel":"Y"}`,
			`{"connectionSet":[],"subscriptionTable":{"T":{"topic":"U","subString":"*"}},"consumeType":"X","messageModel":"Y"}`,
			`{"properties":{},"subscriptionSet":[]}`, `{"properties":{},"mqTable":{}}`,
			`{"properties":{},"subscriptionSet":[{}],"mqTable":{}}`,
			`{"properties":{},"subscriptionSet":[],"mqTable":{{"brokerName":"a","queueId":0,"topic":"T"}:{}}}`,
			`{"properties":{},"subscriptionSet":[],"mqTable":{{"brokerName":"a","queueId":0}:{"commitOffset":1}}}`,
			`{"group":"G","subscriptionData":{}}`, `{"topic":"T"}`,
			`{"table":{"bootTimestamp":"1"}}`, `{"table":{"bootTimestamp":"x","brokerVersionDesc":"V","dispatchBehindBytes":"0"}}`,
			`{"table":{"bootTimestamp":"1","brokerVersionDesc":"V","dispatchBehindBytes":"0","scheduleMessageOffset_2":"1"}}`,
			`{"table":{"bootTimestamp":"1","brokerVersionDesc":"V","dispatchBehindBytes":"0","scheduleMessageOffset_x":"1,1"}}`,
			`{"table":{"bootTimestamp":"1","brokerVersionDesc":"V","dispatchBehindBytes":"0","timerReadBehind":""}}`,
		} {
			if d.code == remoting.ReqGetKVListByNamespace && strings.HasPrefix(body, `{"table":{"bootTimestamp"`) {
				continue // a table of text is a whole answer of that call
			}
			t.Run(strconv.Itoa(d.code)+"/"+body[:min(len(body), 80)], func(t *testing.T) {
				NewWithT(t).Expect(d.decode([]byte(body))).NotTo(Succeed())
			})
		}
	}
}
