// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package lint pins golangci-lint with the Kubernetes API linter compiled in.
package lint

import _ "sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter"
