// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type constant struct{ value, doc string }

// constants are the string constants of a file by name.
func constants(t *testing.T, file string) map[string]constant {
	t.Helper()
	g := NewWithT(t)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string]constant{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		g.Expect(ok).To(BeTrue(), spec.Names[0].Name)
		value, err := strconv.Unquote(literal.Value)
		g.Expect(err).NotTo(HaveOccurred())
		out[spec.Names[0].Name] = constant{value, spec.Doc.Text()}
		return true
	})
	g.Expect(out).NotTo(BeEmpty())
	return out
}

// TestReasonsAndConditionsAreDocumented: scripts and alerts match these words, so each is one word that
// Kubernetes accepts, equals its constant's name, and says when it is used.
func TestReasonsAndConditionsAreDocumented(t *testing.T) {
	for file, prefix := range map[string]string{"reasons.go": "Reason", "conditions.go": "Condition"} {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			for name, c := range constants(t, file) {
				g.Expect(name).To(Equal(prefix + c.value))
				g.Expect(c.value).To(MatchRegexp(`^[A-Z][A-Za-z]{1,63}$`))
				g.Expect(c.doc).To(HavePrefix(name + " "))
				g.Expect(strings.TrimSpace(c.doc)).To(HaveSuffix("."))
			}
		})
	}
}

// TestStatusNamesEveryConditionType: the description of status.conditions is what kubectl explain shows.
func TestStatusNamesEveryConditionType(t *testing.T) {
	g := NewWithT(t)
	kinds := definitions(t)
	var text string
	for _, crd := range kinds {
		text += find(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "status.conditions").Description
	}
	for name, c := range constants(t, "conditions.go") {
		g.Expect(text).To(ContainSubstring(c.value), name)
	}
}
