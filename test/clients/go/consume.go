// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// orderKey is the property that carries a message's order key.
const orderKey = "orderKey"

// consume runs a push consumer until the context ends.
func consume(ctx context.Context, args []string) error {
	c := newCommon("go-consumer", "")
	f := c.flags
	filter := f.String("filter", "*", "filter expression")
	filterType := f.String("filter-type", "tag", "tag or sql")
	orderly := f.Bool("orderly", false, "consume each queue in order")
	broadcast := f.Bool("broadcast", false, "every member gets every message")
	from := f.String("from", "first", "where a new group starts: first or last")
	threads := f.Int("threads", 4, "handlers at a time")
	handleMillis := f.Int("handle-ms", 0, "milliseconds that handling takes")
	refuse := f.Float64("refuse", 0, "share of messages that are refused, 0 to 1")
	maxReconsume := f.Int("max-reconsume", -1, "redeliveries before the dead-letter queue")
	strategy := f.String("strategy", "averagely", "averagely, circle or consistent-hash")
	ledger, err := c.parse(args)
	if err != nil {
		return err
	}
	options := []consumer.Option{
		consumer.WithNameServer(c.nameServers()),
		consumer.WithGroupName(c.group),
		consumer.WithInstance(c.instance),
		consumer.WithConsumerOrder(*orderly),
		consumer.WithConsumeGoroutineNums(*threads),
		consumer.WithConsumeMessageBatchMaxSize(1),
		consumer.WithMaxReconsumeTimes(int32(*maxReconsume)),
	}
	if c.accessKey != "" {
		options = append(options, consumer.WithCredentials(primitive.Credentials{AccessKey: c.accessKey, SecretKey: c.secretKey}))
	}
	if *broadcast {
		options = append(options, consumer.WithConsumerModel(consumer.BroadCasting))
	}
	switch *from {
	case "first":
		options = append(options, consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	case "last":
		options = append(options, consumer.WithConsumeFromWhere(consumer.ConsumeFromLastOffset))
	default:
		return fmt.Errorf("--from is first or last, not %q", *from)
	}
	switch *strategy {
	case "averagely":
		options = append(options, consumer.WithStrategy(consumer.AllocateByAveragely))
	case "circle":
		options = append(options, consumer.WithStrategy(consumer.AllocateByAveragelyCircle))
	case "consistent-hash":
		const virtualNodes = 10 // as the Java SDK
		options = append(options, consumer.WithStrategy(consumer.AllocateByConsistentHash(virtualNodes)))
	default:
		return fmt.Errorf("--strategy is averagely, circle or consistent-hash, not %q", *strategy)
	}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: *filter}
	switch *filterType {
	case "tag":
	case "sql":
		selector.Type = consumer.SQL92
	default:
		return fmt.Errorf("--filter-type is tag or sql, not %q", *filterType)
	}
	h := handler{ctx: ctx, ledger: ledger, time: time.Duration(*handleMillis) * time.Millisecond, refuse: *refuse}
	sdk := untilMade(ctx, func() (rocketmq.PushConsumer, error) {
		return startConsumer(options, strings.Split(c.topic, ","), selector, h)
	})
	if sdk == nil {
		return nil
	}
	if err := c.ready(); err != nil {
		return err
	}
	<-ctx.Done()
	if err := sdk.Shutdown(); err != nil {
		return fmt.Errorf("stopping the consumer: %w", err)
	}
	return nil
}

func startConsumer(options []consumer.Option, topics []string, selector consumer.MessageSelector, h handler) (rocketmq.PushConsumer, error) {
	sdk, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return nil, fmt.Errorf("making the consumer: %w", err)
	}
	for _, topic := range topics {
		if err := sdk.Subscribe(topic, selector, h.handle); err != nil {
			return nil, fmt.Errorf("subscribing to %s: %w", topic, err)
		}
	}
	if err := sdk.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the consumer: %w", err), sdk.Shutdown())
	}
	return sdk, nil
}

// untilMade tries every second: a client may start before the servers or the
// topic are there. Nil when the context ends first.
func untilMade(ctx context.Context, maker func() (rocketmq.PushConsumer, error)) rocketmq.PushConsumer {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		sdk, err := maker()
		if err == nil {
			return sdk
		}
		fmt.Fprintln(os.Stderr, "trying again:", err)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

type handler struct {
	ctx    context.Context
	ledger *ledger
	time   time.Duration
	refuse float64
}

func (h handler) handle(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
	result := consumer.ConsumeSuccess
	for _, m := range messages {
		if !h.work() {
			return consumer.ConsumeRetryLater, nil
		}
		e := entry{
			key: m.GetKeys(), topic: m.Topic, queue: -1, offset: m.QueueOffset, messageID: m.MsgId,
			tag: m.GetTags(), redelivered: m.ReconsumeTimes, orderKey: m.GetProperty(orderKey),
		}
		if m.Queue != nil {
			e.broker, e.queue = m.Queue.BrokerName, m.Queue.QueueId
		}
		if h.refuse > 0 && rand.Float64() < h.refuse {
			h.ledger.note(eventRefused, e)
			result = consumer.ConsumeRetryLater
			continue
		}
		h.ledger.note(eventConsumed, e)
	}
	return result, nil
}

// work takes the time that handling takes; false when the consumer stops first.
func (h handler) work() bool {
	if h.time == 0 {
		return true
	}
	timer := time.NewTimer(h.time)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.ctx.Done():
		return false
	}
}
