// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// ErrResetPending says that a committed offset was not stored because a reset
// of that queue still waits for its first pull (rocketmq-live.md 10.3).
var ErrResetPending = errors.New("an offset reset of this queue is still pending; the broker stores no commit until it is taken")

// NotSentError says that the client refused to send a call.
type NotSentError struct {
	// Addr and Code say where and what would have been sent.
	Addr string
	Code int
	// Why is a phrase a person can act on.
	Why string
	// Err is the cause, if there is one.
	Err error
}

// Error implements error.
func (e *NotSentError) Error() string {
	text := fmt.Sprintf("%s: %s (%d): not sent: %s", e.Addr, remoting.RequestName(e.Code), e.Code, e.Why)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *NotSentError) Unwrap() error { return e.Err }

func notSent(addr string, code int, format string, args ...any) *NotSentError {
	return &NotSentError{Addr: addr, Code: code, Why: fmt.Sprintf(format, args...)}
}

// IdentityError says that the peer at an address is not the broker that a
// changing call was meant for; nothing was changed (rule R03).
type IdentityError struct {
	// Want is the broker the call was meant for, Got what answered.
	Want Master
	Got  snapshot.Process
}

// Error implements error.
func (e *IdentityError) Error() string {
	role := "master"
	if e.Got.BrokerID != 0 {
		role = fmt.Sprintf("replica %d", e.Got.BrokerID)
	}
	return fmt.Sprintf("%s: expected the master of broker %q in cluster %q, but %s of broker %q in cluster %q answers there; nothing was changed",
		e.Want.Addr, e.Want.Name, e.Want.Cluster, role, e.Got.Name, e.Got.Cluster)
}

// malformed is the error of a reply that cannot be read.
func malformed(addr string, code int, err error) error {
	return &remoting.Error{Addr: addr, Code: code, Kind: remoting.Malformed, Sent: true, Err: err}
}

// mayBeDone reports whether a changing call with this outcome may have taken
// effect.
func mayBeDone(err error) bool {
	var e *remoting.Error
	return err == nil || errors.As(err, &e) && e.Sent
}
