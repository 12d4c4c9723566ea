// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A hold without a broker reads as a sentence all the same.
func TestHold_WithoutPlace(t *testing.T) {
	for _, tc := range []struct {
		name        string
		hold        Hold
		short, long string
	}{
		{"second look", Hold{Reason: ReasonLatePending, Queue: NoQueue, Wait: 8 * time.Second, Why: "nothing is seen pending; a second look is due to see the same"},
			"a second look for late messages, about 8 s", "nothing is seen pending; a second look is due to see the same; about 8 s"},
		{"pending on a broker", Hold{Reason: ReasonLatePending, Broker: "broker-a", Queue: NoQueue, Wait: 8 * time.Second, Why: "1 message is half committed"},
			"late messages on broker-a, about 8 s", "broker-a: 1 message is half committed; about 8 s"},
		{"old look", Hold{Reason: ReasonUnknown, Queue: NoQueue, Why: "the look before the cut was 18 s old"},
			"a fresh look", "the look before the cut was 18 s old"},
		{"unknown group", Hold{Reason: ReasonUnknown, Group: "CG", Queue: NoQueue, Why: "whether its members broadcast is not known"},
			"an answer of CG", "group CG: whether its members broadcast is not known"},
		{"unknown broker", Hold{Reason: ReasonUnknown, Broker: "broker-b", Queue: NoQueue, Why: "no answer in time"},
			"an answer of broker-b", "broker-b: no answer in time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.hold.Short()).To(Equal(tc.short))
			g.Expect(tc.hold.Long()).To(Equal(tc.long))
		})
	}
}
