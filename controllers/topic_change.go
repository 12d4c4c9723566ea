// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/resize"
)

// changeStatus shows a running change; nil when none is open. It is a view of
// the decision for people and the CLI: what the planner needs again is in the
// note.
func changeStatus(was *rocketmqv1alpha1.QueueChange, d resize.Decision, now time.Time) *rocketmqv1alpha1.QueueChange {
	r := d.Next.Record
	if !d.Open || d.Stage == resize.StageSteady {
		return nil
	}
	out := &rocketmqv1alpha1.QueueChange{
		ID:         changeID(r),
		Generation: r.Generation,
		Kind:       changeKind(r, d.Stage),
		From:       ptr.To(int32(fromQueues(r))),
		To:         ptr.To(int32(r.Target)),
		Started:    atSecond(r.Started),
		Stage:      rocketmqv1alpha1.Stage(d.Stage),
		StageSince: atSecond(r.Since),
		Brokers:    changeBrokers(r, d.Next.Note),
		Drain:      drainStatus(was, d),
		Omitted:    int32(d.Omitted),
	}
	if d.Approval != nil {
		out.Approval = d.Approval.ID
	}
	if d.Proof.History > 0 {
		out.History = &rocketmqv1alpha1.ReadableHistory{Messages: ptr.To(coarse(d.Proof.History))}
	}
	if !d.Proof.WatchUntil.IsZero() {
		out.WatchUntil = ptr.To(atSecond(d.Proof.WatchUntil))
	}
	if rest := d.Proof.RouteAge - d.Proof.Settled; d.Stage == resize.StageSettling && rest > 0 {
		out.SettleUntil = near(changeTime(was, func(c *rocketmqv1alpha1.QueueChange) *metav1.Time { return c.SettleUntil }), now.Add(rest))
	}
	if d.Remaining > 0 {
		out.ExpectedEnd = near(changeTime(was, func(c *rocketmqv1alpha1.QueueChange) *metav1.Time { return c.ExpectedEnd }), now.Add(d.Remaining))
	}
	for i, h := range d.Holds {
		if i == rocketmqv1alpha1.MaxHolds {
			out.Omitted += int32(len(d.Holds) - i)
			break
		}
		out.WaitsFor = append(out.WaitsFor, holdStatus(h))
	}
	return out
}

func changeID(r resize.Record) string {
	return fmt.Sprintf("to-%d-at-%d", r.Target, r.Started.Unix())
}

func changeKind(r resize.Record, stage resize.Stage) rocketmqv1alpha1.ChangeKind {
	switch stage {
	case resize.StageRepairing:
		return rocketmqv1alpha1.ChangeRepair
	case resize.StageAddingBroker, resize.StageClosingBroker:
		return rocketmqv1alpha1.ChangePlacement
	case resize.StageRescuing:
		return rocketmqv1alpha1.ChangeRescue
	}
	if r.Target > fromQueues(r) {
		return rocketmqv1alpha1.ChangeGrow
	}
	return rocketmqv1alpha1.ChangeShrink
}

func fromQueues(r resize.Record) int {
	from := 0
	for _, b := range r.Brokers {
		from = max(from, b.From.Read)
	}
	return from
}

func changeBrokers(r resize.Record, n resize.Note) []rocketmqv1alpha1.BrokerChange {
	var out []rocketmqv1alpha1.BrokerChange
	for _, name := range slices.Sorted(maps.Keys(r.Brokers)) {
		to := r.Target
		if _, leaving := n.Leaving[name]; leaving {
			to = 0
		}
		b := rocketmqv1alpha1.BrokerChange{
			Name: name, From: ptr.To(int32(r.Brokers[name].From.Read)), To: ptr.To(int32(to)),
		}
		out = append(out, b)
		if len(out) == rocketmqv1alpha1.MaxBrokers {
			break
		}
	}
	return out
}

func drainStatus(was *rocketmqv1alpha1.QueueChange, d resize.Decision) *rocketmqv1alpha1.DrainProgress {
	switch d.Stage {
	case resize.StageDraining, resize.StageProvingAgain, resize.StageNarrowingReads:
	default:
		return nil
	}
	out := &rocketmqv1alpha1.DrainProgress{
		Queues: ptr.To(int32(d.Proof.Retiring)),
		Unread: ptr.To(coarse(d.Proof.UnreadTotal)),
	}
	start := out.Unread
	if was != nil && was.Drain != nil && was.Drain.UnreadAtStart != nil {
		start = ptr.To(max(*was.Drain.UnreadAtStart, *out.Unread))
	}
	out.UnreadAtStart = start
	return out
}

func holdStatus(h resize.Hold) rocketmqv1alpha1.Hold {
	reason, _ := holdReason(h.Reason)
	out := rocketmqv1alpha1.Hold{
		Reason: reason, Broker: h.Broker, Group: h.Group,
		Message: rocketmqv1alpha1.Cut(h.Short(), rocketmqv1alpha1.MaxHoldMessage),
	}
	if h.Queue > resize.NoQueue {
		out.Queue = ptr.To(int32(h.Queue))
	}
	if h.Count > 0 {
		out.Count = ptr.To(coarse(h.Count))
	}
	return out
}

// coarse rounds a number of messages down to two leading digits, so that a
// status does not change at every look (rule K05).
func coarse(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

func changeTime(c *rocketmqv1alpha1.QueueChange, get func(*rocketmqv1alpha1.QueueChange) *metav1.Time) *metav1.Time {
	if c == nil {
		return nil
	}
	return get(c)
}

// near keeps an estimate that is still good to ten seconds.
func near(was *metav1.Time, is time.Time) *metav1.Time {
	const slack = 10 * time.Second
	if was != nil && was.Sub(is).Abs() < slack {
		return was
	}
	return ptr.To(atSecond(is))
}

// atSecond is a time as the API server stores it. A finer one would differ from
// what is read back, and be written again and again.
func atSecond(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }
