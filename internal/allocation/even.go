// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
	"slices"
)

// EvenCounts are the numbers of members, up to most, among which every topic is
// shared evenly: the common divisors of the numbers of queues, ascending. Topics
// without queues do not count. It takes O(min(most, √n)) for n queues.
//
// Only AVG, AVG_BY_CIRCLE and MACHINE_ROOM share evenly at all; for others it is
// an error.
func EvenCounts(s Strategy, topics []TopicQueues, most int64) ([]int64, error) {
	parts, err := evenParts(s, topics)
	if err != nil {
		return nil, err
	}
	common := int64(0)
	for _, t := range parts {
		common = gcd(common, t.Total())
	}
	return divisors(common, most), nil
}

// Balance is the number of queues, of all topics together, that the most and the
// least loaded of so many members hold. By all strategies that share by place the
// first members take the remainder of every topic, so the difference may be as
// large as the number of topics (case A03).
func Balance(s Strategy, topics []TopicQueues, members int64) (most, least int64, err error) {
	if members <= 0 {
		return 0, 0, fmt.Errorf("%d is no number of members: want 1 or more", members)
	}
	parts, err := evenParts(s, topics)
	if err != nil {
		return 0, 0, err
	}
	for _, t := range parts {
		n := t.Total()
		size := n / members
		least += min(size, math.MaxInt64-least)
		if n%members > 0 {
			size++
		}
		most += min(size, math.MaxInt64-most)
	}
	return most, least, nil
}

// evenParts are the shared parts of the topics for strategies that share them as
// evenly as whole queues allow.
func evenParts(s Strategy, topics []TopicQueues) ([]TopicQueues, error) {
	r, why := ruleOf(s)
	switch r {
	case byName:
		return nil, fmt.Errorf("%s does not share evenly by count: %s", s.Name(), why)
	case unknowable:
		return nil, fmt.Errorf("how %s shares is unknown: %s", s.Name(), why)
	}
	return sharedAll(s, topics)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func divisors(n, most int64) []int64 {
	if n == 0 {
		return nil
	}
	var low, high []int64
	for d := int64(1); d <= n/d && d <= most; d++ {
		if n%d != 0 {
			continue
		}
		low = append(low, d)
		if pair := n / d; pair != d && pair <= most {
			high = append(high, pair)
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
