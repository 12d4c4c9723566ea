// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package brokertest

import "fmt"

// Version is a RocketMQ release by its ordinal (rocketmq.md 1.5), which brokers
// report as brokerVersion in call 28.
type Version int

// The releases that brokertest imitates. Behaviour between them follows the
// release at or below.
const (
	V497 Version = 407
	V533 Version = 479
	V550 Version = 513
)

// Versions lists the imitated releases, oldest first.
func Versions() []Version { return []Version{V497, V533, V550} }

// String is the release as people write it, such as "5.3.3".
func (v Version) String() string {
	switch v {
	case V497:
		return "4.9.7"
	case V533:
		return "5.3.3"
	case V550:
		return "5.5.0"
	default:
		return fmt.Sprintf("ordinal %d", int(v))
	}
}

// Desc is the release as brokers write it in brokerVersionDesc.
func (v Version) Desc() string {
	switch v {
	case V497:
		return "V4_9_7"
	case V533:
		return "V5_3_3"
	default:
		return "V5_5_0"
	}
}

// five reports whether this is a 5.x release: single config reads (351, 352),
// topic attributes, stored order, timers, POP, request modes.
func (v Version) five() bool { return v >= V533 }

// since540 reports the behaviours that came with 5.4.0: group names are
// checked, group attributes exist, 300 is right again, tables carry totals.
func (v Version) since540() bool { return v >= 493 }

// invalid is the response code of a request that breaks a rule of names or
// queue ids: 29 on 5.3.2 and later, else 1 (rocketmq.md 1.6).
func (v Version) invalid() int {
	if v.five() {
		return 29
	}
	return 1
}

// registerTimeoutSeconds is how long code 17 waits for a name server that
// hangs (rocketmq-live.md 8).
func (v Version) registerTimeoutSeconds() int {
	if v.five() {
		return 24
	}
	return 6
}
