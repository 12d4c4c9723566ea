// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// Amendment puts a topic's fields on one broker back to what is declared, all
// but its queue counts: those are a planner's.
type Amendment struct {
	Master rocketmq.Master
	// Process is whose answer Expect is.
	Process snapshot.Process
	// Expect is the whole config as it was seen.
	Expect snapshot.TopicConfig
	// Amend turns it into what is declared. It is applied to what the broker has
	// when the change is sent, so that what nobody declared stays (cases Q27,
	// Q28).
	Amend func(snapshot.TopicConfig) snapshot.TopicConfig
}

// Amend carries out an amendment. Nothing is sent when nothing differs (case
// O12).
func (a *Actor) Amend(ctx context.Context, m Amendment) Result {
	topic := m.Expect.Name
	if err := a.cluster.NameServersComplete(ctx, []string{m.Master.Name}); err != nil {
		return refused(err)
	}
	r := a.put(ctx, write{
		master: m.Master, topic: topic, process: m.Process, until: deadline{clock: a.clock},
		change: func(current snapshot.StoredTopic) (snapshot.TopicConfig, error) {
			want := m.Amend(current.Config.Clone())
			switch {
			case !current.Present:
			case want.Equal(current.Config):
				return want, nil
			case want.ReadQueues != current.Config.ReadQueues || want.WriteQueues != current.Config.WriteQueues:
				return want, &StepError{Kind: resize.StepSetPermission, Why: fmt.Sprintf("an amendment of %s must not change queue counts", topic)}
			case current.Config.Equal(m.Expect):
				return want, nil
			}
			return want, &ForeignChangeError{Broker: m.Master.Name, Topic: topic,
				Expect: describe(snapshot.StoredTopic{Present: true, Config: m.Expect}), Found: describe(current)}
		},
	})
	if r.Sent {
		a.cluster.Poke()
	}
	return r
}
