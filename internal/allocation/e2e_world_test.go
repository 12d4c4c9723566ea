// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package allocation_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/allocation"
)

// world is one question to a client; see test/clients/java/allocation/Worlds.java.
type world struct {
	strategy allocation.Strategy
	queues   []allocation.Queue
	clients  []string
	sort     bool
	// selves are the clients, each once, and some that are none.
	selves []string
}

// answer is what a client said.
type answer struct {
	name    string
	queues  []allocation.Queue
	clients []string
	shares  []struct {
		queues []allocation.Queue
		thrown string
	}
}

var (
	brokerNames = []string{
		"broker-a", "broker-b", "R1-b1", "R1-b2", "R2-b1", "R3-b1", "R9-x@y", "idcA@b1", "idcA@b2", "idcB@b1", "idcC@b1", "idcA@b@",
		"idcA@b@@", "idcA@", "@b", "@", "", "a@b@c", "a@@b", "R1-订单", "R2-\U0001F600", "R2-\uFF01", "\uE000-x", "\U00010000-x", "broker-10", "broker-2",
	}
	clientNames = []string{
		"R1-a", "R1-b", "R2-a", "R2-b", "R9-a", "10.0.0.1@1#1", "10.0.0.10@1#1", "10.0.0.2@1#1", "R1-10.0.0.2@7", "@8#DEFAULT", "",
		"172.17.0.1@1", "host@1@0@abc", "R1-\U0001F600", "R1-\uFFFF", "R2-é", "R3-订单@1", "c1", "c2", "c3", "C1", "R1-c-1", "R2-c1", "R1-c1",
	}
	roomNames = []string{"idcA", "idcB", "", "R1-b1", "a", "idcZ"}
)

// drawWorld draws all but the strategy. Most worlds are like real ones: some
// brokers with queues 0 to n, sorted lists; some are not.
func drawWorld(t *rapid.T) world {
	w := world{sort: rapid.IntRange(0, 4).Draw(t, "unsorted") > 0}
	brokers, clients := []string{"R1-b1", "R1-b2", "R2-b1", "R3-b1", "idcA@R-b1", "R1-x@b"},
		[]string{"R1-a", "R1-b", "R1-c", "R2-a", "R2-b", "R9-a", "R1-10.0.0.10@1", "R1-10.0.0.2@1", "idcA@R-c"}
	if rapid.Bool().Draw(t, "any names") {
		brokers, clients = brokerNames, clientNames
	}
	fewest := 1
	if rapid.IntRange(0, 19).Draw(t, "maybe nothing") == 0 {
		fewest = 0
	}
	brokers = rapid.SliceOfN(rapid.SampledFrom(brokers), fewest, 5).Draw(t, "brokers")
	topics := rapid.SliceOfN(rapid.SampledFrom([]string{"TopicTest", "订单", "T2"}), 1, 2).Draw(t, "topics")
	for _, topic := range topics {
		for _, broker := range brokers {
			for id := range rapid.IntRange(fewest, 12).Draw(t, "queues") {
				w.queues = append(w.queues, allocation.Queue{Topic: topic, Broker: broker, ID: id})
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "odd id") == 0 {
		w.queues = append(w.queues, allocation.Queue{Topic: "T2", Broker: "broker-a", ID: rapid.IntRange(0, math.MaxInt32).Draw(t, "id")})
	}
	w.queues = rapid.Permutation(w.queues).Draw(t, "queues as found")
	w.clients = rapid.SliceOfN(rapid.SampledFrom(clients), fewest, 14).Draw(t, "clients")
	w.selves = append(slices.Clone(w.clients), "stranger", "")
	slices.Sort(w.selves)
	w.selves = slices.Compact(w.selves)
	return w
}

// javaWorld draws a world for the Java classes.
func javaWorld(t *rapid.T) world {
	w := drawWorld(t)
	w.strategy = javaStrategy(t, w.queues, 2)
	return w
}

func javaStrategy(t *rapid.T, queues []allocation.Queue, depth int) allocation.Strategy {
	kinds := 6
	if depth > 0 {
		kinds = 9 // with rooms, which need more worlds than others
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "strategy") {
	case 0:
		return allocation.Averagely{}
	case 1:
		return allocation.AveragelyByCircle{}
	case 2:
		return allocation.ByConfig{Queues: someOf(t, queues)}
	case 3:
		if rapid.IntRange(0, 9).Draw(t, "rooms never set") == 0 {
			return allocation.ByMachineRoom{}
		}
		return allocation.ByMachineRoom{Rooms: append([]string{}, rapid.SliceOf(rapid.SampledFrom(roomNames)).Draw(t, "rooms")...)}
	case 4:
		return allocation.ConsistentHash{VirtualNodes: rapid.SampledFrom([]int{10, 10, 10, 0, 1, 40}).Draw(t, "virtual nodes")}
	case 5:
		return allocation.ConsistentHash{VirtualNodes: rapid.IntRange(0, 12).Draw(t, "virtual nodes"), Hash: collide}
	default:
		return allocation.MachineRoomNearby{
			Inner: javaStrategy(t, queues, depth-1),
			Rooms: separated{rapid.SampledFrom([]string{"-", "-", "-", "b", "@"}).Draw(t, "separator")}.rooms(),
		}
	}
}

func someOf(t *rapid.T, queues []allocation.Queue) []allocation.Queue {
	if len(queues) == 0 {
		return nil
	}
	return rapid.SliceOf(rapid.SampledFrom(queues)).Draw(t, "configured")
}

// goWorld draws a world for rocketmq-client-go. Its AVG and CIRCLE do not throw,
// so they get no empty lists.
func goWorld(t *rapid.T) world {
	w := drawWorld(t)
	w.sort = false
	switch rapid.IntRange(0, 7).Draw(t, "strategy") {
	case 0, 1:
		w.strategy = allocation.Averagely{}
		if rapid.Bool().Draw(t, "circle") {
			w.strategy = allocation.AveragelyByCircle{}
		}
		w.selves = slices.DeleteFunc(w.selves, func(id string) bool { return id == "" })
		w.clients = slices.DeleteFunc(w.clients, func(id string) bool { return id == "" })
		if len(w.queues) == 0 || len(w.clients) == 0 {
			w.strategy = allocation.GoMachineNearby{}
		}
	case 2:
		w.strategy = allocation.ByConfig{Queues: someOf(t, w.queues)}
	case 3:
		w.strategy = allocation.GoMachineNearby{}
	case 4, 5:
		w.strategy = allocation.GoMachineRoom{Rooms: rapid.SliceOfN(rapid.SampledFrom(roomNames), 0, 5).Draw(t, "rooms")}
	default:
		w.strategy = allocation.GoConsistentHash{VirtualNodes: rapid.IntRange(-1, 20).Draw(t, "virtual nodes")}
	}
	return w
}

func (w world) encode() []byte {
	b := encodeStrategy(nil, w.strategy)
	b = encodeQueues(b, w.queues)
	b = encodeTexts(b, w.clients)
	b = encodeBool(b, w.sort)
	return encodeTexts(b, w.selves)
}

// separated are rooms by prefix whose separator a client can be told.
type separated struct{ by string }

func (s separated) rooms() allocation.Rooms {
	rooms := allocation.RoomsByPrefix(s.by)
	client := rooms.Client
	// Asked for the text "?", it tells its separator.
	rooms.Client = func(id string) string {
		if id == "?" {
			return s.by
		}
		return client(id)
	}
	return rooms
}

func encodeStrategy(b []byte, s allocation.Strategy) []byte {
	switch s := s.(type) {
	case allocation.Averagely:
		return append(b, 0)
	case allocation.AveragelyByCircle:
		return append(b, 1)
	case allocation.ByConfig:
		return encodeQueues(append(b, 2), s.Queues)
	case allocation.ByMachineRoom:
		if b = encodeBool(append(b, 3), s.Rooms != nil); s.Rooms == nil {
			return b
		}
		return encodeTexts(b, s.Rooms)
	case allocation.MachineRoomNearby:
		return encodeStrategy(encodeText(append(b, 4), s.Rooms.Client("?")), s.Inner)
	case allocation.ConsistentHash:
		if s.Hash == nil {
			return encodeInt(append(b, 5), s.VirtualNodes)
		}
		return encodeInt(append(b, 6), s.VirtualNodes)
	case allocation.GoMachineNearby:
		return append(b, 10)
	case allocation.GoMachineRoom:
		return encodeTexts(append(b, 11), s.Rooms)
	case allocation.GoConsistentHash:
		return encodeInt(append(b, 12), s.VirtualNodes)
	}
	panic(fmt.Sprintf("the clients know no %T", s))
}

func encodeInt(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }

func encodeBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func encodeText(b []byte, text string) []byte { return append(encodeInt(b, len(text)), text...) }

func encodeTexts(b []byte, texts []string) []byte {
	b = encodeInt(b, len(texts))
	for _, text := range texts {
		b = encodeText(b, text)
	}
	return b
}

func encodeQueues(b []byte, queues []allocation.Queue) []byte {
	b = encodeInt(b, len(queues))
	for _, q := range queues {
		b = encodeInt(encodeText(encodeText(b, q.Topic), q.Broker), q.ID)
	}
	return b
}

// wire reads answers and keeps the first error.
type wire struct {
	r   *bufio.Reader
	err error
}

func newWire(r io.Reader) *wire { return &wire{r: bufio.NewReader(r)} }

func (w *wire) answer(shares int) (answer, error) {
	a := answer{name: w.text(), queues: w.queues()}
	for n := w.int(); n > 0 && w.err == nil; n-- {
		a.clients = append(a.clients, w.text())
	}
	a.shares = make([]struct {
		queues []allocation.Queue
		thrown string
	}, shares)
	for i := range a.shares {
		if w.byte() == 0 {
			a.shares[i].queues = w.queues()
		} else {
			a.shares[i].thrown = w.text()
		}
	}
	return a, w.err
}

func (w *wire) byte() byte {
	b := [1]byte{}
	w.read(b[:])
	return b[0]
}

func (w *wire) int() int {
	b := [4]byte{}
	w.read(b[:])
	return int(int32(binary.BigEndian.Uint32(b[:])))
}

func (w *wire) text() string {
	n := w.int()
	if w.err != nil {
		return ""
	}
	b := make([]byte, n)
	w.read(b)
	return string(b)
}

func (w *wire) queues() []allocation.Queue {
	var out []allocation.Queue
	for n := w.int(); n > 0 && w.err == nil; n-- {
		out = append(out, allocation.Queue{Topic: w.text(), Broker: w.text(), ID: w.int()})
	}
	return out
}

func (w *wire) read(b []byte) {
	if w.err == nil {
		_, w.err = io.ReadFull(w.r, b)
	}
}
