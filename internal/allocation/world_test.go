// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

const testTopic = "TopicTest"

// topic writes a topic as "TopicTest broker-a:4 broker-b:2".
func topic(t *testing.T, text string) allocation.TopicQueues {
	t.Helper()
	fields := strings.Fields(text)
	out := allocation.TopicQueues{Topic: fields[0]}
	for _, field := range fields[1:] {
		broker, count, _ := strings.Cut(field, ":")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out.Brokers = append(out.Brokers, allocation.BrokerQueues{Broker: broker, Queues: n})
	}
	return out
}

// queuesOf are the queues of one topic, sorted.
func queuesOf(t *testing.T, brokers string) []allocation.Queue {
	t.Helper()
	var out []allocation.Queue
	for _, b := range topic(t, testTopic+" "+brokers).Brokers {
		for id := range int(b.Queues) {
			out = append(out, allocation.Queue{Topic: testTopic, Broker: b.Broker, ID: id})
		}
	}
	allocation.SortQueues(out)
	return out
}

// short writes shares as the vectors of rocketmq.md 6 do: "[a0 a1] [b0]", with
// the last letter or digit of the broker's name.
func short(shares [][]allocation.Queue) string {
	var parts []string
	for _, share := range shares {
		var names []string
		for _, q := range share {
			names = append(names, fmt.Sprintf("%s%d", q.Broker[len(q.Broker)-1:], q.ID))
		}
		parts = append(parts, "["+strings.Join(names, " ")+"]")
	}
	return strings.Join(parts, " ")
}

// each is Allocate for every client.
func each(s allocation.Strategy, queues []allocation.Queue, clients []string) ([][]allocation.Queue, error) {
	shares := make([][]allocation.Queue, len(clients))
	for i, id := range clients {
		share, err := s.Allocate(id, queues, clients)
		if err != nil {
			return nil, err
		}
		shares[i] = share
	}
	return shares, nil
}

func consistent() allocation.ConsistentHash {
	return allocation.ConsistentHash{VirtualNodes: allocation.DefaultVirtualNodes}
}

// collide is a hash with few values, so that virtual nodes fall on each other.
func collide(key string) int64 {
	sum := int64(0)
	for _, b := range []byte(key) {
		sum = (sum*31 + int64(b)) % 23
	}
	return sum - 11
}

// group draws sorted queues and sorted client ids, some of them twice.
func group(t *rapid.T) ([]allocation.Queue, []string) {
	brokers := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"r1-a", "r1-b", "r2-c", "r3-d", "r1@e", "r2@f", "r2@f@"}), 1, 5, rapid.ID).Draw(t, "brokers")
	var queues []allocation.Queue
	for _, b := range brokers {
		for id := range rapid.IntRange(0, 9).Draw(t, "queues of "+b) {
			queues = append(queues, allocation.Queue{Topic: testTopic, Broker: b, ID: id})
		}
	}
	if len(queues) == 0 {
		queues = []allocation.Queue{{Topic: testTopic, Broker: "r1-a"}}
	}
	clients := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("r%d-10.0.0.%d@1", rapid.IntRange(1, 4).Draw(t, "room"), rapid.IntRange(1, 30).Draw(t, "host"))
	}), 1, 25).Draw(t, "clients")
	allocation.SortQueues(queues)
	allocation.SortClients(clients)
	return queues, clients
}

func rooms() allocation.Rooms {
	before := func(name string) string {
		if i := strings.IndexAny(name, "-@"); i > 0 {
			return name[:i]
		}
		return ""
	}
	return allocation.Rooms{Broker: func(q allocation.Queue) string { return before(q.Broker) }, Client: before}
}

// strategies are those that give a queue to one client at most.
func strategies() []allocation.Strategy {
	room := allocation.ByMachineRoom{Rooms: []string{"r1", "r2"}}
	return []allocation.Strategy{
		allocation.Averagely{},
		allocation.AveragelyByCircle{},
		room,
		consistent(),
		allocation.ConsistentHash{VirtualNodes: 3, Hash: collide},
		allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: rooms()},
		allocation.MachineRoomNearby{Inner: allocation.AveragelyByCircle{}, Rooms: rooms()},
		allocation.MachineRoomNearby{Inner: consistent(), Rooms: rooms()},
		allocation.MachineRoomNearby{Inner: room, Rooms: rooms()},
		allocation.MachineRoomNearby{Inner: allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: rooms()}, Rooms: rooms()},
		allocation.GoMachineNearby{},
		allocation.GoConsistentHash{VirtualNodes: 10},
	}
}
