// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
)

// Spread is how the load of one topic (a backlog, a rate) falls on members, and
// what would spread it better. All figures are of the most loaded member, in the
// unit of the loads.
type Spread struct {
	// Fair is an equal part of the whole load, rounded up.
	Fair int64
	// Heaviest is the load of the heaviest queue: no sharing of whole queues gets
	// below it.
	Heaviest int64
	// Loaded is how many queues have a load: more members than that have nothing
	// to do now (case A20).
	Loaded int
	// Averagely and Circle are what AVG and AVG_BY_CIRCLE make of it.
	Averagely, Circle int64
	// Contiguous is the best that consecutive parts of any size could do, Free
	// what sharing without regard to order does (LPT).
	Contiguous, Free int64

	// ByStrategy: AVG_BY_CIRCLE instead of AVG takes a tenth or more off.
	ByStrategy bool
	// ByQueues: no way to share the queues there are comes within a tenth of Fair,
	// and no queue stands out: more queues give finer parts.
	ByQueues bool
	// ByKeys: one queue is far above its mean and above Fair. More queues, members
	// or another strategy leave its load in one place; only other keys of the
	// producers or a client that shares single messages help.
	ByKeys bool
}

// worth is the part of a load, one of so many, that makes advice worth giving.
const worth = 10

// standsOut is how many times its mean a queue holds that stands out.
const standsOut = 2

// SpreadOf computes the spread of the loads of a topic's queues, in the order in
// which clients sort them, over members.
func SpreadOf(loads []int64, members int) (Spread, error) {
	total := int64(0)
	if err := checkWeights(loads, members); err != nil {
		return Spread{}, fmt.Errorf("spreading the load of %d queues: %w", len(loads), err)
	}
	var s Spread
	for _, load := range loads {
		if load > math.MaxInt64-total {
			return Spread{}, fmt.Errorf("spreading the load of %d queues: %w", len(loads), ErrTooHeavy)
		}
		total += load
		s.Heaviest = max(s.Heaviest, load)
		if load > 0 {
			s.Loaded++
		}
	}
	s.Fair = meanOf(loads, members)
	s.Averagely, s.Circle = averagelyMost(loads, members), circleMost(loads, members)
	free, err := LPT(loads, members)
	if err != nil {
		return Spread{}, fmt.Errorf("spreading the load of %d queues: %w", len(loads), err)
	}
	s.Free = free.Most
	if _, s.Contiguous, err = Partition(loads, members); err != nil {
		return Spread{}, fmt.Errorf("spreading the load of %d queues: %w", len(loads), err)
	}
	s.ByStrategy = less(s.Circle, s.Averagely)
	if less(s.Fair, min(s.Averagely, s.Circle, s.Contiguous, s.Free)) {
		outlier := s.Heaviest/standsOut > total/int64(len(loads))
		s.ByKeys = outlier && s.Heaviest > s.Fair
		s.ByQueues = !s.ByKeys
	}
	return s, nil
}

// less reports whether a is below b by a worthwhile part of b.
func less(a, b int64) bool { return b-a > (b-1)/worth }

func averagelyMost(loads []int64, members int) int64 {
	most := int64(0)
	size, rem := int64(len(loads)/members), int64(len(loads)%members)
	for i := range min(members, len(loads)) {
		sum := int64(0)
		r := rangeAt(size, rem, int64(i))
		for _, load := range loads[r.Start:r.End] {
			sum += load
		}
		most = max(most, sum)
	}
	return most
}

func circleMost(loads []int64, members int) int64 {
	most := int64(0)
	for i := range min(members, len(loads)) {
		sum := int64(0)
		for at := i; at < len(loads); at += members {
			sum += loads[at]
		}
		most = max(most, sum)
	}
	return most
}
