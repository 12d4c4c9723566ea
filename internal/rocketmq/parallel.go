// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmq

import (
	"context"
	"sync"
)

// each calls ask for every key, at most limit at the same time, and returns all
// answers or the first error. After an error no further call is begun and those
// under way are cancelled.
func each[K comparable, V any](ctx context.Context, limit int, keys []K, ask func(context.Context, K) (V, error)) (map[K]V, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		first   error
		answers = make(map[K]V, len(keys))
		next    = make(chan K)
	)
	for range min(limit, len(keys)) {
		wg.Go(func() {
			for key := range next {
				v, err := ask(ctx, key)
				mu.Lock()
				if err == nil {
					answers[key] = v
				} else if first == nil {
					first = err
					cancel()
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, key := range keys {
		select {
		case next <- key:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if first == nil {
		first = context.Cause(ctx)
	}
	if first != nil {
		return nil, first
	}
	return answers, nil
}
