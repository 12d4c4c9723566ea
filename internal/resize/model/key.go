// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"time"
)

// horizon is how far in the past or future a moment still matters; everything
// beyond is the same. It must exceed every window that is explored.
const horizon = 6 * time.Second

// AppendTime encodes a moment as its distance from now.
func AppendTime(key []byte, t, now time.Time) []byte {
	if t.IsZero() {
		return append(key, 0xff)
	}
	return binary.AppendVarint(key, int64(min(max(t.Sub(now), -horizon), horizon)/time.Millisecond))
}

// AppendInts encodes numbers.
func AppendInts(key []byte, numbers ...int) []byte {
	for _, n := range numbers {
		key = binary.AppendVarint(key, int64(n))
	}
	return key
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c Counts) append(key []byte) []byte {
	return AppendInts(key, bit(c.Present), c.Read, c.Write, int(c.Perm))
}

// AppendKey encodes everything on which the future of the world depends;
// moments are relative, so that worlds that differ in their clock only are
// the same.
func (w *World) AppendKey(key []byte) []byte {
	key = AppendInts(key, w.Target)
	for _, b := range w.Brokers {
		key = AppendTime(AppendTime(AppendInts(key, bit(b.Up), bit(b.Foreign), bit(b.Leaves)), b.Booted, w.Now), b.Larger, w.Now)
		key = b.Before.append(b.append(key))
		for _, q := range b.Queues {
			key = AppendInts(key, len(q.Messages), q.Shown, bit(q.Foreign))
			for _, m := range q.Messages {
				key = AppendTime(AppendInts(key, int(m.Read), int(m.Out)), m.Landed, w.Now)
				if m.Out != 0 {
					key = AppendTime(key, m.Taken, w.Now)
				}
			}
		}
		key = AppendInts(key, len(b.Late))
		for _, l := range b.Late {
			key = AppendInts(key, l.Queue, bit(l.Hidden))
			key = AppendTime(AppendTime(key, l.Due, w.Now), l.Since, w.Now)
		}
	}
	for _, n := range w.NameServers {
		key = AppendInts(key, bit(n.Up))
		for _, r := range n.Routes {
			key = r.append(key)
		}
	}
	for _, g := range w.Groups {
		key = AppendInts(key, bit(g.Online), bit(g.GivenUp))
		for i := range g.Committed {
			key = AppendInts(AppendInts(key, g.Committed[i]...), g.Local[i]...)
		}
	}
	for _, p := range w.Producers {
		key = AppendTime(AppendInts(AppendInts(key, p.From), p.View...), p.Since, w.Now)
	}
	return key
}
