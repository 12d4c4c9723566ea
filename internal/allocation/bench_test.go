// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

const (
	manyQueues  = math.MaxInt32
	manyMembers = 1_000_000
)

func BenchmarkRanges(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := allocation.Ranges(manyQueues, manyMembers); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEachRange(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		all, err := allocation.EachRange(manyQueues, manyMembers)
		if err != nil {
			b.Fatal(err)
		}
		last := int64(0)
		for _, r := range all {
			last = r.End
		}
		if last != manyQueues {
			b.Fatal(last)
		}
	}
}

func BenchmarkRangeAt(b *testing.B) {
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		if _, err := allocation.RangeAt(manyQueues, manyMembers, i%manyMembers); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkShare(b *testing.B) {
	var queues []allocation.Queue
	for broker := range 8 {
		for id := range 128 {
			queues = append(queues, allocation.Queue{Topic: testTopic, Broker: fmt.Sprint("broker-", broker), ID: id})
		}
	}
	clients := ids(1000)
	for _, s := range []allocation.Strategy{allocation.Averagely{}, allocation.AveragelyByCircle{}, consistent(), allocation.GoConsistentHash{VirtualNodes: 10}} {
		b.Run(s.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := allocation.Share(s, queues, clients); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWeights(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	weights := make([]int64, 100_000)
	for i := range weights {
		weights[i] = random.Int64N(1 << 40)
	}
	b.Run("LPT", func(b *testing.B) {
		for b.Loop() {
			if _, err := allocation.LPT(weights, 1000); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Partition", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := allocation.Partition(weights, 1000); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCapacity(b *testing.B) {
	topics := []allocation.TopicQueues{{Topic: "T"}, {Topic: "U"}}
	for i := range topics {
		for broker := range 16 {
			topics[i].Brokers = append(topics[i].Brokers, allocation.BrokerQueues{Broker: fmt.Sprint(broker), Queues: math.MaxInt32})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := allocation.CapacityOf(allocation.Averagely{}, topics); err != nil {
			b.Fatal(err)
		}
	}
}
