// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Groups says for which groups a look finds out what they have to do with the
// topic.
type Groups string

const (
	// AllGroups asks every group that any broker of the cluster knows, and every
	// member of those that read the topic: what a proof needs (rule R07). It is
	// the zero value.
	AllGroups Groups = ""
	// KnownGroups asks the groups with an offset entry on the topic and the
	// declared ones. A group that is online and never committed is missed, so
	// it is for stages that conclude nothing from groups (rule R42).
	KnownGroups Groups = "KnownGroups"
	// NoGroups asks none: Groups of the look is unknown.
	NoGroups Groups = "NoGroups"
)

// DeclaredGroup is a group that a manifest names for the topic.
type DeclaredGroup struct {
	Name string
	// Broadcast says that the manifest declares the broadcast model.
	Broadcast bool
}

// LookOptions say how far a look goes.
type LookOptions struct {
	// Queues is the highest queue count the topic ever had on any broker: ids up
	// to it are asked for on every broker that has the topic, so that retired
	// queues are seen. Counts that a broker shows now are always covered.
	Queues int
	// Groups says which groups are asked.
	Groups Groups
	// Declared are the groups that manifests name for the topic.
	Declared []DeclaredGroup
}

// merge is a look that serves both.
func (o LookOptions) merge(p LookOptions) LookOptions {
	o.Queues = max(o.Queues, p.Queues)
	for _, g := range []Groups{AllGroups, KnownGroups, NoGroups} {
		if o.Groups == g || p.Groups == g {
			o.Groups = g
			break
		}
	}
	o.Declared = slices.Clone(o.Declared)
	for _, d := range p.Declared {
		i := slices.IndexFunc(o.Declared, func(e DeclaredGroup) bool { return e.Name == d.Name })
		if i < 0 {
			o.Declared = append(o.Declared, d)
		} else {
			o.Declared[i].Broadcast = o.Declared[i].Broadcast || d.Broadcast
		}
	}
	return o
}

// TopicLook takes a look at one topic that begins after the call: one ordered
// pass over everything that a decision about its queues rests on (rule R01).
// Per broker it asks for identity, committed offsets, dispatch and delays, ends
// of queues, topic config; then for the routes of every name server; then for
// groups and their members; and for each broker's identity again, so that all
// its answers come from one process.
//
// Looks that are asked for while one is under way wait for it and then share
// one pass: what is asked of a broker and not of a topic is asked once for all
// of them.
//
// What could not be asked is unknown in the look. The error is ctx's, or that
// the observer has stopped.
func (o *Observer) TopicLook(ctx context.Context, topic string, opts LookOptions) (snapshot.TopicLook, error) {
	return o.looks.ask(ctx, topic, opts)
}
