// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
)

// stage is one line of the display.
type stage struct {
	name  v1alpha1.Stage
	title string
}

// shrinkStages are the stages of a shrink in order.
func shrinkStages() []stage {
	return []stage{
		{v1alpha1.StageNarrowingWrites, "narrow writes"},
		{v1alpha1.StageRoutes, "routes"},
		{v1alpha1.StageSettling, "settle"},
		{v1alpha1.StageLookingForPending, "late messages"},
		{v1alpha1.StageDraining, "drain"},
		{v1alpha1.StageProvingAgain, "prove again"},
		{v1alpha1.StageNarrowingReads, "narrow reads"},
		{v1alpha1.StageWatchingRetired, "watch retired"},
	}
}

// tracker follows the stages of one change through what the Topic's status
// says. It keeps no clock.
type tracker struct {
	stages []stage
	// at is the number of the present stage; -1 before the change is seen, and
	// len(stages) when it is over.
	at int
	// entered and spent are by number of stage.
	entered []time.Time
	spent   []time.Duration
	// proof is what a stage had shown when it was left.
	proof []string
	// generation is that of the edit.
	generation int64
	// brokers say from which to which number each goes.
	brokers []v1alpha1.BrokerChange
}

func newTracker(generation int64) *tracker {
	stages := shrinkStages()
	return &tracker{
		stages: stages, at: -1, generation: generation, entered: make([]time.Time, len(stages)),
		spent: make([]time.Duration, len(stages)), proof: make([]string, len(stages)),
	}
}

// over tells whether the change has ended as declared.
func (t *tracker) over() bool { return t.at == len(t.stages) }

// see takes the Topic as it is now and returns the numbers of the stages that
// were left by it. Back is true when the change fell back to an earlier stage:
// what could not be proven any more is proven again.
func (t *tracker) see(topic *v1alpha1.Topic, now time.Time) (left []int, back bool) {
	to := t.at
	if change := topic.Status.Change; change != nil && change.Generation == t.generation {
		if i := slices.IndexFunc(t.stages, func(s stage) bool { return s.name == change.Stage }); i >= 0 {
			to = i
		}
		if len(change.Brokers) > 0 {
			t.brokers = change.Brokers
		}
	} else if t.at >= 0 && asDeclared(topic) {
		to = len(t.stages)
	}
	if to == t.at {
		return nil, false
	}
	back = to < t.at
	if t.at >= 0 {
		t.spent[t.at] += max(0, now.Sub(t.entered[t.at]))
	}
	for i := max(t.at, 0); i < to; i++ {
		t.proof[i] = t.prove(i, topic)
		left = append(left, i)
	}
	t.at = to
	if to < len(t.stages) {
		t.entered[to] = now
	}
	return left, back
}

// asDeclared tells whether the topic says so of its present spec.
func asDeclared(topic *v1alpha1.Topic) bool {
	c := meta.FindStatusCondition(topic.Status.Conditions, v1alpha1.ConditionAsDeclared)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == topic.Generation
}

// prove says what a stage has shown when it is left.
func (t *tracker) prove(i int, topic *v1alpha1.Topic) string {
	switch t.stages[i].name {
	case v1alpha1.StageNarrowingWrites, v1alpha1.StageNarrowingReads:
		return t.numbers()
	case v1alpha1.StageRoutes:
		if n := topic.Status.NameServers; n != nil && n.Asked != nil && n.Agreeing != nil {
			return fmt.Sprintf("%d of %d name servers route %d writable", *n.Agreeing, *n.Asked, topic.Spec.Queues.PerBroker)
		}
	case v1alpha1.StageSettling:
		return fmt.Sprintf("no message in %d retiring queues since old routes have aged", t.retiring())
	case v1alpha1.StageLookingForPending:
		return "none seen pending (delay levels, timers, half messages; 2 looks)"
	case v1alpha1.StageDraining:
		return "every group has read the retiring queues to the end"
	case v1alpha1.StageProvingAgain:
		return "a fresh look at everything, seconds old"
	case v1alpha1.StageWatchingRetired:
		return fmt.Sprintf("%d retired queues, no late message", t.retiring())
	}
	return ""
}

// numbers says from which to which number of queues each broker goes.
func (t *tracker) numbers() string {
	var parts []string
	for _, b := range t.brokers {
		parts = append(parts, fmt.Sprintf("%s %d→%d", b.Name, *b.From, *b.To))
	}
	return strings.Join(parts, ", ")
}

// retiring is the number of queues that go, over all brokers.
func (t *tracker) retiring() int {
	n := 0
	for _, b := range t.brokers {
		n += int(*b.From - *b.To)
	}
	return n
}

// waitsFor is what the present stage waits for, as the Topic says it: its short
// phrases, but for late messages, where only the sentence says which.
func waitsFor(topic *v1alpha1.Topic) string {
	var parts []string
	if change := topic.Status.Change; change != nil && change.Stage != v1alpha1.StageLookingForPending {
		for _, hold := range change.WaitsFor {
			parts = append(parts, hold.Message)
		}
		if change.Omitted > 0 {
			parts = append(parts, fmt.Sprintf("%d more", change.Omitted))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	for _, kind := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionDraining, v1alpha1.ConditionAsDeclared} {
		if c := meta.FindStatusCondition(topic.Status.Conditions, kind); c != nil && c.Message != "" {
			return c.Message
		}
	}
	return ""
}
