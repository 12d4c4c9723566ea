// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import "time"

// Timings are the waits of the planner. A zero field means the default.
type Timings struct {
	// RouteAge is how long a producer may use an old route: 33 s, the 30 s
	// route poll of clients and a send of 3 s in flight (rocketmq.md 4.2).
	RouteAge time.Duration
	// ProxyRouteAge is the same behind an idle proxy: 300 s.
	ProxyRouteAge time.Duration
	// Still is how long the end of every retiring queue must stand still: 60 s.
	Still time.Duration
	// Apart is the least time between the two looks that see nothing pending:
	// 60 s (rule R15).
	Apart time.Duration
	// Rebalance is how long readers may take to own widened queues: 55 s, a
	// route poll and a rebalance (rocketmq-live.md 4).
	Rebalance time.Duration
	// Invisible is the longest time a POP member may hold a message before it
	// is delivered again: 60 s, the proxies' default (rocketmq.md 4.5).
	Invisible time.Duration
	// CutLookAge is how old the look before a cut may be, from its start, when
	// the cut is sent: 10 s (rule R02).
	CutLookAge time.Duration
	// MaxGap is the longest time between two looks of one window: 30 s. A
	// longer gap, or a clock that jumped, begins the window again (rule R05).
	MaxGap time.Duration
	// LookEvery is the pace of looks in a change (5 s), WatchEvery while
	// retired queues are watched (15 s), IdleEvery at rest (60 s), KeepEvery
	// after the late window until retention has passed (10 min).
	LookEvery, WatchEvery, IdleEvery, KeepEvery time.Duration
}

// DefaultTimings are the waits that hold for unmodified RocketMQ clients.
func DefaultTimings() Timings {
	return Timings{
		RouteAge: 33 * time.Second, ProxyRouteAge: 300 * time.Second,
		Still: 60 * time.Second, Apart: 60 * time.Second,
		Rebalance: 55 * time.Second, Invisible: 60 * time.Second,
		CutLookAge: 10 * time.Second, MaxGap: 30 * time.Second,
		LookEvery: 5 * time.Second, WatchEvery: 15 * time.Second,
		IdleEvery: 60 * time.Second, KeepEvery: 10 * time.Minute,
	}
}

func (t Timings) orDefaults() Timings {
	d := DefaultTimings()
	for _, f := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&t.RouteAge, d.RouteAge}, {&t.ProxyRouteAge, d.ProxyRouteAge},
		{&t.Still, d.Still}, {&t.Apart, d.Apart}, {&t.Rebalance, d.Rebalance},
		{&t.Invisible, d.Invisible}, {&t.CutLookAge, d.CutLookAge},
		{&t.MaxGap, d.MaxGap}, {&t.LookEvery, d.LookEvery},
		{&t.WatchEvery, d.WatchEvery}, {&t.IdleEvery, d.IdleEvery},
		{&t.KeepEvery, d.KeepEvery},
	} {
		if *f.have <= 0 {
			*f.have = f.want
		}
	}
	return t
}

func (s Spec) routeAge(t Timings) time.Duration {
	if s.Proxies {
		return max(t.RouteAge, t.ProxyRouteAge)
	}
	return t.RouteAge
}
