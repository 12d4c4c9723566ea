// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestErrorFromResponse(t *testing.T) {
	for _, tc := range []struct {
		code   int
		remark string
		kind   Kind
	}{
		{RespSystemError, "java.lang.NullPointerException", Refused},
		{RespSystemError, "", Refused},
		{RespSystemError, "org.apache.rocketmq.acl.common.AclException: No accessKey is configured, org.apache...", Denied},
		{RespSystemError, "org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=x", Denied},
		{RespSystemError, "name server not ready", Busy},
		{RespNoPermission, "User:op has no permission to access Topic:T from 127.0.0.1, no matched policies.", Denied},
		{RespNoPermission, "username cannot be null.", Denied},
		{RespSystemBusy, "[TIMEOUT_CLEAN_QUEUE]broker busy", Busy},
		{RespServiceNotAvailable, "", Busy},
		{RespFlowControl, "", Busy},
		{RespGoAway, "please go away", Busy},
		{RespRequestCodeNotSupported, " request type 351 not supported", Unsupported},
		{RespVersionNotSupported, "", Unsupported},
		{RespTopicNotExist, "", NotFound},
		{RespQueryNotFound, "", NotFound},
		{RespSubscriptionNotExist, "", NotFound},
		{RespSubscriptionGroupNotExist, "", NotFound},
		{RespConsumerNotOnline, "", NotFound},
		{RespBrokerNotExist, "", NotFound},
		{RespUserNotExist, "", NotFound},
		{RespPolicyNotExist, "", NotFound},
		{RespConsumeMsgTimeout, "", Timeout},
		{RespInvalidParameter, "", Refused},
		{RespPullNotFound, "", Refused},
		{-5, "", Refused},
		{4711, "", Refused},
	} {
		t.Run(fmt.Sprintf("%d %s", tc.code, tc.remark), func(t *testing.T) {
			g := NewWithT(t)
			err := ErrorFromResponse("10.0.0.1:10911", ReqGetTopicConfig, &Command{Code: tc.code, Remark: tc.remark})
			g.Expect(err).To(Equal(&Error{
				Addr: "10.0.0.1:10911", Code: ReqGetTopicConfig, Kind: tc.kind, ResponseCode: tc.code, Remark: tc.remark, Sent: true,
			}))
			g.Expect(err).To(MatchError(tc.kind))
			g.Expect(err.Error()).To(ContainSubstring(fmt.Sprintf("answered %s (%d)", ResponseName(tc.code), tc.code)))
		})
	}
	NewWithT(t).Expect(ErrorFromResponse("a:1", 17, &Command{Code: RespSuccess, Remark: "not set any response code"})).To(Succeed())
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  Error
		want string
	}{
		{Error{Addr: "10.0.0.1:10911", Code: 17, Kind: Denied, ResponseCode: 16, Remark: "User:op is not found."},
			"10.0.0.1:10911: UPDATE_AND_CREATE_TOPIC (17): denied: answered NO_PERMISSION (16): User:op is not found."},
		{Error{Addr: "ns:9876", Code: 4711, Kind: Unreachable, Err: errors.New("connect: connection refused")},
			"ns:9876: request 4711 (4711): unreachable: connect: connection refused"},
		{Error{Kind: Closed}, "connection closed"},
		{Error{Kind: Kind(200), ResponseCode: 77}, "failed: answered code 77 (77)"},
	} {
		t.Run(tc.want, func(t *testing.T) { NewWithT(t).Expect(tc.err.Error()).To(Equal(tc.want)) })
	}
}

func TestErrorIsAndAs(t *testing.T) {
	g := NewWithT(t)
	err := fmt.Errorf("read topic T: %w", &Error{Kind: Closed, Err: io.ErrUnexpectedEOF})
	g.Expect(errors.Is(err, Closed)).To(BeTrue())
	g.Expect(errors.Is(err, io.ErrUnexpectedEOF)).To(BeTrue())
	g.Expect(errors.Is(err, Timeout)).To(BeFalse())
	e, ok := errors.AsType[*Error](err)
	g.Expect(ok).To(BeTrue())
	g.Expect(e.Kind).To(Equal(Closed))
}

func TestKindsHaveNamesOfTheirOwn(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]Kind{}
	for k := Refused; k <= Canceled; k++ {
		g.Expect(seen).NotTo(HaveKey(k.String()))
		g.Expect(k.String()).NotTo(Equal("failed"))
		seen[k.String()] = k
	}
}

func TestK43_ErrorsAreBoundedAndClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		foreign := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.StringN(0, 1000, -1).Draw(t, "text")
		text := (&Error{Addr: "a:1", Code: 17, Kind: Refused, ResponseCode: 1, Remark: foreign, Err: errors.New(foreign)}).Error()
		g.Expect(len(text)).To(BeNumerically("<", 800))
		g.Expect(utf8.ValidString(text)).To(BeTrue())
		for _, r := range text {
			g.Expect(r == '…' || isShown(r)).To(BeTrue(), "%q", r)
		}
	})
	g := NewWithT(t)
	g.Expect(sanitize("a\r\n\tb\x1b[31mc\u202e")).To(Equal("a b [31mc"))
	g.Expect(sanitize(strings.Repeat("é", 1000))).To(HaveSuffix("é …"))
	g.Expect(sanitize("订单 ok")).To(Equal("订单 ok"))
}

func TestCodesHaveNames(t *testing.T) {
	g := NewWithT(t)
	for _, names := range []map[int]string{requestNames(), responseNames()} {
		seen := map[string]int{}
		for code, name := range names {
			g.Expect(name).To(MatchRegexp("^[A-Z_0-9]+$"))
			g.Expect(seen).NotTo(HaveKey(name))
			seen[name] = code
		}
	}
	g.Expect(RequestName(ReqGetAllConsumerOffset)).To(Equal("GET_ALL_CONSUMER_OFFSET"))
	g.Expect(ResponseName(RespSuccess)).To(Equal("SUCCESS"))
}

// TestDangerousRequestsHaveNoName guards that calls which change something
// while they look like reading are not made easy (rocketmq.md, traps).
func TestDangerousRequestsHaveNoName(t *testing.T) {
	g := NewWithT(t)
	for _, code := range []int{25, 41, 42, 306, 308, 316, 352, 353} {
		g.Expect(requestNames()).NotTo(HaveKey(code))
	}
}
