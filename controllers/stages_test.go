// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// The API and the planner each have their own words for stages, for the API
// must not depend on the planner; this keeps them the same.
func TestStagesAreNamedAlike(t *testing.T) {
	g := NewWithT(t)
	for planner, api := range map[resize.Stage]rocketmqv1alpha1.Stage{
		resize.StageCreating:        rocketmqv1alpha1.StageCreating,
		resize.StageRepairing:       rocketmqv1alpha1.StageRepairing,
		resize.StageNarrowingWrites: rocketmqv1alpha1.StageNarrowingWrites,
		resize.StageRoutes:          rocketmqv1alpha1.StageRoutes,
		resize.StageSettling:        rocketmqv1alpha1.StageSettling,
		resize.StageLateMessages:    rocketmqv1alpha1.StageLookingForPending,
		resize.StageDraining:        rocketmqv1alpha1.StageDraining,
		resize.StageProvingAgain:    rocketmqv1alpha1.StageProvingAgain,
		resize.StageNarrowingReads:  rocketmqv1alpha1.StageNarrowingReads,
		resize.StageWatching:        rocketmqv1alpha1.StageWatchingRetired,
		resize.StageReopening:       rocketmqv1alpha1.StageReopening,
		resize.StageSeeding:         rocketmqv1alpha1.StageSeeding,
		resize.StageWideningReads:   rocketmqv1alpha1.StageWideningReads,
		resize.StageAwaitingReaders: rocketmqv1alpha1.StageAwaitingReaders,
		resize.StageWideningWrites:  rocketmqv1alpha1.StageWideningWrites,
		resize.StageAddingBroker:    rocketmqv1alpha1.StageAddingBroker,
		resize.StageClosingBroker:   rocketmqv1alpha1.StageClosingBroker,
		resize.StageRescuing:        rocketmqv1alpha1.StageRescuing,
	} {
		g.Expect(string(planner)).To(Equal(string(api)))
		g.Expect(stageReason(planner)).NotTo(BeEmpty())
	}
	g.Expect(resize.MaxQueues).To(Equal(rocketmqv1alpha1.MaxQueuesPerBroker))
}

// plannerReasons reads the planner's words for holds from its source, so that a
// new one cannot be forgotten here.
func plannerReasons(t *testing.T) []resize.Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/resize/hold.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []resize.Reason
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			word, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, resize.Reason(word))
		}
		return true
	})
	return out
}

func TestEveryHoldHasAReasonInTheAPI(t *testing.T) {
	g := NewWithT(t)
	reasons := plannerReasons(t)
	g.Expect(len(reasons)).To(BeNumerically(">", 30))
	for _, r := range reasons {
		word, _ := holdReason(r)
		if r == resize.ReasonGroupBusy {
			// Consumer groups have no changes of their own yet.
			continue
		}
		g.Expect(word).NotTo(Equal(rocketmqv1alpha1.ReasonProgressing), "hold %s says nothing in the API", r)
	}
}
