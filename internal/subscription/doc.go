// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subscription reads filters as RocketMQ reads them, says whether the
// members of a consumer group subscribe alike, and plans a change of a group's
// subscription so that nothing is skipped. It is pure: facts and the time go
// in, values come out. It knows neither Kubernetes nor sockets.
//
// Filters: [Parse] reads a declared filter and refuses what RocketMQ would
// refuse or read differently than it looks; [Observed] reads what a member
// says of itself; [Filter.Equal] compares.
//
// Audit: fill an [Ask] with one look, the pods and the referenced workloads,
// and call [Audit] with the state of the last one:
//
//	report := subscription.Audit(ask, state)
//	state = report.State
//
// Show Verdict.Status, Reason and Sentence, which are debounced; let nothing
// but [Plan] act on Verdict.Now. Keep the exported part of the state in the
// object's status, or make it with [Shown] from the object's conditions, so
// that a restart flaps none.
//
// Change: call [Plan] with every new look, also at rest, since it keeps the
// offsets of the last look in which all members agreed (rule R30):
//
//		d := subscription.Plan(spec, progress, ask, now)
//
//	 1. Persist d.Next.Record (status) and d.Next.Note (outside status, and the
//	    annotation of a fence), if either changed, before anything is sent.
//	 2. Carry out d.Step. Before each changing call prove the peer and read the
//	    config in the same call chain; send nothing after Step.NotAfter (R02).
//	 3. Hand d.Next.Acted(time.Now()) to the next call, with a look that began
//	    after it. A step that failed, was lost or late needs no handling: the
//	    next look shows what is true.
//
// While d.Open, hold the finalizer and let no topic of the group be resized
// (rules R16, R23); while d.Fenced, hold scale-ups (rule R36).
package subscription
