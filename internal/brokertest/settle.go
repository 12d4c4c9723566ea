// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "time"

// settle lets everything happen that is due by now, in the order of its time.
// The caller holds mu.
func (c *Cluster) settle() {
	now := c.clock.Now()
	for c.settleOne(now) {
	}
	for _, s := range c.ns {
		s.expire(now)
	}
	c.expireMembers(now)
	for _, p := range c.proxies {
		p.expire(now)
	}
}

// settleOne does the earliest thing that is due and reports whether there was
// one.
func (c *Cluster) settleOne(now time.Time) bool {
	at, do := now.Add(1), func() {}
	consider := func(t time.Time, f func()) {
		if !t.IsZero() && t.Before(at) {
			at, do = t, f
		}
	}
	for _, b := range c.brokers {
		if !b.up || b.hung {
			continue
		}
		consider(b.nextRegister, func() {
			b.registerAll()
			b.nextRegister = nextAfter(b.nextRegister, registerPeriod, now)
		})
		if b.id > 0 {
			consider(b.nextSync, func() {
				b.syncFromMaster()
				b.nextSync = nextAfter(b.nextSync, b.version.slaveSync(), now)
			})
		} else {
			due, deliver := b.nextLate()
			consider(due, deliver)
		}
	}
	c.considerMembers(now, consider)
	c.considerGRPC(now, consider)
	c.considerInflight(consider)
	if at.After(now) {
		return false
	}
	c.virtual = at
	do()
	c.virtual = time.Time{}
	return true
}

// nextAfter is the next time of a periodic task that ran at last. Of the runs
// up to now only the last one is kept, for the ones between change nothing.
func nextAfter(last time.Time, period time.Duration, now time.Time) time.Time {
	next := last.Add(period)
	if skipped := now.Sub(next) / period; skipped > 0 {
		next = next.Add(skipped * period)
	}
	return next
}
