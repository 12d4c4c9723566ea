// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/internal/remoting"
	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// errUnchecked is the error of a changing call that no act stands behind.
var errUnchecked = errors.New("a changing call without a check; nothing was sent")

// ForeignChangeError says that a broker does not hold what the act expected to
// find, so somebody else changed it; nothing was sent (rule R18).
type ForeignChangeError struct {
	Broker, Topic string
	// Expect and Found are what was expected and found, as people write it.
	Expect, Found string
}

// Error implements error.
func (e *ForeignChangeError) Error() string {
	return fmt.Sprintf("topic %s on %s was changed by somebody else: expected %s, found %s; nothing was sent",
		e.Topic, e.Broker, e.Expect, e.Found)
}

// TooLateError says that the look or the intent that an act rests on has become
// too old to act on; nothing was sent (rules R02, K11).
type TooLateError struct {
	// What is "look" or "intent".
	What string
	// By is how much too late it is.
	By time.Duration
}

// Error implements error.
func (e *TooLateError) Error() string {
	return fmt.Sprintf("the %s this rests on is too old by %s; nothing was sent", e.What, e.By.Round(time.Millisecond))
}

// NoIntentError says that an act that cannot be taken back came without a live
// intent; nothing was sent (rule K11).
type NoIntentError struct{ Act string }

// Error implements error.
func (e *NoIntentError) Error() string {
	return fmt.Sprintf("%s needs an intent that was read live and persisted; nothing was sent", e.Act)
}

// ProcessError says that the master is another process than the one whose
// answers the decision rests on; nothing was sent (rules R01, R03).
type ProcessError struct {
	Broker string
	// Expect decided, Found answers now.
	Expect, Found snapshot.Process
}

// Error implements error.
func (e *ProcessError) Error() string {
	if e.Expect.Address != e.Found.Address {
		return fmt.Sprintf("%s is now at %s and was at %s when this was decided; nothing was sent", e.Broker, e.Found.Address, e.Expect.Address)
	}
	return fmt.Sprintf("%s was started again at %s, after this was decided; nothing was sent",
		e.Broker, e.Found.Booted.UTC().Format(time.RFC3339))
}

// NotStoredError says that a broker does not show what was sent to it.
type NotStoredError struct {
	Broker, Topic string
	// Sent and Found are as people write it.
	Sent, Found string
	// Err is how the sending itself failed, if it did.
	Err error
}

// Error implements error.
func (e *NotStoredError) Error() string {
	s := fmt.Sprintf("%s does not show what was sent for topic %s: sent %s, found %s", e.Broker, e.Topic, e.Sent, e.Found)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns how the sending failed.
func (e *NotStoredError) Unwrap() error { return e.Err }

// UnconfirmedError says that it is not known whether something was stored: it
// was sent, and reading it back failed.
type UnconfirmedError struct {
	Broker, Topic string
	// Sent is how the sending failed, if it did; Read how reading back did.
	Sent, Read error
}

// Error implements error.
func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("whether %s has stored topic %s is not known: reading it back failed: %v", e.Broker, e.Topic, e.Read)
}

// Unwrap returns both causes.
func (e *UnconfirmedError) Unwrap() []error {
	if e.Sent != nil {
		return []error{e.Sent, e.Read}
	}
	return []error{e.Read}
}

// NoMasterError says that the master that a step is for is not known.
type NoMasterError struct{ Broker, Why string }

// Error implements error.
func (e *NoMasterError) Error() string {
	return fmt.Sprintf("the master of %s is not known: %s; nothing was sent", e.Broker, e.Why)
}

// OccupiedError says that a group has members, or may have, while an offset was
// to be set that they would overwrite; nothing was sent (rule R06).
type OccupiedError struct{ Group, Why string }

// Error implements error.
func (e *OccupiedError) Error() string {
	return fmt.Sprintf("offsets of %s are set only while no member is connected: %s; nothing was sent", e.Group, e.Why)
}

// StepError says that a step cannot be carried out as it is.
type StepError struct {
	Kind resize.StepKind
	Why  string
}

// Error implements error.
func (e *StepError) Error() string {
	return fmt.Sprintf("step %s: %s; nothing was sent", e.Kind, e.Why)
}

// maySent reports whether a failed call may have reached the peer.
func maySent(err error) bool {
	var e *remoting.Error
	return errors.As(err, &e) && e.Sent
}
