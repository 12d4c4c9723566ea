// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/remoting"
)

// TestRefine_NotFoundByCallAndVersion has the answers of rocketmq.md 3 and live
// 2 for what is not there, and some that look alike.
func TestRefine_NotFoundByCallAndVersion(t *testing.T) {
	for _, tc := range []struct {
		name     string
		request  int
		response int
		remark   string
		want     remoting.Kind
	}{
		{"route, name server", 105, 17, "No topic route info in name server for the topic: X", remoting.NotFound},
		{"route, name server in warm-up", 105, 1, "name server not ready", remoting.Busy},
		{"topic list switched off", 206, 1, "disable", remoting.Refused},
		{"topic, 5.x", 351, 17, "No topic in this broker. topic: X", remoting.NotFound},
		{"single read, 4.9", 351, 3, " request type 351 not supported", remoting.Unsupported},
		{"offset entry, 5.x", 14, 22, "Not found, maybe this is a new consumer group boot", remoting.NotFound},
		{"commit of unknown group, 5.3", 15, 26, "Group G not exist!", remoting.NotFound},
		{"commit of unknown topic, 5.0", 15, 17, "Topic T not exist!", remoting.NotFound},
		{"pull of unknown topic", 11, 17, "topic[T] not exist", remoting.NotFound},
		{"pull of unknown group, no auto-create", 11, 26, "subscription group [G] does not exist", remoting.NotFound},
		{"pull without subscription", 11, 24, "the consumer's group info not exist", remoting.NotFound},
		{"members", 203, 206, "the consumer group[G] not online", remoting.NotFound},
		{"member ids", 38, 1, "no consumer for this group, G", remoting.NotFound},
		{"member ids, proxy", 38, 1, `Cannot invoke "org.apache.rocketmq.broker.client.ConsumerGroupInfo.getAllClientId()" because "consumerGroupInfo" is null`, remoting.NotFound},
		{"member ids, broken", 38, 1, "java.lang.NullPointerException", remoting.Refused},
		{"member", 307, 1, "The Consumer <G> <c1> not online", remoting.NotFound},
		{"member, silent", 307, 207, "Timeout", remoting.Timeout},
		{"queue index, 4.9 to 5.5", 321, 1, "7@T is not exist!", remoting.NotFound},
		{"order configuration", 101, 22, "No config item", remoting.NotFound},
		{"reset, 5.x topic", 222, 17, "Topic T does not exist", remoting.NotFound},
		{"reset, 5.x group", 222, 26, "Group G does not exist", remoting.NotFound},
		{"reset, 4.9 topic", 222, 1, "[reset-offset] reset offset failed, no topic in this broker. topic=T", remoting.NotFound},
		{"reset, 4.9 offsets", 222, 1, "THe consumer group <G> not exist, error: 0", remoting.NotFound},
		{"reset, 4.9 offline", 222, 206, "Consumer not online, so can not reset offset.", remoting.NotFound},
		{"reset, out of range", 222, 1, "Target offset 200 not in consume queue range [2761-3200]", remoting.Refused},
		{"reset, slave", 222, 1, "Can not reset offset in slave broker", remoting.Refused},
		{"write, slave of 4.9", 17, 1, "Can't modify topic or subscription group from slave broker, please execute it from master broker.", remoting.Refused},
		{"write, bad name before 5.3.2", 17, 1, "The specified topic contains illegal characters", remoting.Refused},
		{"write, bad name after", 17, 29, "The specified topic: X, contains illegal characters", remoting.Refused},
		{"a word of another call's rule", 17, 1, "The Consumer <G> <c1> not online", remoting.Refused},
		{"ACL 1.0", 17, 1, "org.apache.rocketmq.acl.common.AclException: No accessKey is configured", remoting.Denied},
		{"ACL 2.0", 17, 16, "User:op has no permission to access Topic:TA", remoting.Denied},
		{"busy", 17, 2, "[TIMEOUT_CLEAN_QUEUE]broker busy", remoting.Busy},
		{"timers switched off", 61, 1, "The timer message store is null", remoting.Unsupported},
		{"first second of 4.9", 28, 1, "java.util.NoSuchElementException", remoting.Busy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFake(513)
			f.refuse(tc.request, tc.response, tc.remark)
			_, _, err := f.client().call(t.Context(), fakeAddr, tc.request, nil, nil)
			var e *remoting.Error
			g.Expect(errors.As(err, &e)).To(BeTrue())
			g.Expect(e.Kind).To(Equal(tc.want), e.Error())
			g.Expect(e.Addr).To(Equal(fakeAddr))
			g.Expect(e.Code).To(Equal(tc.request))
			g.Expect(e.ResponseCode).To(Equal(tc.response))
			g.Expect(e.Remark).To(Equal(tc.remark))
		})
	}
}

func TestRefine_LeavesOtherErrors(t *testing.T) {
	g := NewWithT(t)
	plain := errors.New("x")
	g.Expect(refine(plain)).To(BeIdenticalTo(plain))
	g.Expect(refine(nil)).To(Succeed())
	shared := &remoting.Error{Code: 307, ResponseCode: 1, Remark: "not online"}
	g.Expect(refine(fmt.Errorf("wrapped: %w", shared))).To(MatchError(remoting.NotFound))
	g.Expect(shared.Kind).To(Equal(remoting.Refused), "the error itself may be shared and is not changed")
}

func TestErrorTexts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(notSent(fakeAddr, 17, "topic %q is static", "T")).To(MatchError(
		`10.0.0.1:10911: UPDATE_AND_CREATE_TOPIC (17): not sent: topic "T" is static`))
	cause := errors.New("cause")
	g.Expect(&NotSentError{Addr: fakeAddr, Code: 17, Why: "why", Err: cause}).To(MatchError(cause))
	g.Expect(unsupported(fakeAddr, 222, "5.2.0")).To(MatchError(ContainSubstring("from version 5.2.0 on")))
	g.Expect(malformed(fakeAddr, 21, cause)).To(MatchError(ContainSubstring("GET_ALL_TOPIC_CONFIG (21): malformed")))
	g.Expect(malformed(fakeAddr, 21, cause)).To(MatchError(cause))
}
