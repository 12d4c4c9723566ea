// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "strconv"

// Response codes, named as in RocketMQ's ResponseCode and
// RemotingSysResponseCode (rocketmq.md 1.6). The same fault has different codes
// by call and version.
const (
	RespSuccess                   = 0
	RespSystemError               = 1
	RespSystemBusy                = 2
	RespRequestCodeNotSupported   = 3
	RespTransactionFailed         = 4
	RespFlushDiskTimeout          = 10
	RespSlaveNotAvailable         = 11
	RespFlushSlaveTimeout         = 12
	RespMessageIllegal            = 13
	RespServiceNotAvailable       = 14
	RespVersionNotSupported       = 15
	RespNoPermission              = 16
	RespTopicNotExist             = 17
	RespTopicExistAlready         = 18
	RespPullNotFound              = 19
	RespPullRetryImmediately      = 20
	RespPullOffsetMoved           = 21
	RespQueryNotFound             = 22
	RespSubscriptionParseFailed   = 23
	RespSubscriptionNotExist      = 24
	RespSubscriptionNotLatest     = 25
	RespSubscriptionGroupNotExist = 26
	RespFilterDataNotExist        = 27
	RespFilterDataNotLatest       = 28
	RespInvalidParameter          = 29
	RespConsumerNotOnline         = 206
	RespConsumeMsgTimeout         = 207
	RespNoMessage                 = 208
	RespPollingFull               = 209
	RespPollingTimeout            = 210
	RespBrokerNotExist            = 211
	RespBrokerDispatchNotComplete = 212
	RespBroadcastConsumption      = 213
	RespFlowControl               = 215
	RespNotLeaderForQueue         = 501
	RespIllegalOperation          = 604
	RespGoAway                    = 1500
	RespUserNotExist              = 3001
	RespPolicyNotExist            = 3002
)

func responseNames() map[int]string {
	return map[int]string{
		RespSuccess:                   "SUCCESS",
		RespSystemError:               "SYSTEM_ERROR",
		RespSystemBusy:                "SYSTEM_BUSY",
		RespRequestCodeNotSupported:   "REQUEST_CODE_NOT_SUPPORTED",
		RespTransactionFailed:         "TRANSACTION_FAILED",
		RespFlushDiskTimeout:          "FLUSH_DISK_TIMEOUT",
		RespSlaveNotAvailable:         "SLAVE_NOT_AVAILABLE",
		RespFlushSlaveTimeout:         "FLUSH_SLAVE_TIMEOUT",
		RespMessageIllegal:            "MESSAGE_ILLEGAL",
		RespServiceNotAvailable:       "SERVICE_NOT_AVAILABLE",
		RespVersionNotSupported:       "VERSION_NOT_SUPPORTED",
		RespNoPermission:              "NO_PERMISSION",
		RespTopicNotExist:             "TOPIC_NOT_EXIST",
		RespTopicExistAlready:         "TOPIC_EXIST_ALREADY",
		RespPullNotFound:              "PULL_NOT_FOUND",
		RespPullRetryImmediately:      "PULL_RETRY_IMMEDIATELY",
		RespPullOffsetMoved:           "PULL_OFFSET_MOVED",
		RespQueryNotFound:             "QUERY_NOT_FOUND",
		RespSubscriptionParseFailed:   "SUBSCRIPTION_PARSE_FAILED",
		RespSubscriptionNotExist:      "SUBSCRIPTION_NOT_EXIST",
		RespSubscriptionNotLatest:     "SUBSCRIPTION_NOT_LATEST",
		RespSubscriptionGroupNotExist: "SUBSCRIPTION_GROUP_NOT_EXIST",
		RespFilterDataNotExist:        "FILTER_DATA_NOT_EXIST",
		RespFilterDataNotLatest:       "FILTER_DATA_NOT_LATEST",
		RespInvalidParameter:          "INVALID_PARAMETER",
		RespConsumerNotOnline:         "CONSUMER_NOT_ONLINE",
		RespConsumeMsgTimeout:         "CONSUME_MSG_TIMEOUT",
		RespNoMessage:                 "NO_MESSAGE",
		RespPollingFull:               "POLLING_FULL",
		RespPollingTimeout:            "POLLING_TIMEOUT",
		RespBrokerNotExist:            "BROKER_NOT_EXIST",
		RespBrokerDispatchNotComplete: "BROKER_DISPATCH_NOT_COMPLETE",
		RespBroadcastConsumption:      "BROADCAST_CONSUMPTION",
		RespFlowControl:               "FLOW_CONTROL",
		RespNotLeaderForQueue:         "NOT_LEADER_FOR_QUEUE",
		RespIllegalOperation:          "ILLEGAL_OPERATION",
		RespGoAway:                    "GO_AWAY",
		RespUserNotExist:              "USER_NOT_EXIST",
		RespPolicyNotExist:            "POLICY_NOT_EXIST",
	}
}

// ResponseName returns RocketMQ's name of a response code, or "code N" for one
// that is not listed here.
func ResponseName(code int) string {
	if n, ok := responseNames()[code]; ok {
		return n
	}
	return "code " + strconv.Itoa(code)
}
