// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot holds what was observed of a RocketMQ, as immutable data.
//
// A value here is either known, together with when it was asked for and which
// process answered, or unknown with a reason; it cannot be read without saying
// which. The package has no behaviour beyond reading its own data: observers
// fill it, pure planners read it, nobody changes it after it was published.
package snapshot
