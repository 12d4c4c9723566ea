// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// weight says what kind of help a hold needs, and so what Ready, Reconciling
// and Stalled say (docs/states.md).
type weight int

const (
	// passes: it ends by itself.
	passes weight = iota
	// unsure: something that must be known is not.
	unsure
	// needsEdit: only an edit of this object helps.
	needsEdit
	// needsPerson: an approval or help outside the object.
	needsPerson
)

// holdReason translates the planner's word into the API's and says what kind
// of help it needs.
func holdReason(r resize.Reason) (string, weight) {
	switch r {
	case resize.ReasonInvalidSpec:
		return rocketmqv1alpha1.ReasonInvalidSpec, needsEdit
	case resize.ReasonRefusedTopic:
		return rocketmqv1alpha1.ReasonUnmanageable, needsEdit
	case resize.ReasonOrderedTopic:
		return rocketmqv1alpha1.ReasonOrderForbidden, needsEdit
	case resize.ReasonUnsupportedStore:
		return rocketmqv1alpha1.ReasonUnsupported, needsEdit
	case resize.ReasonAdoptedLarger:
		return rocketmqv1alpha1.ReasonAdoptedLarger, needsPerson
	case resize.ReasonAwaitingApproval:
		return rocketmqv1alpha1.ReasonAwaitingApproval, needsPerson
	case resize.ReasonForeignChange:
		return rocketmqv1alpha1.ReasonForeignChange, needsPerson
	case resize.ReasonGroupOffline:
		return rocketmqv1alpha1.ReasonGroupOffline, needsPerson
	case resize.ReasonGroupReadsNoMore:
		return rocketmqv1alpha1.ReasonGroupUnsubscribed, needsPerson
	case resize.ReasonPullOnlyReader:
		return rocketmqv1alpha1.ReasonGroupUnknown, needsPerson
	case resize.ReasonOffsetBeyondEnd, resize.ReasonLogLostTail:
		return rocketmqv1alpha1.ReasonOffsetBeyondEnd, needsPerson
	case resize.ReasonOrderConfig:
		return rocketmqv1alpha1.ReasonOrderForbidden, needsPerson
	case resize.ReasonNoBroker:
		return rocketmqv1alpha1.ReasonNoBrokers, passes
	case resize.ReasonUnknown:
		return rocketmqv1alpha1.ReasonIncompleteAnswer, unsure
	case resize.ReasonNameServersDiffer:
		return rocketmqv1alpha1.ReasonNameServersDiffer, unsure
	case resize.ReasonMasterMissing:
		return rocketmqv1alpha1.ReasonMasterMissing, unsure
	case resize.ReasonNameServerWarmUp:
		return rocketmqv1alpha1.ReasonNameServerWarmingUp, unsure
	case resize.ReasonRouteBehind:
		return rocketmqv1alpha1.ReasonRoutesDiffer, passes
	case resize.ReasonRouteAge, resize.ReasonSettling, resize.ReasonStillGrowing, resize.ReasonReadBack:
		return rocketmqv1alpha1.ReasonSettling, passes
	case resize.ReasonLatePending, resize.ReasonPendingNotVisible:
		return rocketmqv1alpha1.ReasonPending, passes
	case resize.ReasonDispatchBehind:
		return rocketmqv1alpha1.ReasonDispatchBehind, passes
	case resize.ReasonUnread, resize.ReasonNoEntry:
		return rocketmqv1alpha1.ReasonDraining, passes
	case resize.ReasonInvisible:
		return rocketmqv1alpha1.ReasonInvisible, passes
	case resize.ReasonBroadcastUnknown:
		return rocketmqv1alpha1.ReasonBroadcast, passes
	case resize.ReasonHistory:
		return rocketmqv1alpha1.ReasonHistoryKept, passes
	case resize.ReasonReaders:
		return rocketmqv1alpha1.ReasonWideningReads, passes
	case resize.ReasonRetiredWatched, resize.ReasonLateWindow:
		return rocketmqv1alpha1.ReasonWatchingRetired, passes
	default:
		return rocketmqv1alpha1.ReasonProgressing, passes
	}
}

// stageReason is the reason of Ready and Reconciling while a stage has no hold
// that says more.
func stageReason(s resize.Stage) string {
	switch s {
	case resize.StageCreating:
		return rocketmqv1alpha1.ReasonCreating
	case resize.StageRepairing:
		return rocketmqv1alpha1.ReasonRepairing
	case resize.StageNarrowingWrites:
		return rocketmqv1alpha1.ReasonNarrowingWrites
	case resize.StageRoutes, resize.StageSettling:
		return rocketmqv1alpha1.ReasonSettling
	case resize.StageLateMessages:
		return rocketmqv1alpha1.ReasonPending
	case resize.StageDraining:
		return rocketmqv1alpha1.ReasonDraining
	case resize.StageProvingAgain:
		return rocketmqv1alpha1.ReasonProvingAgain
	case resize.StageNarrowingReads:
		return rocketmqv1alpha1.ReasonNarrowingReads
	case resize.StageWatching:
		return rocketmqv1alpha1.ReasonWatchingRetired
	case resize.StageReopening:
		return rocketmqv1alpha1.ReasonLateMessage
	case resize.StageSeeding:
		return rocketmqv1alpha1.ReasonSeeding
	case resize.StageWideningReads, resize.StageAwaitingReaders:
		return rocketmqv1alpha1.ReasonWideningReads
	case resize.StageWideningWrites:
		return rocketmqv1alpha1.ReasonWideningWrites
	case resize.StageRescuing:
		return rocketmqv1alpha1.ReasonRescuing
	default:
		return rocketmqv1alpha1.ReasonProgressing
	}
}
