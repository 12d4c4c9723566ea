// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "strconv"

// Request codes, named as in RocketMQ's RequestCode. Only calls this project
// makes or answers are listed. Calls that look like reading and change
// something (308 with a filter deletes offsets, 352 creates groups, 41 takes
// queue locks, 306 and 316 delete queues) are left out on purpose
// (rocketmq.md, traps).
const (
	ReqSendMessage                      = 10
	ReqPullMessage                      = 11
	ReqQueryConsumerOffset              = 14
	ReqUpdateConsumerOffset             = 15
	ReqUpdateAndCreateTopic             = 17
	ReqUpdateAndCreateTopicList         = 18
	ReqGetAllTopicConfig                = 21
	ReqGetBrokerConfig                  = 26
	ReqGetBrokerRuntimeInfo             = 28
	ReqSearchOffsetByTimestamp          = 29
	ReqGetMaxOffset                     = 30
	ReqGetMinOffset                     = 31
	ReqHeartBeat                        = 34
	ReqUnregisterClient                 = 35
	ReqConsumerSendMsgBack              = 36
	ReqGetConsumerListByGroup           = 38
	ReqCheckTransactionState            = 39
	ReqNotifyConsumerIdsChanged         = 40
	ReqGetAllConsumerOffset             = 43
	ReqGetAllDelayOffset                = 45
	ReqGetTimerCheckPoint               = 60
	ReqGetTimerMetrics                  = 61
	ReqPutKVConfig                      = 100
	ReqGetKVConfig                      = 101
	ReqDeleteKVConfig                   = 102
	ReqRegisterBroker                   = 103
	ReqUnregisterBroker                 = 104
	ReqGetRouteInfoByTopic              = 105
	ReqGetBrokerClusterInfo             = 106
	ReqUpdateAndCreateSubscriptionGroup = 200
	ReqGetAllSubscriptionGroupConfig    = 201
	ReqGetTopicStatsInfo                = 202
	ReqGetConsumerConnectionList        = 203
	ReqGetProducerConnectionList        = 204
	ReqGetAllTopicListFromNameServer    = 206
	ReqDeleteSubscriptionGroup          = 207
	ReqGetConsumeStats                  = 208
	ReqDeleteTopicInBroker              = 215
	ReqDeleteTopicInNamesrv             = 216
	ReqGetKVListByNamespace             = 219
	ReqResetConsumerClientOffset        = 220
	ReqGetConsumerStatusFromClient      = 221
	ReqInvokeBrokerToResetOffset        = 222
	ReqGetTopicsByCluster               = 224
	ReqUpdateAndCreateSubscriptionList  = 225
	ReqQueryTopicConsumeByWho           = 300
	ReqGetSystemTopicListFromNS         = 304
	ReqGetSystemTopicListFromBroker     = 305
	ReqGetConsumerRunningInfo           = 307
	ReqConsumeMessageDirectly           = 309
	ReqSendMessageV2                    = 310
	ReqQueryConsumeQueue                = 321
	ReqPushReplyMessageToClient         = 326
	ReqGetAllProducerInfo               = 328
	ReqQueryTopicsByConsumer            = 343
	ReqQuerySubscriptionByConsumer      = 345
	ReqGetTopicConfig                   = 351
	ReqSetMessageRequestMode            = 401
	ReqGetAllMessageRequestMode         = 402
)

func requestNames() map[int]string {
	return map[int]string{
		ReqSendMessage:                      "SEND_MESSAGE",
		ReqPullMessage:                      "PULL_MESSAGE",
		ReqQueryConsumerOffset:              "QUERY_CONSUMER_OFFSET",
		ReqUpdateConsumerOffset:             "UPDATE_CONSUMER_OFFSET",
		ReqUpdateAndCreateTopic:             "UPDATE_AND_CREATE_TOPIC",
		ReqUpdateAndCreateTopicList:         "UPDATE_AND_CREATE_TOPIC_LIST",
		ReqGetAllTopicConfig:                "GET_ALL_TOPIC_CONFIG",
		ReqGetBrokerConfig:                  "GET_BROKER_CONFIG",
		ReqGetBrokerRuntimeInfo:             "GET_BROKER_RUNTIME_INFO",
		ReqSearchOffsetByTimestamp:          "SEARCH_OFFSET_BY_TIMESTAMP",
		ReqGetMaxOffset:                     "GET_MAX_OFFSET",
		ReqGetMinOffset:                     "GET_MIN_OFFSET",
		ReqHeartBeat:                        "HEART_BEAT",
		ReqUnregisterClient:                 "UNREGISTER_CLIENT",
		ReqConsumerSendMsgBack:              "CONSUMER_SEND_MSG_BACK",
		ReqGetConsumerListByGroup:           "GET_CONSUMER_LIST_BY_GROUP",
		ReqCheckTransactionState:            "CHECK_TRANSACTION_STATE",
		ReqNotifyConsumerIdsChanged:         "NOTIFY_CONSUMER_IDS_CHANGED",
		ReqGetAllConsumerOffset:             "GET_ALL_CONSUMER_OFFSET",
		ReqGetAllDelayOffset:                "GET_ALL_DELAY_OFFSET",
		ReqGetTimerCheckPoint:               "GET_TIMER_CHECK_POINT",
		ReqGetTimerMetrics:                  "GET_TIMER_METRICS",
		ReqPutKVConfig:                      "PUT_KV_CONFIG",
		ReqGetKVConfig:                      "GET_KV_CONFIG",
		ReqDeleteKVConfig:                   "DELETE_KV_CONFIG",
		ReqRegisterBroker:                   "REGISTER_BROKER",
		ReqUnregisterBroker:                 "UNREGISTER_BROKER",
		ReqGetRouteInfoByTopic:              "GET_ROUTEINFO_BY_TOPIC",
		ReqGetBrokerClusterInfo:             "GET_BROKER_CLUSTER_INFO",
		ReqUpdateAndCreateSubscriptionGroup: "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP",
		ReqGetAllSubscriptionGroupConfig:    "GET_ALL_SUBSCRIPTIONGROUP_CONFIG",
		ReqGetTopicStatsInfo:                "GET_TOPIC_STATS_INFO",
		ReqGetConsumerConnectionList:        "GET_CONSUMER_CONNECTION_LIST",
		ReqGetProducerConnectionList:        "GET_PRODUCER_CONNECTION_LIST",
		ReqGetAllTopicListFromNameServer:    "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
		ReqDeleteSubscriptionGroup:          "DELETE_SUBSCRIPTIONGROUP",
		ReqGetConsumeStats:                  "GET_CONSUME_STATS",
		ReqDeleteTopicInBroker:              "DELETE_TOPIC_IN_BROKER",
		ReqDeleteTopicInNamesrv:             "DELETE_TOPIC_IN_NAMESRV",
		ReqGetKVListByNamespace:             "GET_KVLIST_BY_NAMESPACE",
		ReqResetConsumerClientOffset:        "RESET_CONSUMER_CLIENT_OFFSET",
		ReqGetConsumerStatusFromClient:      "GET_CONSUMER_STATUS_FROM_CLIENT",
		ReqInvokeBrokerToResetOffset:        "INVOKE_BROKER_TO_RESET_OFFSET",
		ReqGetTopicsByCluster:               "GET_TOPICS_BY_CLUSTER",
		ReqUpdateAndCreateSubscriptionList:  "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST",
		ReqQueryTopicConsumeByWho:           "QUERY_TOPIC_CONSUME_BY_WHO",
		ReqGetSystemTopicListFromNS:         "GET_SYSTEM_TOPIC_LIST_FROM_NS",
		ReqGetSystemTopicListFromBroker:     "GET_SYSTEM_TOPIC_LIST_FROM_BROKER",
		ReqGetConsumerRunningInfo:           "GET_CONSUMER_RUNNING_INFO",
		ReqConsumeMessageDirectly:           "CONSUME_MESSAGE_DIRECTLY",
		ReqSendMessageV2:                    "SEND_MESSAGE_V2",
		ReqQueryConsumeQueue:                "QUERY_CONSUME_QUEUE",
		ReqPushReplyMessageToClient:         "PUSH_REPLY_MESSAGE_TO_CLIENT",
		ReqGetAllProducerInfo:               "GET_ALL_PRODUCER_INFO",
		ReqQueryTopicsByConsumer:            "QUERY_TOPICS_BY_CONSUMER",
		ReqQuerySubscriptionByConsumer:      "QUERY_SUBSCRIPTION_BY_CONSUMER",
		ReqGetTopicConfig:                   "GET_TOPIC_CONFIG",
		ReqSetMessageRequestMode:            "SET_MESSAGE_REQUEST_MODE",
		ReqGetAllMessageRequestMode:         "GET_ALL_MESSAGE_REQUEST_MODE",
	}
}

// RequestName returns RocketMQ's name of a request code, or "request N" for a
// code that this project does not use.
func RequestName(code int) string {
	if n, ok := requestNames()[code]; ok {
		return n
	}
	return "request " + strconv.Itoa(code)
}
