// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// TestEveryTroubleHasItsReason: a person acts differently on a certificate, a
// missing topic and a silent server, so each trouble has a reason of its own
// unless it is one of silence.
func TestEveryTroubleHasItsReason(t *testing.T) {
	g := NewWithT(t)
	silent := []snapshot.Trouble{snapshot.NameServerUnreachable, snapshot.BrokerUnreachable, snapshot.BrokerGone, snapshot.ProxyUnreachable}
	for _, trouble := range troubles(t) {
		if reason := troubleReason(trouble); reason == rocketmqv1alpha1.ReasonUnreachable {
			g.Expect(silent).To(ContainElement(trouble))
		}
	}
	for _, trouble := range silent {
		g.Expect(troubleReason(trouble)).To(Equal(rocketmqv1alpha1.ReasonUnreachable))
	}
}

// troubles are the values that the snapshot package declares.
func troubles(t *testing.T) []snapshot.Trouble {
	t.Helper()
	g := NewWithT(t)
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/snapshot/problem.go", nil, 0)
	g.Expect(err).NotTo(HaveOccurred())
	var out []snapshot.Trouble
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		g.Expect(err).NotTo(HaveOccurred())
		out = append(out, snapshot.Trouble(value))
		return true
	})
	g.Expect(len(out)).To(BeNumerically(">", 10))
	return out
}
