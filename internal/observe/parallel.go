// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import "sync"

// maxServers is how many servers are asked at the same time.
const maxServers = 16

// maxPerBroker is how many calls are under way on one broker at the same time:
// half of its admin threads.
const maxPerBroker = 8

// forEach runs do for every item, at most limit at the same time, and returns
// when all are done. What do finds out, it stores at its index, so that one
// server that fails takes nothing from the others.
func forEach[T any](limit int, items []T, do func(i int, item T)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(limit, len(items)) {
		wg.Go(func() {
			for i := range next {
				do(i, items[i])
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	wg.Wait()
}
