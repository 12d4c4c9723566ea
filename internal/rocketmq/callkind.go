// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import "github.com/lockstep-dev/lockstep/internal/remoting"

// Kind says whether a call reads or changes.
type Kind string

// Kinds of calls.
const (
	Reading  Kind = "reading"
	Changing Kind = "changing"
)

// CallKind says whether a request code reads or changes. A code that no method
// of [Client] sends counts as changing. Reading codes that still leave a trace
// are 31 (an empty queue object for an unknown id, rocketmq.md 3.20) and 11
// (a pull offset, rocketmq-live.md 1.1).
func CallKind(code int) Kind {
	switch code {
	case remoting.ReqPullMessage,
		remoting.ReqQueryConsumerOffset,
		remoting.ReqGetAllTopicConfig,
		remoting.ReqGetBrokerConfig,
		remoting.ReqGetBrokerRuntimeInfo,
		remoting.ReqGetMaxOffset,
		remoting.ReqGetMinOffset,
		remoting.ReqGetConsumerListByGroup,
		remoting.ReqGetAllConsumerOffset,
		remoting.ReqGetTimerMetrics,
		remoting.ReqGetKVConfig,
		remoting.ReqGetRouteInfoByTopic,
		remoting.ReqGetBrokerClusterInfo,
		remoting.ReqGetAllSubscriptionGroupConfig,
		remoting.ReqGetConsumerConnectionList,
		remoting.ReqGetAllTopicListFromNameServer,
		remoting.ReqGetKVListByNamespace,
		remoting.ReqGetSystemTopicListFromBroker,
		remoting.ReqGetConsumerRunningInfo,
		remoting.ReqQueryConsumeQueue,
		remoting.ReqQuerySubscriptionByConsumer,
		remoting.ReqGetTopicConfig,
		remoting.ReqGetAllMessageRequestMode:
		return Reading
	default:
		return Changing
	}
}
