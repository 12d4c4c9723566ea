// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"os"
)

// PartError is a part of the world that did not come up or did not stay.
type PartError struct {
	// Part is what failed, such as "the operator".
	Part string
	// Err is what happened.
	Err error
	// Log is the file that says more; empty when there is none.
	Log string
	// Try is what the reader can do.
	Try string
}

// Error says which part failed and why, with the end of its log.
func (f *PartError) Error() string {
	text := fmt.Sprintf("%s: %v", f.Part, f.Err)
	if f.Log != "" {
		text += fmt.Sprintf("\nthe end of %s:\n%s", f.Log, tail(f.Log, logTail))
	}
	if f.Try != "" {
		text += "\nwhat to try: " + f.Try
	}
	return text
}

// Unwrap is what happened.
func (f *PartError) Unwrap() error { return f.Err }

// logTail is how many lines of a log a message quotes.
const logTail = 15

// tail returns the last lines of a file, or why there are none.
func tail(path string, n int) string {
	data, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "(" + err.Error() + ")"
	case len(data) == 0:
		return "(empty)"
	}
	return LastLines(data, n)
}
