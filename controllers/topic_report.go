// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// unknownGrace is how long at least an object at rest keeps what was last
// proven while nothing can be observed (rule K07).
const unknownGrace = 10 * time.Minute

// standing is what a pass found out about a topic, as far as conditions need it.
type standing struct {
	Decision resize.Decision
	// Blocked is set where the pass ended before anything could be planned: a
	// missing cluster, a refused name, a conflict. It is the whole truth then.
	Blocked *blocked
	// UnknownSince is when the running process began to see too little of the
	// topic; zero while it sees enough.
	UnknownSince time.Time
	// Grace is how long an object at rest keeps what was last proven.
	Grace time.Duration
	// Drift is what differs on the brokers beside queue counts, in words;
	// empty when nothing does.
	Drift string
	// Failed is what the last write said where it failed; empty otherwise.
	Failed string
	// Routed says whether all name servers route what the brokers have; RouteWhy
	// says what the first that does not shows.
	Routed   bool
	RouteWhy string
	// Brokers and NameServers are how many take part.
	Brokers, NameServers int
}

// blocked is a state in which the topic is neither planned nor changed.
type blocked struct {
	Reason  string
	Message string
	// Edit says that only an edit of this object helps (Stalled).
	Edit bool
	// Unsure says that nothing is known to be wrong, only not known to be right:
	// Ready is treated as when brokers do not answer (rule K07).
	Unsure bool
}

// reportConditions writes the conditions of a topic. It follows the table in
// docs/states.md, row by row.
func reportConditions(topic *rocketmqv1alpha1.Topic, s standing, now time.Time) {
	set := conditionSet{topic.Generation, now, &topic.Status.Conditions}
	ready, reconciling, stalled := readiness(topic, s, now)
	if ready != nil {
		set.set(rocketmqv1alpha1.ConditionReady, *ready)
	}
	set.progress(reconciling, stalled)
	if declared := asDeclared(s); declared.Status != metav1.ConditionUnknown || ready != nil {
		set.set(rocketmqv1alpha1.ConditionAsDeclared, declared)
	}
	if s.Blocked != nil {
		return
	}
	d := s.Decision
	set.keep(rocketmqv1alpha1.ConditionDraining, draining(d))
	set.keep(rocketmqv1alpha1.ConditionRetiredQueuesWatched, watched(d))
	set.keep(rocketmqv1alpha1.ConditionAdoptedLarger, adoptedLarger(d))
	set.keep(rocketmqv1alpha1.ConditionStranded, finding(d, resize.FindingStranded, rocketmqv1alpha1.ReasonStrandedFound))
	if late := finding(d, resize.FindingLateMessage, rocketmqv1alpha1.ReasonLateMessage); late != nil || !reopened(topic, d) {
		set.keep(rocketmqv1alpha1.ConditionLateMessages, late)
	}
}

// readiness is Ready, Reconciling and Stalled. A nil Ready means that the last
// proven one stays.
func readiness(topic *rocketmqv1alpha1.Topic, s standing, now time.Time) (ready, reconciling, stalled *verdict) {
	if b := s.Blocked; b != nil {
		return blockedReadiness(topic, b, s, now)
	}
	d := s.Decision
	if inForce(d) && s.Drift == "" && s.Failed == "" && s.Routed {
		v := yes(rocketmqv1alpha1.ReasonAsNeeded, asNeeded(d, s))
		return &v, nil, nil
	}
	reason, message, w := cause(d, s)
	switch w {
	case unsure:
		return unproven(topic, reason, message, d.Open, s, now)
	case needsEdit:
		r, st := no(reason, message), yes(reason, message)
		return &r, nil, &st
	case needsPerson:
		r := no(reason, message)
		return &r, nil, nil
	default:
		r, rec := no(reason, message), yes(reason, message)
		return &r, &rec, nil
	}
}

func blockedReadiness(topic *rocketmqv1alpha1.Topic, b *blocked, s standing, now time.Time) (ready, reconciling, stalled *verdict) {
	switch {
	case b.Unsure:
		return unproven(topic, b.Reason, b.Message, topic.Status.Change != nil, s, now)
	case b.Edit:
		r, st := no(b.Reason, b.Message), yes(b.Reason, b.Message)
		return &r, nil, &st
	default:
		r, rec := no(b.Reason, b.Message), yes(b.Reason, b.Message)
		return &r, &rec, nil
	}
}

// unproven is Ready when too little can be seen: an object in a change says so
// at once, one at rest keeps what was last proven for a while (rule K07).
func unproven(topic *rocketmqv1alpha1.Topic, reason, message string, open bool, s standing, now time.Time) (ready, reconciling, stalled *verdict) {
	u := unknown(reason, message)
	rec := yes(reason, message)
	fresh := topic.Status.ObservedGeneration != topic.Generation
	switch {
	case open, fresh:
		return &u, &rec, nil
	case s.UnknownSince.IsZero() || now.Sub(s.UnknownSince) < s.Grace:
		return nil, nil, nil
	default:
		return &u, nil, nil
	}
}

// inForce says that an application has what it needs: writes settled, reads
// wide enough. The stages before the drain are not there yet.
func inForce(d resize.Decision) bool {
	if !d.InForce {
		return false
	}
	switch d.Stage {
	case resize.StageNarrowingWrites, resize.StageRoutes, resize.StageSettling, resize.StageLateMessages, resize.StageRepairing:
		return false
	}
	return true
}

// cause is the first thing that keeps a topic from being ready.
func cause(d resize.Decision, s standing) (reason, message string, w weight) {
	if len(d.Holds) > 0 {
		reason, w = holdReason(d.Holds[0].Reason)
		return reason, d.Holds[0].Long(), w
	}
	switch {
	case s.Failed != "":
		return rocketmqv1alpha1.ReasonPartiallyApplied, s.Failed, passes
	case d.Step.Kind != "":
		return stageReason(d.Stage), stepMessage(d), passes
	case s.Drift != "":
		return rocketmqv1alpha1.ReasonDrifted, s.Drift, passes
	case !s.Routed:
		return rocketmqv1alpha1.ReasonRoutesDiffer, first(s.RouteWhy, "not every name server routes the topic as the brokers have it"), passes
	default:
		return stageReason(d.Stage), stageMessage(d), passes
	}
}

func asNeeded(d resize.Decision, s standing) string {
	return fmt.Sprintf("%s per broker writable on %s and %s",
		plural(d.Proof.Write, "queue"), plural(s.Brokers, "broker"), plural(s.NameServers, "name server"))
}

func asDeclared(s standing) verdict {
	if b := s.Blocked; b != nil {
		if b.Unsure {
			return unknown(b.Reason, b.Message)
		}
		return no(b.Reason, b.Message)
	}
	d := s.Decision
	if d.AsDeclared && s.Drift == "" && s.Failed == "" && s.Routed {
		return yes(rocketmqv1alpha1.ReasonAsDeclared, "")
	}
	reason, message, w := cause(d, s)
	if len(d.Holds) > 0 {
		message = d.Holds[0].Short()
	}
	if w == unsure {
		return unknown(reason, message)
	}
	return no(reason, message)
}

func draining(d resize.Decision) *verdict {
	switch d.Stage {
	case resize.StageDraining, resize.StageProvingAgain, resize.StageNarrowingReads:
	default:
		return nil
	}
	v := yes(stageReason(d.Stage), stageMessage(d))
	if len(d.Holds) > 0 {
		v.Reason, _ = holdReason(d.Holds[0].Reason)
		v.Message = holdsMessage(d)
	}
	return &v
}

func watched(d resize.Decision) *verdict {
	if d.Proof.Watched == 0 {
		return nil
	}
	message := fmt.Sprintf("%s watched for late messages", plural(d.Proof.Watched, "retired queue"))
	if !d.Proof.WatchUntil.IsZero() {
		message += " until " + d.Proof.WatchUntil.UTC().Format("2006-01-02 15:04 UTC")
	}
	v := yes(rocketmqv1alpha1.ReasonWatchingRetired, message)
	return &v
}

// reopened says that reads were opened for late messages and are not narrowed
// again: the condition that says so stays, although the message itself may have
// been consumed within a second.
func reopened(topic *rocketmqv1alpha1.Topic, d resize.Decision) bool {
	return d.Open && d.Stage != resize.StageWatching && d.Stage != resize.StageSteady &&
		meta.IsStatusConditionTrue(topic.Status.Conditions, rocketmqv1alpha1.ConditionLateMessages)
}

func adoptedLarger(d resize.Decision) *verdict {
	for _, h := range d.Holds {
		if h.Reason == resize.ReasonAdoptedLarger {
			v := yes(rocketmqv1alpha1.ReasonAdoptedLarger, h.Long())
			return &v
		}
	}
	return nil
}

func finding(d resize.Decision, what resize.Reason, reason string) *verdict {
	var v *verdict
	for _, f := range d.Findings {
		if f.Reason != what {
			continue
		}
		if v == nil {
			y := yes(reason, f.Long())
			v = &y
			continue
		}
		v.Message += "; " + f.Long()
	}
	return v
}
