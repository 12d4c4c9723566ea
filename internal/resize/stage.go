// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

// Stage is where a change stands. Its text is what the STAGE column shows.
type Stage string

// Stages. A topic at rest has StageSteady, the empty text.
const (
	// StageSteady is rest: every broker and route is as declared, or a hold
	// says why it stays otherwise.
	StageSteady Stage = ""
	// StageCreating: the topic is on no broker yet.
	StageCreating Stage = "Creating"
	// StageRepairing: some broker has more write than read queues.
	StageRepairing Stage = "Repairing"

	// StageNarrowingWrites to StageWatching are a shrink, in this order.
	StageNarrowingWrites Stage = "NarrowingWrites"
	StageRoutes          Stage = "Routes"
	StageSettling        Stage = "Settling"
	StageLateMessages    Stage = "LookingForPending"
	StageDraining        Stage = "Draining"
	StageProvingAgain    Stage = "ProvingAgain"
	StageNarrowingReads  Stage = "NarrowingReads"
	StageWatching        Stage = "WatchingRetired"
	// StageReopening: something unread was found on a retired queue.
	StageReopening Stage = "Reopening"

	// StageSeeding to StageWideningWrites are a growth. Seeds go before reads
	// (rule R12) and are proven again before writes (rule R13).
	StageSeeding         Stage = "Seeding"
	StageWideningReads   Stage = "WideningReads"
	StageAwaitingReaders Stage = "AwaitingReaders"
	StageWideningWrites  Stage = "WideningWrites"

	// StageAddingBroker and StageClosingBroker are changes of placement.
	StageAddingBroker  Stage = "AddingBroker"
	StageClosingBroker Stage = "ClosingBroker"
	// StageRescuing makes stranded messages readable again.
	StageRescuing Stage = "Rescuing"
)

// ShrinkStages are the stages of a shrink in order, for a progress display.
func ShrinkStages() []Stage {
	return []Stage{
		StageNarrowingWrites, StageRoutes, StageSettling, StageLateMessages,
		StageDraining, StageProvingAgain, StageNarrowingReads, StageWatching,
	}
}

// GrowStages are the stages of a growth in order, for a progress display.
func GrowStages() []Stage {
	return []Stage{StageSeeding, StageWideningReads, StageAwaitingReaders, StageWideningWrites}
}
