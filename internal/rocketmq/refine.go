// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// rule maps an answer to one call to its kind. It applies when the remark
// contains the text.
type rule struct {
	request, response int
	remark            string
	kind              remoting.Kind
}

// rules are the answers whose code means something of its own on one call. All
// of them hide in the catch-all code 1; what has a code for itself is judged by
// remoting. Sources: rocketmq.md 3.15, 3.16, 3.22, rocketmq-live.md 2.
func rules() []rule {
	const one = remoting.RespSystemError
	return []rule{
		// A 4.9 broker in its first second, before its statistics have a sample.
		{remoting.ReqGetBrokerRuntimeInfo, one, "NoSuchElementException", remoting.Busy},
		{remoting.ReqGetConsumerListByGroup, one, "no consumer for this group", remoting.NotFound},
		// A proxy has no such group.
		{remoting.ReqGetConsumerListByGroup, one, `"consumerGroupInfo" is null`, remoting.NotFound},
		{remoting.ReqGetConsumerRunningInfo, one, "not online", remoting.NotFound},
		{remoting.ReqGetConsumerRunningInfo, one, "too low to", remoting.Unsupported},
		{remoting.ReqQueryConsumeQueue, one, "is not exist!", remoting.NotFound},
		// A 5.x broker whose timer wheel is switched off.
		{remoting.ReqGetTimerMetrics, one, "timer message store is null", remoting.Unsupported},
		// 4.9 answers 1 where 5.x has 17, 26 and 206.
		{remoting.ReqInvokeBrokerToResetOffset, one, "no topic in this broker", remoting.NotFound},
		{remoting.ReqInvokeBrokerToResetOffset, one, "THe consumer group", remoting.NotFound},
	}
}

// refine gives an error the kind that its answer has on its call. Errors
// without a rule are returned as they are.
func refine(err error) error {
	var e *remoting.Error
	if !errors.As(err, &e) || e.ResponseCode == 0 {
		return err
	}
	for _, r := range rules() {
		if r.request == e.Code && r.response == e.ResponseCode && strings.Contains(e.Remark, r.remark) {
			refined := *e
			refined.Kind = r.kind
			return &refined
		}
	}
	return err
}

// isKind reports whether err is a remoting error of the kind.
func isKind(err error, kind remoting.Kind) bool { return errors.Is(err, kind) }

// answered reports whether err is the peer's answer with this code.
func answered(err error, code int) bool {
	var e *remoting.Error
	return errors.As(err, &e) && e.ResponseCode == code
}
