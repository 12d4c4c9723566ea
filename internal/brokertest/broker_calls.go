// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

func (b *Broker) handle(rq *request) *reply {
	if r := b.authorise(rq); r != nil {
		return r
	}
	if r, done := b.handleCommon(rq); done {
		return r
	}
	if b.version.five() {
		if r, done := b.handleFive(rq); done {
			return r
		}
	}
	return unsupported(rq)
}

// handleCommon answers what every release knows.
func (b *Broker) handleCommon(rq *request) (r *reply, done bool) {
	switch rq.Code {
	case codeUpdateTopic:
		return b.updateTopic(rq), true
	case codeDeleteTopic:
		return b.deleteTopic(rq), true
	case codeAllTopics:
		return b.allTopics(), true
	case codeTopicStats:
		return b.topicStats(rq), true
	case codeUpdateGroup:
		return b.updateGroup(rq), true
	case codeAllGroups:
		return b.allGroups(), true
	case codeDeleteGroup:
		return b.deleteGroup(rq), true
	case codeMaxOffset:
		return b.maxOffset(rq), true
	case codeMinOffset:
		return b.minOffset(rq), true
	case codeSearchOffset:
		return b.searchOffset(rq), true
	case codeQueryOffset:
		return b.queryOffset(rq), true
	case codeUpdateOffset:
		return b.updateOffset(rq), true
	case codeAllOffsets:
		return b.allOffsets(), true
	case codeConsumeStats:
		return b.consumeStats(rq), true
	case codeConsumeQueue:
		return b.consumeQueue(rq), true
	case codeBrokerConfig:
		return b.config(), true
	case codeRuntime:
		return b.runtime(), true
	case codeUpdateConfig:
		return b.updateConfig(rq), true
	case codeResetOffset:
		return b.resetOffset(rq), true
	case codeDelayOffsets:
		return b.delayOffsets(), true
	case codeSystemTopics:
		return b.systemTopicList(), true
	}
	return b.handleClients(rq)
}

// handleClients answers what clients send and what is asked about them.
func (b *Broker) handleClients(rq *request) (r *reply, done bool) {
	switch rq.Code {
	case codeConnections:
		return b.connections(rq), true
	case codeConsumerList:
		return b.consumerList(rq), true
	case codeRunningInfo:
		return b.runningInfo(rq), true
	case codeHeartBeat:
		return b.heartBeat(rq), true
	case codeUnregister:
		return b.unregister(rq), true
	case codeProducers:
		return b.producerList(rq), true
	case codeAllProducers:
		return b.allProducers(), true
	case codeWhoConsumes:
		return b.whoConsumes(rq), true
	case codePull:
		return b.pull(rq), true
	case codeSend, codeSendV2:
		return b.send(rq), true
	case codeEndTransaction:
		return b.endTransaction(rq), true
	}
	return nil, false
}

// handleFive answers what only 5.x knows (rocketmq.md 10).
func (b *Broker) handleFive(rq *request) (r *reply, done bool) {
	switch rq.Code {
	case codeTopicConfig:
		return b.topicConfig(rq), true
	case codeGroupConfig:
		return b.groupConfig(rq), true
	case codeUpdateTopicList:
		return b.updateTopicList(rq), true
	case codeUpdateGroupList:
		return b.updateGroupList(rq), true
	case codeTimerMetrics:
		return b.timerMetrics(), true
	case codeTopicsByGroup:
		return b.topicsByGroup(rq), true
	case codeSubscription:
		return b.subscription(rq), true
	case codeSetRequestMode:
		return b.setRequestMode(rq), true
	case codeAllRequestModes:
		return b.allRequestModes(), true
	}
	return nil, false
}
