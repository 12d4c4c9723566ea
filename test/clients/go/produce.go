// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// sending is a producer's settings.
type sending struct {
	topic      string
	prefix     string
	rate       float64
	count      int
	threads    int
	tags       []string
	body       []byte
	orderKeys  int
	delayLevel int
	sdk        rocketmq.Producer
	ledger     *ledger
}

// produce sends until the count is reached or the context ends; sends that were
// begun are finished and noted.
func produce(ctx context.Context, args []string) error {
	c := newCommon("go-producer", "lockstep-producer")
	f := c.flags
	rate := f.Float64("rate", 10, "messages a second; 0 for as fast as possible")
	count := f.Int("count", 0, "messages to send; 0 for no end")
	threads := f.Int("threads", 2, "senders at a time")
	tags := f.String("tags", "", "tags to take in turn, with commas")
	bodySize := f.Int("body-size", 64, "bytes of a body")
	orderKeys := f.Int("order-keys", 0, "number of order keys; 0 for no order")
	delayLevel := f.Int("delay-level", 0, "delay level")
	timeout := f.Int("send-timeout-ms", 3000, "milliseconds before a send has failed")
	retries := f.Int("retries", 2, "tries after the first")
	ledger, err := c.parse(args)
	if err != nil {
		return err
	}
	options := []producer.Option{
		producer.WithNameServer(c.nameServers()),
		producer.WithGroupName(c.group),
		producer.WithInstanceName(c.instance),
		producer.WithSendMsgTimeout(time.Duration(*timeout) * time.Millisecond),
		producer.WithRetry(*retries),
	}
	if *orderKeys > 0 {
		options = append(options, producer.WithQueueSelector(keySelector{}))
	}
	if c.accessKey != "" {
		options = append(options, producer.WithCredentials(primitive.Credentials{AccessKey: c.accessKey, SecretKey: c.secretKey}))
	}
	s := &sending{
		topic: c.topic, prefix: c.name + "." + strconv.FormatInt(time.Now().UnixMilli(), 36) + ".",
		rate: *rate, count: *count, threads: *threads, body: []byte(strings.Repeat("x", *bodySize)),
		orderKeys: *orderKeys, delayLevel: *delayLevel, ledger: ledger,
	}
	if *tags != "" {
		s.tags = strings.Split(*tags, ",")
	}
	if s.sdk, err = rocketmq.NewProducer(options...); err != nil {
		return fmt.Errorf("making the producer: %w", err)
	}
	if err := s.sdk.Start(); err != nil {
		return fmt.Errorf("starting the producer: %w", err)
	}
	if err := c.ready(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range s.threads {
		wg.Go(func() { s.sendAll(ctx, i) })
	}
	wg.Wait()
	if err := s.sdk.Shutdown(); err != nil {
		return fmt.Errorf("stopping the producer: %w", err)
	}
	return nil
}

// sendAll sends messages number thread, thread+threads, …
func (s *sending) sendAll(ctx context.Context, thread int) {
	pace := newPace(s.rate / float64(s.threads))
	for n := 0; s.count == 0 || thread+n*s.threads < s.count; n++ {
		if !pace.wait(ctx) {
			return
		}
		s.send(thread, n)
	}
}

func (s *sending) send(thread, n int) {
	e := entry{key: s.prefix + strconv.Itoa(thread+n*s.threads), topic: s.topic, queue: -1, offset: -1}
	message := primitive.NewMessage(s.topic, s.body).WithKeys([]string{e.key})
	if len(s.tags) > 0 {
		e.tag = s.tags[n%len(s.tags)]
		message.WithTag(e.tag)
	}
	if s.delayLevel > 0 {
		message.WithDelayTimeLevel(s.delayLevel)
	}
	if s.orderKeys > 0 {
		// A thread has order keys of its own, so that messages of one key are sent
		// one after the other.
		e.orderKey = "k" + strconv.Itoa(thread+s.threads*(n%max(1, s.orderKeys/s.threads)))
		message.WithProperty(orderKey, e.orderKey)
		message.WithShardingKey(e.orderKey)
	}
	// A send that was begun is finished when the client stops: not ctx.
	result, err := s.sdk.SendSync(context.Background(), message)
	if err != nil {
		e.note = err.Error()
		s.ledger.note(eventFailed, e)
		fmt.Fprintln(os.Stderr, "sending:", err)
		return
	}
	e.broker, e.queue = result.MessageQueue.BrokerName, result.MessageQueue.QueueId
	e.offset, e.messageID = result.QueueOffset, result.MsgID
	s.ledger.note(eventSent, e)
}

// keySelector puts a message on the queue of its order key's hash.
type keySelector struct{}

func (keySelector) Select(m *primitive.Message, queues []*primitive.MessageQueue, _ string) *primitive.MessageQueue {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(m.GetShardingKey()))
	return queues[int(hash.Sum32()%uint32(len(queues)))]
}

// pace spreads events evenly; after a stall of more than a second the missed ones
// are given up.
type pace struct {
	period time.Duration
	next   time.Time
}

func newPace(rate float64) *pace {
	p := &pace{next: time.Now()}
	if rate > 0 {
		p.period = time.Duration(float64(time.Second) / rate)
	}
	return p
}

// wait returns false when the context ends first.
func (p *pace) wait(ctx context.Context) bool {
	now := time.Now()
	if now.Sub(p.next) > time.Second {
		p.next = now
	}
	delay := p.next.Sub(now)
	p.next = p.next.Add(p.period)
	if delay <= 0 || p.period == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
