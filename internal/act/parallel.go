// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package act

import "sync"

// forEach runs do for every item, at most limit at the same time, and returns
// when all are done. What do finds out, it stores at its index.
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
