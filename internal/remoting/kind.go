// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"strings"
	"unicode"
)

// Kind is the class of a failure. It is itself an error, so that
// errors.Is(err, remoting.Timeout) works on every error of this package.
//
//nolint:errname // a kind reads as a word: errors.Is(err, remoting.NotFound)
type Kind uint8

//nolint:errname // as above
const (
	// Refused is an answer with a code that has no kind of its own: the peer
	// understood the call and did not do it.
	Refused Kind = iota
	// NotFound is an answer that says the thing asked for does not exist. The
	// code for it differs by call and version.
	NotFound
	// Denied is an answer that credentials are missing, wrong or not
	// sufficient, or that no credentials could be got to sign the call.
	Denied
	// Unreachable means that no connection came about: the name does not
	// resolve, the dial was refused, or it did not end in time.
	Unreachable
	// Timeout means that no answer came within the time of the call.
	Timeout
	// Unsupported is an answer that the peer does not know the request code.
	Unsupported
	// Busy is an answer to come again later, or that no place among the calls
	// in flight became free in time.
	Busy
	// Malformed means that a frame could not be encoded, or that what the peer
	// sent could not be decoded.
	Malformed
	// TooLarge means that a frame is over the limit.
	TooLarge
	// WrongEndpoint means that the other end does not speak RocketMQ remoting.
	WrongEndpoint
	// Untrusted means that TLS came to nothing because one side does not accept
	// the other's certificate.
	Untrusted
	// Closed means that the connection ended before the answer came.
	Closed
	// Canceled means that the caller gave up, or closed the client.
	Canceled
)

// Error returns the kind in words.
func (k Kind) Error() string {
	switch k {
	case Refused:
		return "refused"
	case NotFound:
		return "not found"
	case Denied:
		return "denied"
	case Unreachable:
		return "unreachable"
	case Timeout:
		return "timeout"
	case Unsupported:
		return "not supported by this server"
	case Busy:
		return "busy"
	case Malformed:
		return "malformed"
	case TooLarge:
		return "too large"
	case WrongEndpoint:
		return "wrong endpoint"
	case Untrusted:
		return "not trusted"
	case Closed:
		return "connection closed"
	case Canceled:
		return "canceled"
	default:
		return "failed"
	}
}

// String returns the kind in words.
func (k Kind) String() string { return k.Error() }

// ErrorFromResponse returns the error that a response stands for, or nil when
// its code is SUCCESS. A remark alone is no failure. The kind is what the code
// means on every call and version; a caller that knows more refines it.
func ErrorFromResponse(addr string, requestCode int, resp *Command) error {
	if resp.Code == RespSuccess {
		return nil
	}
	return &Error{
		Addr:         addr,
		Code:         requestCode,
		Kind:         kindOf(resp.Code, resp.Remark),
		ResponseCode: resp.Code,
		Remark:       resp.Remark,
		Sent:         true,
	}
}

// kindRule maps an answer to a kind. A rule with a remark applies when the
// remark contains it.
type kindRule struct {
	code   int
	remark string
	kind   Kind
}

// kindRules lists the answers that are not simply Refused; the first match
// counts (rocketmq.md 1.6, 2.1, 2.2, 3.2).
func kindRules() []kindRule {
	return []kindRule{
		// ACL 1.0 denies with the catch-all code.
		{RespSystemError, "AclException", Denied},
		// A name server within its warm-up.
		{RespSystemError, "name server not ready", Busy},
		{RespNoPermission, "", Denied},
		{RespSystemBusy, "", Busy},
		{RespServiceNotAvailable, "", Busy},
		{RespFlowControl, "", Busy},
		{RespGoAway, "", Busy},
		{RespRequestCodeNotSupported, "", Unsupported},
		{RespVersionNotSupported, "", Unsupported},
		{RespTopicNotExist, "", NotFound},
		{RespQueryNotFound, "", NotFound},
		{RespSubscriptionNotExist, "", NotFound},
		{RespSubscriptionGroupNotExist, "", NotFound},
		{RespConsumerNotOnline, "", NotFound},
		{RespBrokerNotExist, "", NotFound},
		{RespUserNotExist, "", NotFound},
		{RespPolicyNotExist, "", NotFound},
		// The broker waited for a client in vain.
		{RespConsumeMsgTimeout, "", Timeout},
	}
}

func kindOf(code int, remark string) Kind {
	for _, r := range kindRules() {
		if r.code == code && strings.Contains(remark, r.remark) {
			return r.kind
		}
	}
	return Refused
}

func isShown(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }
