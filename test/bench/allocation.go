// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// allocationCase is one computation of internal/allocation.
type allocationCase struct {
	name            string
	queues, members int64
	// limit is what one run may take; 0 when no limit is set.
	limit time.Duration
	run   func() error
}

// AllocationTable measures the sharing of queues and returns a section of the
// report. An error of a computation is in its row.
func AllocationTable() string {
	var b strings.Builder
	b.WriteString("\n## Sharing queues\n\nPure computation, no server. The mean of runs over one second each.\n\n" +
		"| computation | queues | members | time | limit | memory allocated | allocations |\n|---|---|---|---|---|---|---|\n")
	for _, c := range allocationCases() {
		var failed error
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if failed = c.run(); failed != nil {
					b.FailNow()
				}
			}
		})
		if failed != nil {
			fmt.Fprintf(&b, "| %s | %d | %d | failed: %v | | | |\n", c.name, c.queues, c.members, failed)
			continue
		}
		limit := ""
		if c.limit > 0 {
			limit = c.limit.String()
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %d B | %d |\n", c.name, c.queues, c.members,
			time.Duration(r.NsPerOp()), limit, r.AllocedBytesPerOp(), r.AllocsPerOp())
	}
	return b.String()
}

func allocationCases() []allocationCase {
	const most, many = int64(math.MaxInt32), int64(1_000_000)
	cases := []allocationCase{
		{"AVG, all ranges", most, many, 20 * time.Millisecond, func() error {
			_, err := allocation.Ranges(most, many)
			return err
		}},
		{"AVG, all ranges one by one", most, many, 20 * time.Millisecond, func() error { return eachRange(most, many) }},
		{"AVG, one range", most, many, 0, func() error {
			_, err := allocation.RangeAt(most, many, many/2)
			return err
		}},
		{"capacity, two topics on 16 brokers", 32 * most, 0, 0, countCapacity(most)},
	}
	queues, clients := listedGroup(8, 128, 1000)
	for _, s := range []allocation.Strategy{
		allocation.Averagely{}, allocation.AveragelyByCircle{}, allocation.ConsistentHash{VirtualNodes: allocation.DefaultVirtualNodes},
	} {
		cases = append(cases, allocationCase{"lists of all members, " + s.Name(), int64(len(queues)), int64(len(clients)), 0, func() error {
			_, err := allocation.Share(s, queues, clients)
			return err
		}})
	}
	loads := randomLoads(100_000)
	return append(cases,
		allocationCase{"free sharing by weight (LPT)", int64(len(loads)), 1000, 0, func() error {
			_, err := allocation.LPT(loads, 1000)
			return err
		}},
		allocationCase{"best consecutive parts by weight", int64(len(loads)), 1000, 0, func() error {
			_, _, err := allocation.Partition(loads, 1000)
			return err
		}})
}

func eachRange(queues, members int64) error {
	all, err := allocation.EachRange(queues, members)
	if err != nil {
		return err
	}
	end := int64(0)
	for _, r := range all {
		end = r.End
	}
	if end != queues {
		return fmt.Errorf("the ranges end at %d of %d", end, queues)
	}
	return nil
}

func countCapacity(queues int64) func() error {
	topics := []allocation.TopicQueues{{Topic: "orders"}, {Topic: "refunds"}}
	for i := range topics {
		for broker := range 16 {
			topics[i].Brokers = append(topics[i].Brokers, allocation.BrokerQueues{Broker: fmt.Sprint("broker-", broker), Queues: queues})
		}
	}
	return func() error {
		_, err := allocation.CapacityOf(allocation.Averagely{}, topics)
		return err
	}
}

func listedGroup(brokers, queuesEach, members int) ([]allocation.Queue, []string) {
	var queues []allocation.Queue
	for broker := range brokers {
		for id := range queuesEach {
			queues = append(queues, allocation.Queue{Topic: "orders", Broker: fmt.Sprint("broker-", broker), ID: id})
		}
	}
	clients := make([]string, members)
	for i := range clients {
		clients[i] = fmt.Sprintf("10.0.%d.%d@7#%d", i/250, i%250, i)
	}
	allocation.SortQueues(queues)
	allocation.SortClients(clients)
	return queues, clients
}

func randomLoads(n int) []int64 {
	random := rand.New(rand.NewPCG(1, 2))
	loads := make([]int64, n)
	for i := range loads {
		loads[i] = random.Int64N(1 << 40)
	}
	return loads
}
