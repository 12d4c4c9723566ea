// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

// Kind is what a call does to the server it is sent to.
type Kind string

// Kinds of calls. A forbidden call is one that looks like reading and destroys,
// or that no operator may send (rocketmq.md, traps).
const (
	Reading   Kind = "reading"
	Changing  Kind = "changing"
	Forbidden Kind = "forbidden"
	// Client calls are what applications send: messages, pulls, heartbeats.
	// They are recorded but are neither reading nor changing for an assertion.
	Client Kind = "client"
)

// Request codes that brokertest answers or names (rocketmq.md 3).
const (
	codeSend            = 10
	codePull            = 11
	codeQueryOffset     = 14
	codeUpdateOffset    = 15
	codeUpdateTopic     = 17
	codeUpdateTopicList = 18
	codeAllTopics       = 21
	codeUpdateConfig    = 25
	codeBrokerConfig    = 26
	codeRuntime         = 28
	codeSearchOffset    = 29
	codeMaxOffset       = 30
	codeMinOffset       = 31
	codeEarliest        = 32
	codeHeartBeat       = 34
	codeUnregister      = 35
	codeSendBack        = 36
	codeEndTransaction  = 37
	codeConsumerList    = 38
	codeLock            = 41
	codeUnlock          = 42
	codeAllOffsets      = 43
	codeDelayOffsets    = 45
	codeTimerMetrics    = 61
	codePutKV           = 100
	codeGetKV           = 101
	codeDeleteKV        = 102
	codeRoute           = 105
	codeClusterInfo     = 106
	codeUpdateGroup     = 200
	codeAllGroups       = 201
	codeTopicStats      = 202
	codeConnections     = 203
	codeProducers       = 204
	codeWipeWritePerm   = 205
	codeTopicList       = 206
	codeDeleteGroup     = 207
	codeConsumeStats    = 208
	codeDeleteTopic     = 215
	codeDeleteTopicInNS = 216
	codeKVList          = 219
	codeResetOffset     = 222
	codeTopicsByCluster = 224
	codeUpdateGroupList = 225
	codeWhoConsumes     = 300
	codeSystemTopicsNS  = 304
	codeSystemTopics    = 305
	codeCleanExpired    = 306
	codeRunningInfo     = 307
	codeCorrection      = 308
	codeSendV2          = 310
	codeCleanUnused     = 316
	codeConsumeQueue    = 321
	codeAllProducers    = 328
	codeTopicsByGroup   = 343
	codeSubscription    = 345
	codeTopicConfig     = 351
	codeGroupConfig     = 352
	codeAssignment      = 400
	codeSetRequestMode  = 401
	codeAllRequestModes = 402
)

// KindOf says what a request code does. Code 352 counts as reading on a broker
// that answers without creating; on 5.3.2 and later it creates the group it is
// asked for, which the recorder then shows as a change (rocketmq.md 3.11).
func KindOf(code int) Kind {
	switch code {
	case codeUpdateOffset, codeUpdateTopic, codeUpdateTopicList, codeUpdateConfig,
		codePutKV, codeDeleteKV, codeUpdateGroup, codeWipeWritePerm, codeDeleteGroup,
		codeDeleteTopic, codeDeleteTopicInNS, codeResetOffset, codeUpdateGroupList,
		codeSetRequestMode:
		return Changing
	case codeLock, codeUnlock, codeCleanExpired, codeCorrection, codeCleanUnused:
		return Forbidden
	case codeSend, codeSendV2, codeSendBack, codeEndTransaction, codeHeartBeat, codeUnregister:
		return Client
	default:
		return Reading
	}
}

// Response codes (rocketmq.md 1.6).
const (
	okay              = 0
	systemError       = 1
	systemBusy        = 2
	notSupported      = 3
	messageIllegal    = 13
	notAvailable      = 14
	noPermission      = 16
	topicNotExist     = 17
	pullNotFound      = 19
	pullRetry         = 20
	pullMoved         = 21
	queryNotFound     = 22
	noSubscription    = 24
	notLatest         = 25
	groupNotExist     = 26
	consumerNotOnline = 206
	consumeTimeout    = 207
)
