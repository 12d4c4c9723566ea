// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real Kubernetes control plane on loopback: etcd,
// kube-apiserver and kube-controller-manager, without containers.
//
// It differs from envtest in that the controllers run: Deployments make
// ReplicaSets, ReplicaSets make Pods, garbage is collected, namespaces go away,
// and autoscalers scale. Together with package nodeagent, which runs the Pods as
// local processes, it is a small cluster.
//
// What is not as in other clusters:
//
//   - Everything listens on 127.0.0.1, at ports taken from the kernel. A port
//     can be lost to another program between being chosen and being used; the
//     program that misses it is started again with another.
//   - The API server refuses loopback addresses in EndpointSlices, so the
//     controllers that fill them are off. Services get a cluster address from
//     127.96.0.0/16, which Linux answers for like for all of 127.0.0.0/8: a
//     webhook or an aggregated API can be served by a program that listens on
//     the address of its Service.
//   - The Service "kubernetes" has no endpoints.
//   - There is no scheduler; package nodeagent binds Pods.
//
// Nothing outlives the program that called Start, however it ends; see package
// process.
package controlplane
