// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/resize"
	"github.com/lockstep-dev/lockstep/internal/rocketmq"
	"github.com/lockstep-dev/lockstep/internal/snapshot"
)

// withGroup makes sure that the broker knows the groups, and returns the seeds
// of those that it does: brokers from 5.3 refuse offsets of others (rule R14).
func (s *seeding) withGroup(ctx context.Context, seeds []resize.Seed) []resize.Seed {
	if len(seeds) == 0 {
		return nil
	}
	table, err := s.groups(ctx, s.master.Addr)
	if err != nil {
		for _, seed := range seeds {
			s.fail(seed, "the groups of the broker are not known", err)
		}
		return nil
	}
	missing := map[string]error{} // what came of copying each missing group
	var out []resize.Seed
	for _, seed := range seeds {
		if _, there := table[seed.Group]; !there {
			failed, tried := missing[seed.Group]
			if !tried {
				failed = s.copyGroup(ctx, seed.Group)
				missing[seed.Group] = failed
			}
			if failed != nil {
				s.fail(seed, "the broker does not know the group", failed)
				continue
			}
		}
		out = append(out, seed)
	}
	return out
}

// copyGroup creates a group on the broker as another master of the cluster has
// it, and reads it back.
func (s *seeding) copyGroup(ctx context.Context, group string) error {
	config, err := s.groupElsewhere(ctx, group)
	if err != nil {
		return err
	}
	var done rocketmq.GroupChange
	failed := s.send(ctx, func(ctx context.Context) (err error) {
		done, err = s.client.UpdateGroup(ctx, s.master, group, func(current snapshot.GroupConfig, exists bool) (snapshot.GroupConfig, error) {
			if exists {
				return current, nil
			}
			return config, nil
		})
		return err
	})
	s.sent = s.sent || done.Sent
	if failed != nil && !done.Sent {
		return failed
	}
	table, err := s.groups(ctx, s.master.Addr)
	if err != nil {
		return errors.Join(failed, fmt.Errorf("reading the group back: %w", err))
	}
	if _, there := table[group]; !there {
		return errors.Join(failed, errors.New("it was created and is not there"))
	}
	return nil
}

// groupElsewhere is the group as the first other master has it. Its attributes
// stay behind: they travel with signs, and putting them right is the business of
// whoever declares the group.
func (s *seeding) groupElsewhere(ctx context.Context, group string) (snapshot.GroupConfig, error) {
	for _, broker := range slices.Sorted(maps.Keys(s.order.Look.Brokers)) {
		addr, known := s.order.Look.Brokers[broker].Master.Get()
		if !known || broker == s.master.Name {
			continue
		}
		table, err := s.groups(ctx, addr)
		if err != nil {
			return snapshot.GroupConfig{}, fmt.Errorf("the groups of %s are not known: %w", broker, err)
		}
		if config, there := table[group]; there {
			config.Attributes = nil
			return config, nil
		}
	}
	return snapshot.GroupConfig{}, errors.New("no other broker of the cluster knows it either")
}

func (s *seeding) groups(ctx context.Context, addr string) (map[string]snapshot.GroupConfig, error) {
	table, err := read(ctx, s.Actor, func(ctx context.Context) (rocketmq.GroupTable, error) { return s.client.AllGroups(ctx, addr) })
	return table.Groups, err
}
