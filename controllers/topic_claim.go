// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"slices"
	"strings"

	rocketmqv1alpha1 "github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/internal/observe"
)

// claimant is one object that declares a name on a physical cluster.
type claimant struct {
	Topic *rocketmqv1alpha1.Topic
	// Identity is the physical cluster behind its BrokerCluster; Known is false
	// while no sweep has shown it.
	Identity observe.Identity
	Known    bool
	// Cluster is the BrokerCluster it refers to.
	Cluster observe.ID
}

// rivals are the other objects that declare the same topic on the same
// physical cluster: through the same BrokerCluster, or through another one
// whose name servers show the same brokers (rules R19, K13). An object whose
// cluster is not known yet is no rival: it writes nothing either.
func rivals(own claimant, all []claimant) []claimant {
	var out []claimant
	for _, other := range all {
		if other.Topic.UID == own.Topic.UID || other.Topic.EffectiveName() != own.Topic.EffectiveName() {
			continue
		}
		same := other.Cluster == own.Cluster
		if !same && own.Known && other.Known {
			same = own.Identity.Same(other.Identity)
		}
		if same {
			out = append(out, other)
		}
	}
	return out
}

// holder is the claimant that holds the name: the oldest, ties by UID (rule
// K13). One that is being deleted holds it until it is gone, so that there is
// one writer at every moment (rule R17). It is nil when there is no claimant.
func holder(all []claimant) *rocketmqv1alpha1.Topic {
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, older).Topic
}

// heir is the claimant that takes over from one that is being deleted: the
// oldest of the others that is not being deleted itself.
func heir(others []claimant) *rocketmqv1alpha1.Topic {
	return holder(slices.DeleteFunc(slices.Clone(others), func(c claimant) bool {
		return !c.Topic.DeletionTimestamp.IsZero()
	}))
}

func older(a, b claimant) int {
	if c := a.Topic.CreationTimestamp.Compare(b.Topic.CreationTimestamp.Time); c != 0 {
		return c
	}
	return cmp.Compare(a.Topic.UID, b.Topic.UID)
}

// claimOf is the record of the holder as it goes into status.
func claimOf(identity observe.Identity, held *rocketmqv1alpha1.Topic) *rocketmqv1alpha1.Claim {
	return &rocketmqv1alpha1.Claim{
		Identity:  identity.String(),
		Namespace: held.Namespace,
		Name:      held.Name,
		UID:       held.UID,
	}
}

// conflictMessage says who holds the topic and what that means.
func conflictMessage(topic, held *rocketmqv1alpha1.Topic) string {
	var b strings.Builder
	b.WriteString("topic " + topic.EffectiveName() + " is held by Topic " + held.Namespace + "/" + held.Name)
	if held.CreationTimestamp.Equal(&topic.CreationTimestamp) {
		b.WriteString(" (of the same age; the smaller UID decides)")
	} else {
		b.WriteString(", which is older")
	}
	b.WriteString("; nothing is changed for this object; delete one of the two")
	return b.String()
}
