// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package world starts everything that Lockstep works with on one machine, for
// the demo and the end-to-end tests alike:
//
//   - a real control plane (package controlplane) and a node that runs Pods as
//     local processes (package nodeagent), or an existing cluster;
//   - released RocketMQ servers (package rocketmq);
//   - the CRDs and roles that config/ ships, applied by server-side apply;
//   - the operator: the binary of cmd/manager as a process of its own, with the
//     identity and rights of its ServiceAccount and leader election on, which can
//     be stopped, killed and started again;
//   - workloads of test clients, each of which writes a ledger file.
//
// Nothing outlives the program that called Start, however it ends; see package
// process.
//
// The package is for Linux, and works inside this repository only.
package world
