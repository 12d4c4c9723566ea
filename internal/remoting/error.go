// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"fmt"
	"strings"
)

// Error is the failure of one call, or of a connection while calls were
// waiting on it.
//
// errors.Is matches it with a Kind, as in errors.Is(err, remoting.NotFound),
// and with everything that Err wraps.
type Error struct {
	// Addr is the address as the caller gave it, host and port.
	Addr string
	// Code is the request code of the call, 0 when no call was involved.
	Code int
	// Kind says what went wrong.
	Kind Kind
	// ResponseCode and Remark are what the peer answered. They are set only
	// when it did answer; ResponseCode is then not 0.
	ResponseCode int
	Remark       string
	// Sent reports that at least a part of the request may have reached the
	// peer. A changing call that failed with Sent may have taken effect.
	Sent bool
	// Err is the cause; nil when the peer answered.
	Err error
}

// Error says address, call, kind and what the other side said. It is one line
// of bounded length and shows no control characters of the peer.
func (e *Error) Error() string {
	var parts []string
	if e.Addr != "" {
		parts = append(parts, e.Addr)
	}
	if e.Code != 0 {
		parts = append(parts, fmt.Sprintf("%s (%d)", RequestName(e.Code), e.Code))
	}
	parts = append(parts, e.Kind.Error())
	if e.ResponseCode != 0 {
		parts = append(parts, fmt.Sprintf("answered %s (%d)", ResponseName(e.ResponseCode), e.ResponseCode))
	}
	if remark := sanitize(e.Remark); remark != "" {
		parts = append(parts, remark)
	}
	if e.Err != nil {
		parts = append(parts, sanitize(e.Err.Error()))
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the Kind of e.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// maxShown is how many bytes of a remark or a cause an error shows.
const maxShown = 300

// sanitize bounds text that came from elsewhere and takes out everything that
// could break a line, a log or a status message.
func sanitize(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxShown {
			return strings.TrimSpace(b.String()) + " …"
		}
		if !isShown(r) {
			r = ' '
		}
		if r != ' ' || !strings.HasSuffix(b.String(), " ") {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
