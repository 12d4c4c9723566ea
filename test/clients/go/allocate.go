// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// allocate shares the queues of the worlds on its input by the functions of the
// SDK, and says who gets what; test/clients/java/allocation/Worlds.java describes
// worlds and answers. It sorts nothing. A panic of the SDK is an answer.
func allocate(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("allocate takes no flags, not %q", args)
	}
	rlog.SetLogLevel("error") // it warns of clients that are not in the list
	w := worlds{in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout)}
	for {
		kind, err := w.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		w.answer(kind)
		if w.err != nil {
			return w.err
		}
		if err := w.out.Flush(); err != nil {
			return err
		}
	}
}

// worlds reads and writes, and keeps the first error.
type worlds struct {
	in  *bufio.Reader
	out *bufio.Writer
	err error
}

func (w *worlds) answer(kind byte) {
	name, strategy := w.strategy(kind)
	queues, clients := w.queues(), w.texts()
	if w.byte() != 0 && w.err == nil {
		w.err = errors.New("this client sorts nothing")
	}
	selves := w.texts()
	if w.err != nil {
		return
	}
	w.writeText(name)
	w.writeQueues(queues)
	w.writeInt(len(clients))
	for _, client := range clients {
		w.writeText(client)
	}
	for _, self := range selves {
		share, panicked := try(strategy, self, queues, clients)
		if panicked != nil {
			_ = w.out.WriteByte(1)
			w.writeText(fmt.Sprint(panicked))
			continue
		}
		_ = w.out.WriteByte(0)
		w.writeQueues(share)
	}
}

func try(s consumer.AllocateStrategy, self string, queues []*primitive.MessageQueue, clients []string) (share []*primitive.MessageQueue, panicked any) {
	defer func() { panicked = recover() }()
	return s("group", self, queues, clients), nil
}

func (w *worlds) strategy(kind byte) (string, consumer.AllocateStrategy) {
	switch kind {
	case 0:
		return "AVG", consumer.AllocateByAveragely
	case 1:
		return "AVG_BY_CIRCLE", consumer.AllocateByAveragelyCircle
	case 2:
		return "CONFIG", consumer.AllocateByConfig(w.queues())
	case 10:
		return "AllocateByMachineNearby", consumer.AllocateByMachineNearby
	case 11:
		return "AllocateByMachineRoom", consumer.AllocateByMachineRoom(w.texts())
	case 12:
		return "AllocateByConsistentHash", consumer.AllocateByConsistentHash(w.int())
	}
	if w.err == nil {
		w.err = fmt.Errorf("there is no strategy %d", kind)
	}
	return "", nil
}

func (w *worlds) byte() byte {
	b, err := w.in.ReadByte()
	w.fail(err)
	return b
}

func (w *worlds) int() int {
	var b [4]byte
	_, err := io.ReadFull(w.in, b[:])
	w.fail(err)
	return int(int32(binary.BigEndian.Uint32(b[:])))
}

func (w *worlds) text() string {
	n := w.int()
	if w.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, err := io.ReadFull(w.in, b)
	w.fail(err)
	return string(b)
}

func (w *worlds) texts() []string {
	var out []string
	for n := w.int(); n > 0 && w.err == nil; n-- {
		out = append(out, w.text())
	}
	return out
}

func (w *worlds) queues() []*primitive.MessageQueue {
	var out []*primitive.MessageQueue
	for n := w.int(); n > 0 && w.err == nil; n-- {
		out = append(out, &primitive.MessageQueue{Topic: w.text(), BrokerName: w.text(), QueueId: w.int()})
	}
	return out
}

func (w *worlds) fail(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("reading a world: %w", err)
	}
}

// A failed write shows when the answer is flushed.
func (w *worlds) writeInt(n int) {
	_, _ = w.out.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func (w *worlds) writeText(text string) {
	w.writeInt(len(text))
	_, _ = w.out.WriteString(text)
}

func (w *worlds) writeQueues(queues []*primitive.MessageQueue) {
	w.writeInt(len(queues))
	for _, q := range queues {
		w.writeText(q.Topic)
		w.writeText(q.BrokerName)
		w.writeInt(q.QueueId)
	}
}
