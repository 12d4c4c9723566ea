// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e_test

import (
	"context"
	"sync"
	"time"

	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/util/wait"
)

// pair is how many queues a broker lets be read and written.
type pair struct{ read, write int }

// follow writes down every state that a topic on a broker goes through while
// act runs. It asks a hundred times a second, and a staged change leaves its
// states much further apart.
func (s *scene) follow(broker, topic string, act func()) []pair {
	s.Helper()
	var mu sync.Mutex
	var seen []pair
	address := s.master(broker).Addr
	look := func(ctx context.Context) error {
		found, err := s.mq.TopicConfig(ctx, address, topic)
		if err != nil || !found.Present {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		now := pair{found.Config.ReadQueues, found.Config.WriteQueues}
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		return nil
	}
	s.Expect(look(s.Context())).To(Succeed())
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A look that fails is made again; what was missed shows as a jump.
		_ = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			_ = look(ctx)
			return false, nil
		})
	}()
	func() {
		defer func() { cancel(); <-done }()
		act()
	}()
	s.Expect(look(s.Context())).To(Succeed())
	for _, p := range seen {
		s.Logf("%s of %s: read %d, write %d", topic, broker, p.read, p.write)
	}
	return seen
}

// neverBelow checks the invariant read >= write >= 1 on every state after the
// first ones given.
func (s *scene) neverBelow(seen []pair) {
	s.Helper()
	for _, p := range seen {
		s.Expect(p.read).To(BeNumerically(">=", p.write), "%v", seen)
		s.Expect(p.write).To(BeNumerically(">=", 1), "%v", seen)
	}
}
