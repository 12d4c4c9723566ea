// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/resize"
)

// plural prints a number with its noun: 1 queue, 2 queues.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// holdsMessage says all listed holds in one line.
func holdsMessage(d resize.Decision) string {
	parts := make([]string, 0, len(d.Holds)+1)
	for _, h := range d.Holds {
		parts = append(parts, h.Long())
	}
	if d.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", d.Omitted))
	}
	return strings.Join(parts, "; ")
}

// stageMessage says where a change stands when nothing holds it.
func stageMessage(d resize.Decision) string {
	p := d.Proof
	switch d.Stage {
	case resize.StageCreating:
		return "the topic is being created"
	case resize.StageRepairing:
		return "reads are being raised to the number of writable queues, so that no message is out of sight"
	case resize.StageNarrowingWrites:
		return fmt.Sprintf("writes are being narrowed to %s per broker", plural(p.Target, "queue"))
	case resize.StageRoutes:
		return fmt.Sprintf("%d of %s route %s writable", p.Routed, plural(p.NameServers, "name server"), plural(p.Target, "queue"))
	case resize.StageSettling:
		return fmt.Sprintf("%d of %s still; old routes may be %d s old", p.Still, plural(p.Retiring, "retiring queue"), int(p.RouteAge.Seconds()))
	case resize.StageLateMessages:
		return fmt.Sprintf("%d of 2 looks saw no delayed, timed or half message pending", p.ClearLooks)
	case resize.StageDraining:
		return fmt.Sprintf("%s being read to the end", plural(p.Retiring, "retiring queue"))
	case resize.StageProvingAgain:
		return "a fresh look at everything precedes the narrowing of reads"
	case resize.StageNarrowingReads:
		return fmt.Sprintf("reads are being narrowed to %s per broker", plural(p.Target, "queue"))
	case resize.StageWatching:
		return fmt.Sprintf("%s watched for late messages", plural(p.Watched, "retired queue"))
	case resize.StageReopening:
		return "a message arrived in a retired queue; reads are being opened again until it is consumed"
	case resize.StageSeeding:
		return "groups are given the place to begin in the new queues"
	case resize.StageWideningReads:
		return fmt.Sprintf("reads are being widened to %s per broker", plural(p.Target, "queue"))
	case resize.StageAwaitingReaders:
		return "readers are given time to take the new queues"
	case resize.StageWideningWrites:
		return fmt.Sprintf("writes are being widened to %s per broker", plural(p.Target, "queue"))
	case resize.StageAddingBroker:
		return "the topic is being added to a broker"
	case resize.StageClosingBroker:
		return "the topic is being taken from a broker"
	case resize.StageRescuing:
		return "queues with stranded messages are open for reading until they are consumed"
	default:
		return "the topic is being brought to what is declared"
	}
}

// stepMessage says what is being sent.
func stepMessage(d resize.Decision) string {
	var brokers []string
	for _, c := range d.Step.Changes {
		brokers = append(brokers, fmt.Sprintf("%s (%s → %s)", c.Broker, c.Expect, c.Want))
	}
	if len(brokers) == 0 {
		return stageMessage(d)
	}
	return stageMessage(d) + ": " + strings.Join(brokers, ", ")
}
