// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
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
