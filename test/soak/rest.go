// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/lockstep-dev/lockstep/api/v1alpha1"
	"github.com/lockstep-dev/lockstep/test/rig/world"
)

// readTime is how long consumers get for what is left after the producers ended.
const readTime = 4 * time.Minute

// settle waits until every Topic is ready and as declared, ends the producers,
// and waits until every group has read everything.
func (s *soak) settle(ctx context.Context) error {
	s.journal.event("rest", "no more faults; waiting for the world to come to rest, at most %s", s.options.rest)
	began := time.Now()
	if err := s.awaitRest(ctx); err != nil {
		return err
	}
	s.counts.add("resizes finished", s.counts.get(openResizes))
	s.journal.event("rest", "every Topic is ready and as declared %.0f s after the last fault", time.Since(began).Seconds())
	if err := s.stopProducers(ctx); err != nil {
		return fmt.Errorf("ending the producers: %w", err)
	}
	s.journal.event("rest", "the producers have ended; waiting for the consumers, at most %s", readTime)
	err := wait.PollUntilContextTimeout(ctx, time.Second, readTime, true, func(context.Context) (bool, error) {
		if err := s.tally.update(); err != nil {
			return false, err
		}
		left, _ := s.tally.lost()
		return left == 0, nil
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.counted = ctx.Err() == nil // what is missing now is lost: the verdict says so
	return ctx.Err()
}

// awaitRest waits for the Topics, and approves what waits for an approval.
func (s *soak) awaitRest(ctx context.Context) error {
	var waiting string
	err := wait.PollUntilContextTimeout(ctx, time.Second, s.options.rest, true, func(ctx context.Context) (bool, error) {
		waiting = ""
		for _, t := range topics(s.five()) {
			object := t.asObject()
			if err := s.world.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return false, fmt.Errorf("reading Topic %s: %w", t.object, err)
			}
			if isTrue(object, v1alpha1.ConditionReady) && isTrue(object, v1alpha1.ConditionAsDeclared) {
				continue
			}
			waiting += world.Describe(object)
			if err := s.approve(ctx, object); err != nil {
				return false, err
			}
		}
		return waiting == "", nil
	})
	if err != nil && ctx.Err() == nil && waiting != "" {
		return fmt.Errorf("the world did not come to rest within %s after the faults stopped: %w\n%s", s.options.rest, err, waiting)
	}
	return err
}
