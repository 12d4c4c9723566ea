// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the end-to-end tests: the operator as a process of its own
// on a real control plane, with released RocketMQ servers and real clients. They
// have the build tag e2e and are run by hack/test-e2e.sh.
package e2e
