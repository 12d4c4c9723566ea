// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package allocation_test

import (
	"errors"
	"hash/crc32"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// The test vectors of rocketmq.md 6.
func TestStrategies_Vectors(t *testing.T) {
	three := []string{"c1", "c2", "c3"}
	ips := []string{"10.0.0.10@1#1", "10.0.0.11@1#1", "10.0.0.2@1#1", "10.0.0.9@1#1"}
	room := allocation.ByMachineRoom{Rooms: []string{"idcA", "idcB"}}
	nearby := allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: allocation.RoomsByPrefix("-")}
	for _, tc := range []struct {
		name     string
		strategy allocation.Strategy
		brokers  string
		clients  []string
		want     string
	}{
		{"1 AVG", allocation.Averagely{}, "broker-a:8", three, "[a0 a1 a2] [a3 a4 a5] [a6 a7]"},
		{"1 CIRCLE", allocation.AveragelyByCircle{}, "broker-a:8", three, "[a0 a3 a6] [a1 a4 a7] [a2 a5]"},
		{"1 CHASH", consistent(), "broker-a:8", three, "[a0 a4 a5 a7] [a1 a6] [a2 a3]"},
		{"2 AVG", allocation.Averagely{}, "broker-a:4", []string{"c1", "c2", "c3", "c4", "c5", "c6"}, "[a0] [a1] [a2] [a3] [] []"},
		{"2 CIRCLE", allocation.AveragelyByCircle{}, "broker-a:4", []string{"c1", "c2", "c3", "c4", "c5", "c6"}, "[a0] [a1] [a2] [a3] [] []"},
		{"2 CHASH", consistent(), "broker-a:4", []string{"c1", "c2", "c3", "c4", "c5", "c6"}, "[a0] [] [a2] [a1] [] [a3]"},
		{"3 AVG", allocation.Averagely{}, "broker-a:4 broker-b:4", three, "[a0 a1 a2] [a3 b0 b1] [b2 b3]"},
		{"3 CIRCLE", allocation.AveragelyByCircle{}, "broker-a:4 broker-b:4", three, "[a0 a3 b2] [a1 b0 b3] [a2 b1]"},
		{"3 CHASH", consistent(), "broker-a:4 broker-b:4", three, "[a0 b3] [a1 b0 b1] [a2 a3 b2]"},
		{"4 AVG", allocation.Averagely{}, "broker-a:4 broker-b:2", ips, "[a0 a1] [a2 a3] [b0] [b1]"},
		{"4 CIRCLE", allocation.AveragelyByCircle{}, "broker-a:4 broker-b:2", ips, "[a0 b0] [a1 b1] [a2] [a3]"},
		{"4 CHASH", consistent(), "broker-a:4 broker-b:2", ips, "[] [a3 b1] [a0 a1 b0] [a2]"},
		{"5 AVG", allocation.Averagely{}, "broker-a:12", []string{"c1", "c2"}, "[a0 a1 a2 a3 a4 a5] [a6 a7 a8 a9 a10 a11]"},
		{"5 CIRCLE", allocation.AveragelyByCircle{}, "broker-a:12", []string{"c1", "c2"}, "[a0 a2 a4 a6 a8 a10] [a1 a3 a5 a7 a9 a11]"},
		{"5 CHASH", consistent(), "broker-a:12", []string{"c1", "c2"}, "[a0 a3 a4 a5 a7 a8] [a1 a2 a6 a9 a10 a11]"},
		{"6 MACHINE_ROOM", room, "idcA@bA:4 idcB@bB:3 idcC@bC:4", three, "[A0 A1 B2] [A2 A3] [B0 B1]"},
		{"6 MACHINE_ROOM without rooms in names", room, "broker-a:4", three, "[] [] []"},
		{"6 MACHINE_ROOM with a remainder", room, "idcA@bA:5", []string{"c1", "c2"}, "[A0 A1 A4] [A2 A3]"},
		{"7 NEARBY, R3 without clients", nearby, "R1-b1:4 R2-b2:4 R3-b3:2", []string{"R1-a", "R1-b", "R2-a"}, "[10 11 30] [12 13 31] [20 21 22 23]"},
		{"7 NEARBY, one room with clients", nearby, "R1-b1:4 R2-b2:4", []string{"R1-a", "R1-b"}, "[10 11 20 21] [12 13 22 23]"},
		{"NEARBY, rooms without clients in the order of their names", nearby, "A-b8:1 R3-b3:1 R1-b1:1 R10-b5:1 R2-b2:1", []string{"R1-a"}, "[10 80 50 20 30]"},
		{"7 NEARBY, clients without brokers", nearby, "R1-b1:2", []string{"R1-a", "R9-a"}, "[10 11] []"},
		{"two clients with one id", allocation.Averagely{}, "broker-a:6", []string{"x", "x", "y"}, "[a0 a1] [a0 a1] [a4 a5]"},
		{"two clients with one id", allocation.AveragelyByCircle{}, "broker-a:6", []string{"x", "x", "y"}, "[a0 a3] [a0 a3] [a2 a5]"},
		{"go machine room takes parts from elsewhere", allocation.GoMachineRoom{Rooms: []string{"r"}}, "a:2 r@b:3", []string{"c1", "c2"}, "[a0 b2] [a1]"},
		{"go machine nearby knows no rooms", allocation.GoMachineNearby{}, "R1-b1:2 R2-b2:2", []string{"R1-a", "R2-a"}, "[10 11] [20 21]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			queues := queuesOf(t, tc.brokers)
			shares, err := allocation.Share(tc.strategy, queues, tc.clients)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(short(shares)).To(Equal(tc.want))
			shares, err = each(tc.strategy, queues, tc.clients)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(short(shares)).To(Equal(tc.want))
		})
	}
}

func TestByConfig_IsWhatIsConfigured(t *testing.T) {
	g := NewWithT(t)
	list := []allocation.Queue{{Topic: "T", Broker: "gone", ID: 99}}
	got, err := allocation.ByConfig{Queues: list}.Allocate("", nil, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(list))
}

func TestStrategies_ChecksOfJava(t *testing.T) {
	queues := queuesOf(t, "r1-a:2")
	for _, s := range strategies()[:10] {
		t.Run(s.Name(), func(t *testing.T) {
			g := NewWithT(t)
			for _, tc := range []struct {
				self    string
				queues  []allocation.Queue
				clients []string
				want    error
			}{
				{"", queues, []string{""}, allocation.ErrNoClientID},
				{"", nil, nil, allocation.ErrNoClientID},
				{"a", nil, []string{"a"}, allocation.ErrNoQueues},
				{"a", queues, nil, allocation.ErrNoClients},
			} {
				_, err := s.Allocate(tc.self, tc.queues, tc.clients)
				g.Expect(err).To(MatchError(tc.want))
			}
			_, err := allocation.Share(s, nil, []string{"r1-a"})
			g.Expect(err).To(MatchError(allocation.ErrNoQueues))
			_, err = allocation.Share(s, queues, nil)
			g.Expect(err).To(MatchError(allocation.ErrNoClients))
			_, err = allocation.Share(s, queues, []string{"", "r1-a"})
			g.Expect(err).To(MatchError(allocation.ErrNoClientID))
			got, err := s.Allocate("stranger", queues, []string{"r1-a"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(BeEmpty())
		})
	}
}

func TestStrategies_GoClientReturnsNothingWhereJavaThrows(t *testing.T) {
	queues := queuesOf(t, "r1@a:3")
	for _, s := range []allocation.Strategy{allocation.GoMachineNearby{}, allocation.GoMachineRoom{Rooms: []string{"r1"}}, allocation.GoConsistentHash{VirtualNodes: 4}} {
		t.Run(s.Name(), func(t *testing.T) {
			g := NewWithT(t)
			for _, tc := range []struct {
				self    string
				queues  []allocation.Queue
				clients []string
			}{{"", queues, []string{""}}, {"a", nil, []string{"a"}}, {"a", queues, nil}, {"a", queues, []string{"b"}}} {
				got, err := s.Allocate(tc.self, tc.queues, tc.clients)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got).To(BeEmpty())
			}
			shares, err := allocation.Share(s, queues, []string{"", "a"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(shares[0]).To(BeEmpty())
			shares, err = allocation.Share(s, nil, []string{"a"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(shares).To(Equal([][]allocation.Queue{nil}))
		})
	}
}

func TestStrategies_Failures(t *testing.T) {
	queues := queuesOf(t, "r1@a:3")
	for _, tc := range []struct {
		name     string
		strategy allocation.Strategy
		want     error
	}{
		{"rooms never set", allocation.ByMachineRoom{}, allocation.ErrNoRooms},
		{"an unknown room of a queue", allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: allocation.RoomsByPrefix("!")},
			&allocation.RoomError{Kind: "queue", Name: "MessageQueue [topic=TopicTest, brokerName=r1@a, queueId=0]"}},
		{"an unknown room of a client", allocation.MachineRoomNearby{Inner: allocation.Averagely{}, Rooms: allocation.RoomsByPrefix("@")},
			&allocation.RoomError{Kind: "client", Name: "c1"}},
		{"the inner strategy fails", allocation.MachineRoomNearby{Inner: allocation.ByMachineRoom{}, Rooms: allocation.Rooms{
			Broker: func(allocation.Queue) string { return "x" }, Client: func(string) string { return "x" },
		}}, allocation.ErrNoRooms},
		{"the inner strategy fails on a room without clients", allocation.MachineRoomNearby{Inner: allocation.ByMachineRoom{}, Rooms: allocation.Rooms{
			Broker: func(allocation.Queue) string { return "x" }, Client: func(string) string { return "y" },
		}}, allocation.ErrNoRooms},
		{"a room that is configured twice in Go", allocation.GoMachineRoom{Rooms: []string{"r1", "r1"}}, allocation.ErrGoClientPanics},
		{"no virtual nodes in Go", allocation.GoConsistentHash{}, allocation.ErrGoClientPanics},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, one := tc.strategy.Allocate("c1", queues, []string{"c1"})
			_, all := allocation.Share(tc.strategy, queues, []string{"c1"})
			for _, err := range []error{one, all} {
				var room *allocation.RoomError
				if errors.As(err, &room) {
					g.Expect(room).To(Equal(tc.want))
				} else {
					g.Expect(err).To(MatchError(tc.want))
				}
			}
		})
	}
	g := NewWithT(t)
	_, err := allocation.ConsistentHash{VirtualNodes: -1}.Allocate("c1", queues, []string{"c1"})
	g.Expect(err).To(MatchError("-1 is no number of virtual nodes: want 0 or more"))
	_, err = allocation.Share(allocation.ConsistentHash{VirtualNodes: -1}, queues, []string{"c1"})
	g.Expect(err).To(MatchError(ContainSubstring("-1 is no number")))
}

// Java's split("@") drops empty parts at the end, Go's does not.
func TestMachineRoom_NamesOfBrokers(t *testing.T) {
	for _, tc := range []struct {
		broker       string
		inJava, inGo bool
	}{
		{"r@b", true, true},
		{"r@b@", true, false},
		{"r@b@@", true, false},
		{"r@", false, true},
		{"r", false, false},
		{"@", false, false},
		{"r@b@c", false, false},
		{"r@@b", false, false},
		{"s@b", false, false},
	} {
		t.Run(tc.broker, func(t *testing.T) {
			g := NewWithT(t)
			queues := []allocation.Queue{{Topic: testTopic, Broker: tc.broker}}
			for _, in := range []struct {
				strategy allocation.Strategy
				want     bool
			}{
				{allocation.ByMachineRoom{Rooms: []string{"r"}}, tc.inJava},
				{allocation.GoMachineRoom{Rooms: []string{"r"}}, tc.inGo},
			} {
				got, err := in.strategy.Allocate("c", queues, []string{"c"})
				g.Expect(err).NotTo(HaveOccurred())
				takes := len(got) > 0
				g.Expect(takes).To(Equal(in.want), in.strategy.Name())
			}
		})
	}
	g := NewWithT(t)
	empty, err := allocation.ByMachineRoom{Rooms: []string{""}}.Allocate("c", []allocation.Queue{{Broker: "@b"}}, []string{"c"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(empty).To(HaveLen(1), "an empty part at the beginning counts")
	none, err := allocation.ByMachineRoom{}.Allocate("c", []allocation.Queue{{Broker: "broker-a"}}, []string{"c"})
	g.Expect(err).NotTo(HaveOccurred(), "the rooms are asked for only when a broker has one")
	g.Expect(none).To(BeEmpty())
}

// hashed is a hash by table; keys that are not in it hash to 0. It notes them.
func hashed(table map[string]int64, asked *[]string) func(string) int64 {
	return func(key string) int64 {
		*asked = append(*asked, key)
		return table[key]
	}
}

func TestConsistentHash_Keys(t *testing.T) {
	const queue = "MessageQueue [topic=TopicTest, brokerName=broker-a, queueId=0]"
	for _, tc := range []struct {
		name    string
		nodes   int
		clients []string
		table   map[string]int64
		asked   []string
		want    string
	}{
		{"two clients", 2, []string{"c1", "c2"}, map[string]int64{"c1-0": 3, "c1-1": 9, "c2-0": 5, "c2-1": 7, queue: 4},
			[]string{"c1-0", "c1-1", "c2-0", "c2-1", queue}, "[] [a0]"},
		{"a queue at a node goes to that node", 1, []string{"c1", "c2"}, map[string]int64{"c1-0": 3, "c2-0": 5, queue: 3},
			[]string{"c1-0", "c2-0", queue}, "[a0] []"},
		{"a queue after the last node goes to the first", 1, []string{"c1", "c2"}, map[string]int64{"c1-0": 5, "c2-0": 3, queue: 6},
			[]string{"c1-0", "c2-0", queue}, "[] [a0]"},
		{"hashes may be negative", 1, []string{"c1", "c2"}, map[string]int64{"c1-0": -5, "c2-0": 3, queue: -6},
			[]string{"c1-0", "c2-0", queue}, "[a0] []"},
		{"the later of two nodes in one place stays", 1, []string{"c1", "c2"}, map[string]int64{"c1-0": 3, "c2-0": 3, queue: 3},
			[]string{"c1-0", "c2-0", queue}, "[] [a0]"},
		{"an id that occurs again goes on counting", 2, []string{"c1", "c1"}, map[string]int64{"c1-0": 1, "c1-1": 2, "c1-2": 3, "c1-3": 4},
			[]string{"c1-0", "c1-1", "c1-2", "c1-3", queue}, "[a0] [a0]"},
		{"from the number of nodes that others left it", 2, []string{"c1", "c2", "c1"}, map[string]int64{"c1-0": 1, "c1-1": 2, "c2-0": 2, "c2-1": 5, "c1-2": 6},
			[]string{"c1-0", "c1-1", "c2-0", "c2-1", "c1-1", "c1-2", queue}, "[a0] [] [a0]"},
		{"or that fell on each other", 2, []string{"c1", "c1"}, map[string]int64{"c1-0": 1, "c1-1": 1, "c1-2": 3},
			[]string{"c1-0", "c1-1", "c1-1", "c1-2", queue}, "[a0] [a0]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			var asked []string
			s := allocation.ConsistentHash{VirtualNodes: tc.nodes, Hash: hashed(tc.table, &asked)}
			shares, err := allocation.Share(s, queuesOf(t, "broker-a:1"), tc.clients)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(asked).To(Equal(tc.asked))
			g.Expect(short(shares)).To(Equal(tc.want))
			shares, err = each(s, queuesOf(t, "broker-a:1"), tc.clients)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(short(shares)).To(Equal(tc.want))
		})
	}
}

// A queue whose hash is that of a node goes to that node in Java and to the next
// one in Go.
func TestGoConsistentHash_GoesToTheNextNode(t *testing.T) {
	g := NewWithT(t)
	s := allocation.GoConsistentHash{VirtualNodes: 1}
	// The only node of the ring, and one client: it wraps round to itself.
	got, err := s.Allocate("c", queuesOf(t, "a:3"), []string{"c"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(HaveLen(3))
	negative, err := allocation.Share(allocation.GoConsistentHash{VirtualNodes: -1}, queuesOf(t, "a:3"), []string{"c"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(negative).To(HaveEach(BeEmpty()))

	// A client id that makes a node's hash equal a queue's: "0" + id is the queue's text.
	q := allocation.Queue{Topic: "T", Broker: "b", ID: 0}
	id := suffixFor(crc32.ChecksumIEEE([]byte(q.String())))
	g.Expect(crc32.ChecksumIEEE([]byte("0" + id))).To(Equal(crc32.ChecksumIEEE([]byte(q.String()))))
	shares, err := allocation.Share(s, []allocation.Queue{q}, []string{"other", id})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shares[0]).To(HaveLen(1), "not to the node at its own hash")
}

// suffixFor finds four bytes after "0" whose CRC-32 is the sum wanted.
func suffixFor(want uint32) string {
	table := crc32.IEEETable
	state := ^want
	var places [4]byte
	for i := 3; i >= 0; i-- {
		for n, entry := range table {
			if entry>>24 == state>>24 {
				places[i] = byte(n)
				state = (state ^ entry) << 8
				break
			}
		}
	}
	state = ^crc32.ChecksumIEEE([]byte("0"))
	var out [4]byte
	for i, n := range places {
		out[i] = n ^ byte(state)
		state = table[n] ^ state>>8
	}
	return string(out[:])
}
