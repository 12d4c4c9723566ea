// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contract is one set of tests of what a RocketMQ answers, run against
// brokertest and against released servers, so that the imitation cannot drift
// from the truth. Each test states a behaviour of the project's RocketMQ notes,
// faults of the servers included.
//
// Against the imitation it runs with the ordinary tests. Against released
// servers: go test -tags e2e ./internal/brokertest/contract.
package contract
